"""The names and pages of the things that audit entries refer to."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from flask import url_for
from sqlalchemy import ColumnElement, SQLColumnExpression, or_, select
from sqlalchemy.orm import Session

from portal.catalog import requisites
from portal.catalog.models import Course, Section, Term
from portal.core.db import transaction
from portal.core.labels import PARTS
from portal.exchange.importing.models import Import
from portal.notifications.webhooks.models import Webhook
from portal.people.models import Account, ApiToken, Instructor, Student
from portal.windows.models import Window

Key = tuple[str, str]  # kind and id
LARGEST = 2**31
MOST = 50  # things of a kind whose names match: with more, a search means nothing


@dataclass(frozen=True)
class Thing:
    """A thing with its name; `url` is blank if it has no page."""

    kind: str
    id: str
    name: str
    url: str = ""

    @property
    def about(self) -> str:
        """Return how the audit trail refers to it."""
        return f"{self.kind}:{self.id}"


Names = dict[int, tuple[str, str]]  # name and page, by id


def named(keys: Iterable[Key]) -> dict[Key, Thing]:
    """Return each thing with its name, with one query per kind; unknown things keep their id."""
    asked: defaultdict[str, set[int]] = defaultdict(set)
    keys = list(keys)
    for kind, key in keys:
        if key.isascii() and key.isdigit() and int(key) < LARGEST:
            asked[kind].add(int(key))
    with transaction() as session:
        known = {kind: NAMERS[kind](session, ids) for kind, ids in asked.items() if kind in NAMERS}
    return {(kind, key): _thing(kind, key, known.get(kind, {})) for kind, key in keys}


def meant(text: str) -> list[str]:
    """Return what the audit trail calls things of a name: a student number, CRN, section or term.

    People and windows match by a part of their name, the first MOST of a kind. A reference such as
    `section:12` is returned unchanged.
    """
    if ":" in text:
        return [text]
    named = requisites.key(text)
    student = (Student.number, Account.name + ", " + Student.number)
    account = (Account.username, Account.name + " (" + Account.username + ")")
    found = {
        "student": select(Student.id).join(Account).where(_called(Account.name, text, *student)),
        "account": select(Account.id).where(_called(Account.name, text, *account)),
        "teacher": select(Instructor.id).where(_called(Instructor.name, text)),
        "window": select(Window.id).where(_called(Window.name, text)),
        "section": select(Section.id)
        .join(Course)
        .where(or_(Section.crn == text, Course.code + "-" + Section.number == named)),
        "term": select(Term.id).where(Term.name == text),
    }
    with transaction() as session:
        return [
            f"{kind}:{key}"
            for kind, ids in found.items()
            for key in session.scalars(ids.order_by(ids.selected_columns[0]).limit(MOST))
        ]


def _called(
    name: SQLColumnExpression[str], text: str, *exact: SQLColumnExpression[str]
) -> ColumnElement[bool]:
    """Match names that contain the text, or other columns that equal it."""
    return or_(name.icontains(text, autoescape=True), *(column == text for column in exact))


def _thing(kind: str, key: str, names: Names) -> Thing:
    name, url = names.get(int(key), (key, "")) if key.isdigit() else (key, "")
    if kind == "flag":
        name = str(PARTS.get(key, key))
    return Thing(kind, key, name, url)


def _terms(session: Session, ids: set[int]) -> Names:
    found = session.execute(select(Term.id, Term.name).where(Term.id.in_(ids)))
    return {key: (name, "") for key, name in found}


def _sections(session: Session, ids: set[int]) -> Names:
    found = select(Section.id, Course.code, Section.number).join(Course)
    return {
        key: (f"{requisites.shown(code)}-{number}", url_for("instructor.section", section_id=key))
        for key, code, number in session.execute(found.where(Section.id.in_(ids)))
    }


def _windows(session: Session, ids: set[int]) -> Names:
    found = session.execute(select(Window.id, Window.name).where(Window.id.in_(ids)))
    return {key: (name, url_for("admin.terms.index")) for key, name in found}


def _students(session: Session, ids: set[int]) -> Names:
    found = select(Student.id, Account.name, Student.number).join(Account)
    return {
        key: (f"{name}, {number}", url_for("admin.students.show", student_id=key))
        for key, name, number in session.execute(found.where(Student.id.in_(ids)))
    }


def _accounts(session: Session, ids: set[int]) -> Names:
    found = select(Account.id, Account.name, Account.username).where(Account.id.in_(ids))
    return {key: (f"{name} ({username})", "") for key, name, username in session.execute(found)}


def _teachers(session: Session, ids: set[int]) -> Names:
    found = session.execute(select(Instructor.id, Instructor.name).where(Instructor.id.in_(ids)))
    return {
        key: (name, url_for("admin.instructors.show", instructor_id=key)) for key, name in found
    }


def _tokens(session: Session, ids: set[int]) -> Names:
    found = session.execute(select(ApiToken.id, ApiToken.name).where(ApiToken.id.in_(ids)))
    return {key: (f"“{name}”", "") for key, name in found}


def _requests(_session: Session, ids: set[int]) -> Names:
    return {key: (str(key), url_for("admin.requests.show", asked_id=key)) for key in ids}


def _webhooks(session: Session, ids: set[int]) -> Names:
    found = session.execute(select(Webhook.id, Webhook.url).where(Webhook.id.in_(ids)))
    return {key: (url, url_for("admin.webhooks.show", webhook_id=key)) for key, url in found}


def _imports(session: Session, ids: set[int]) -> Names:
    found = session.execute(select(Import.id, Import.name).where(Import.id.in_(ids)))
    return {
        key: (f"{key}, {name}", url_for("admin.imports.show", import_id=key)) for key, name in found
    }


NAMERS: dict[str, Callable[[Session, set[int]], Names]] = {
    "term": _terms,
    "section": _sections,
    "window": _windows,
    "student": _students,
    "teacher": _teachers,
    "account": _accounts,
    "token": _tokens,
    "request": _requests,
    "webhook": _webhooks,
    "import": _imports,
}
