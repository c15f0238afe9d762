"""An import on its page: changes with examples, field by field, and findings."""

from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.catalog.models import Term
from portal.catalog.section_fields import FIELDS as SECTION_FIELDS
from portal.core.i18n import _, _l
from portal.exchange.importing import upserts
from portal.exchange.importing.diff import CHANGES, examples
from portal.exchange.importing.findings import FINDINGS as REASONS
from portal.exchange.importing.findings import RECORD_NAMES, Action, FindingKind
from portal.exchange.importing.models import Import
from portal.exchange.importing.report import (
    LATE_KINDS,
    Note,
    changed_fields,
    first_notes,
    readable_key,
)

EXAMPLES = 5
ROWS = 20  # of a kind on the page; the report has all
LONGEST = 160
NOTHING = "–"
KINDS = {kind: _l(name) for kind, name in RECORD_NAMES.items()}
SORTS = {
    "added": _l("Added"),
    "restored": _l("Restored"),
    "changed": _l("Changed"),
    "removed": _l("Removed"),
}
FIELDS = {
    "account": _l("account"),
    "campus": _l("campus"),
    "categories": _l("categories"),
    "college": _l("college"),
    "completed": _l("completed courses"),
    "course": _l("course"),
    "credit_limit": _l("credit limit"),
    "degree": _l("degree"),
    "department": _l("department"),
    "drops_per_day": _l("seats given up a day"),
    "description": _l("description"),
    "email": _l("e-mail"),
    "ends": _l("last day"),
    "level": _l("level"),
    "majors": _l("majors"),
    "minors": _l("minors"),
    "name": _l("name"),
    "offered": _l("offered"),
    "pass_codes": _l("reasons that count as passes"),
    "pass_limit": _l("passes until a place is lost"),
    "pool": _l("shared seats"),
    "private": _l("private"),
    "school": _l("school"),
    "starts": _l("first day"),
    "status": _l("status"),
    "subject": _l("subject"),
    "year": _l("year"),
}
HUNDREDTHS = {"completed", "credits", "credit_limit"}


@dataclass(frozen=True)
class Field:
    """A field that changes."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class Example:
    """One change."""

    key: str
    fields: list[Field]


@dataclass(frozen=True)
class Line:
    """The number of changes of one kind, with examples, by type of change."""

    kind: str
    counts: dict[str, int]
    examples: dict[str, list[Example]]


@dataclass(frozen=True)
class Reason:
    """A kind of finding, its number of rows, and the first of them."""

    kind: FindingKind
    count: int
    rows: list[Note]

    @property
    def pressing(self) -> bool:
        """Return whether the page shows it unfolded, because someone must act."""
        return self.kind.action is Action.REFUSED and self.count <= ROWS


def lines(session: Session, found: Import) -> list[Line]:
    """Return the changes, kind by kind."""
    grouped: dict[tuple[str, str], list[Example]] = {}
    rows = examples(session, found.id, EXAMPLES)
    for (kind, change), each in groupby(rows, key=lambda row: (row.kind, row.change)):
        grouped[kind, change] = [_example(row) for row in each]
    return [
        Line(
            kind,
            {change: found.counts[kind].get(change, 0) for change in CHANGES},
            {sort: grouped[kind, sort] for sort in SORTS if (kind, sort) in grouped},
        )
        for kind in KINDS
        if kind in found.counts
    ]


def reasons(session: Session, found: Import) -> list[Reason]:
    """Return the findings with their first rows: late refusals first, then other refusals."""
    kinds = sorted(
        (kind for kind in REASONS if kind in found.notes), key=lambda it: it not in LATE_KINDS
    )
    return [
        Reason(REASONS[kind], found.notes[kind], first_notes(session, found.id, kind, ROWS))
        for kind in kinds
    ]


def refused(found: Import) -> int:
    """Return how many rows an import leaves out because they are refused."""
    turned_down = [kind for kind in REASONS if REASONS[kind].action is Action.REFUSED]
    return sum(found.notes.get(kind, 0) for kind in turned_down if kind not in LATE_KINDS)


def listeners(session: Session, found: Import) -> int:
    """Return how many students will be notified."""
    return upserts.count_notified(session, found.id, found.counts) if found.state == "ready" else 0


def terms(session: Session, found: Import) -> list[Term]:
    """Return the terms of an import, for links to them."""
    about = Term.id.in_(upserts.changed_terms(session, found.id)) | (
        Term.name == found.options["term"]
    )
    there = select(Term).where(about, Term.deleted_at.is_(None))
    return list(session.scalars(there.order_by(Term.starts_on, Term.name)))


def _example(row: Any) -> Example:
    before, after = row.before or {}, row.after or {}
    names = changed_fields(before, after) if row.change == "changed" else []
    fields = [Field(_name(name), said(name, before), said(name, after)) for name in names]
    return Example(readable_key(row.key), fields)


def _name(name: str) -> str:
    if name in FIELDS:
        return str(FIELDS[name])
    known = str(SECTION_FIELDS[name].label) if name in SECTION_FIELDS else name
    return known[:1].lower() + known[1:]


def said(name: str, fields: dict[str, Any]) -> str:
    """Return the value of a field in readable form."""
    text = _said(name, fields.get(name))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _said(name: str, value: Any) -> str:
    match value:
        case None | "" | []:
            return NOTHING
        case bool():
            return _("yes") if value else _("no")
        case int() if name in HUNDREDTHS:
            return f"{value / 100:g}"
        case list():
            inner = ", " if all(not isinstance(each, list) for each in value) else "; "
            return inner.join(dict.fromkeys(_said(name, each) for each in value))
        case _:
            return str(value)
