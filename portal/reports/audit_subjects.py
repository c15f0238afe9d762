"""The names of the records that audit entries refer to."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, SQLColumnExpression, Text, cast, func, or_, select

from portal.catalog import requisites
from portal.catalog.models import Course, Department, Instructor, Room, Section, Subject, Term
from portal.core import flags
from portal.core.db import transaction
from portal.core.queue import QUEUE_LABELS, pause_flag
from portal.exchange.importing.models import ColumnMapping, Import
from portal.notifications.webhooks.models import Webhook
from portal.people.models import Account, ApiToken, Student
from portal.windows.models import Round, Window

Key = tuple[str, str]  # kind and id
LARGEST = 2**31
MOST = 50  # things of a kind whose names match: with more, a search means nothing

IN_FULL = Account.name + ", " + Student.number
WITH_LOGIN = Account.name + " (" + Account.username + ")"
# By kind, the query of ids and names.
NAMES: dict[str, Select[Any, Any]] = {
    "account": select(Account.id, WITH_LOGIN),
    "columns": select(ColumnMapping.id, "“" + ColumnMapping.name + "”"),
    "course": select(Course.id, Course.code + " " + Course.title),
    "department": select(Department.id, Department.code + " " + Department.name),
    "import": select(Import.id, cast(Import.id, Text) + ", " + Import.name),
    "room": select(Room.id, Room.name),
    "round": select(Round.id, Round.name),
    # In the same form as `requisites.shown`.
    "section": select(Section.id, func.replace(Course.code, "-", " ") + "-" + Section.number).join(
        Course
    ),
    "student": select(Student.id, IN_FULL).join(Student.account),
    "subject": select(Subject.id, Subject.code + " " + Subject.name),
    "teacher": select(Instructor.id, Instructor.name),
    "term": select(Term.id, Term.name),
    "token": select(ApiToken.id, "“" + ApiToken.name + "”"),
    "webhook": select(Webhook.id, Webhook.url),
    "window": select(Window.id, Window.name),
}

PAUSE_FLAGS = {pause_flag(name): label for name, label in QUEUE_LABELS.items()}


@dataclass(frozen=True)
class AuditSubject:
    """A thing with its name; `known` if it exists, and so may have a page."""

    kind: str
    id: str
    name: str
    known: bool = False

    @property
    def about(self) -> str:
        """Return how the audit trail refers to it."""
        return f"{self.kind}:{self.id}"


def with_names(keys: Iterable[Key]) -> dict[Key, AuditSubject]:
    """Return each thing with its name, with one query per kind; unknown things keep their id."""
    keys, numbers = set(keys), defaultdict[str, set[int]](set)
    for kind, key in keys:
        if key.isascii() and key.isdigit() and int(key) < LARGEST:
            numbers[kind].add(int(key))
    names: dict[str, Mapping[str, str]] = {"flag": flags.LABELS | PAUSE_FLAGS}
    for kind in ("request", "application"):
        names[kind] = {str(number): str(number) for number in numbers[kind]}
    with transaction() as session:
        for kind, query in NAMES.items():
            if ids := numbers[kind]:
                rows = session.execute(query.where(query.selected_columns[0].in_(ids)))
                names[kind] = {str(number): name for number, name in rows}
    found = {(kind, key): names.get(kind, {}).get(key) for kind, key in keys}
    return {
        key: AuditSubject(*key, str(name or key[1]), known=bool(name))
        for key, name in found.items()
    }


def subjects_matching(text: str) -> list[str]:
    """Return the audit trail's references for a name, number, CRN, course, section or term.

    People, windows and rounds match by a part of their name, the first MOST of a kind. A reference
    such as `section:12` is returned unchanged.
    """
    if ":" in text:
        return [text]
    matches = {
        "student": _matches(text, Account.name, Student.number, IN_FULL),
        "account": _matches(text, Account.name, Account.username, WITH_LOGIN),
        "teacher": _matches(text, Instructor.name),
        "round": _matches(text, Round.name),
        "window": _matches(text, Window.name),
        "course": Course.code == requisites.key(text),
        "section": or_(
            Section.crn == text, Course.code + "-" + Section.number == requisites.key(text)
        ),
        "term": Term.name == text,
    }
    with transaction() as session:
        return [
            f"{kind}:{key}"
            for kind, match in matches.items()
            for key in session.scalars(
                NAMES[kind].where(match).order_by(NAMES[kind].selected_columns[0]).limit(MOST)
            )
        ]


def _matches(
    text: str, name: SQLColumnExpression[str], *exact: SQLColumnExpression[str]
) -> ColumnElement[bool]:
    """Match names that contain the text, or other columns that equal it."""
    return or_(name.icontains(text, autoescape=True), *(column == text for column in exact))
