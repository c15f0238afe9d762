"""An import on its page: changes with examples, field by field, and findings."""

from dataclasses import dataclass

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from portal.catalog.courses import CourseDetails
from portal.catalog.models import Course, Section, Term
from portal.catalog.requisites import shown
from portal.catalog.section_fields import SectionDetails
from portal.catalog.term_fields import TERM_RULES
from portal.core.i18n import _l, text_of
from portal.exchange.importing import upserts
from portal.exchange.importing.diff import examples
from portal.exchange.importing.findings import FINDINGS, RECORD_NAMES, Action, FindingKind
from portal.exchange.importing.models import Import, ImportChange, ImportNote, ImportRow
from portal.exchange.importing.report import (
    LATE_KINDS,
    Note,
    changed_fields,
    read_notes,
    readable_key,
)
from portal.exchange.importing.semester import DATES_MEND
from portal.exchange.importing.values import change_texts
from portal.people.student_fields import StudentDetails

EXAMPLES = 5
ROWS = 20  # of a kind on the page; the report has all
KINDS = {kind: _l(name) for kind, name in RECORD_NAMES.items()}
SORTS = {
    "added": _l("Added"),
    "restored": _l("Restored"),
    "changed": _l("Changed"),
    "removed": _l("Removed"),
}
# Fields have the labels of their tables; the others follow.
FIELD_NAMES = {
    **CourseDetails.labels(),
    **StudentDetails.labels(),
    **SectionDetails.labels(),
    **{name: each.label for name, each in TERM_RULES.items()},
    "account": _l("account"),
    "adviser": _l("adviser"),
    "completed": _l("completed courses"),
    "course": _l("course"),
    "ends": _l("last day of term"),
    "bands": _l("waitlist groups"),
    "pool": _l("shared seats"),
    "prior": _l("seats taken"),
    "private": _l("private"),
    "school": _l("school"),
    "starts": _l("first day of term"),
    "status": _l("status"),
    "subject": _l("subject"),
}
TO_ACT_ON = {Action.REFUSED, Action.EDITED, Action.OVERWRITTEN, Action.UNCHANGED}
# Rows whose values are in the portal, at least as near as they can be read.
IMPORTED = {Action.REPAIRED, Action.GUESSED, Action.OVERWRITTEN, Action.KEPT}


@dataclass(frozen=True)
class KindChanges:
    """The changes of one kind of record: how many of each sort, and the first of them.

    An example is the key of a record, with the name, old value and new value of each field.
    """

    kind: str
    counts: dict[str, int]
    examples: dict[str, list[tuple[str, list[tuple[str, str, str]]]]]


@dataclass(frozen=True)
class Finding:
    """A kind of finding, its number of rows, and the first of them."""

    kind: FindingKind
    count: int
    rows: list[Note]

    @property
    def open(self) -> bool:
        """Return whether the page shows it unfolded, because someone must act."""
        return self.kind.action in TO_ACT_ON and self.count <= ROWS


def changes(session: Session, found: Import) -> list[KindChanges]:
    counts = found.counts
    shown = {kind: KindChanges(kind, counts[kind], {}) for kind in KINDS if kind in counts}
    for row in examples(session, found.id, EXAMPLES):
        if row.kind not in shown:
            continue
        before, after = row.before or {}, row.after or {}
        names = changed_fields(before, after) if row.change == "changed" else []
        fields = [
            (field_name(name), *change_texts(name, before.get(name), after.get(name)))
            for name in names
        ]
        shown[row.kind].examples.setdefault(row.change, []).append((readable_key(row.key), fields))
    return list(shown.values())


def findings(session: Session, found: Import) -> list[Finding]:
    """Return the findings with their first rows: late refusals first, then other refusals."""
    kinds = sorted(
        (kind for kind in FINDINGS if kind in found.notes), key=lambda it: it not in LATE_KINDS
    )
    return [
        Finding(
            FINDINGS[kind],
            found.notes[kind],
            read_notes(session, found.id, ImportNote.kind == kind, most=ROWS),
        )
        for kind in kinds
    ]


def count_refused(found: Import) -> int:
    """Return how many rows an import leaves out because they are refused."""
    return sum(
        found.notes.get(kind, 0)
        for kind, finding in FINDINGS.items()
        if finding.action is Action.REFUSED and kind not in LATE_KINDS
    )


def is_complete(found: Import) -> bool:
    """Return whether the portal would have everything that the files say."""
    return all(FINDINGS[kind].action in IMPORTED for kind in found.notes)


def lacks_dates(found: Import) -> bool:
    """Return whether an import failed because its term needs other dates."""
    return found.state == "failed" and text_of(found.error) in DATES_MEND


def terms(session: Session, found: Import) -> list[Term]:
    """Return the terms of an import, for links to them."""
    about = Term.id.in_(upserts.changed_terms(session, found.id)) | (
        Term.name == found.options["term"]
    )
    there = select(Term).where(about, Term.deleted_at.is_(None))
    return list(session.scalars(there.order_by(Term.starts_on, Term.name)))


def published_term(session: Session, found: Import) -> tuple[str, int] | None:
    """Return the published term that an import would change, and its number of sections."""
    named = Term.name == found.options["term"]
    term = select(Term).where(named, Term.state == "published", Term.deleted_at.is_(None))
    if (known := session.scalar(term)) is None:
        return None
    sections = select(func.count()).where(Section.term_id == known.id, Section.deleted_at.is_(None))
    return known.name, session.scalars(sections).one()


def count_drafts(session: Session, found: Import) -> int:
    """Return how many new sections of a semester would be drafts."""
    new = (ImportChange.kind == "section", ImportChange.change.in_(("added", "restored")))
    query = select(func.count()).where(
        ImportChange.import_id == found.id, *new, ImportChange.after["status"].as_string() == "NEW"
    )
    return session.scalars(query).one() if found.options["layout"] == "semester" else 0


def unnamed_sections(session: Session, found: Import) -> list[str]:
    """Return the sections of an updated semester that the files lack and that stay, by name."""
    if found.options["layout"] != "semester":
        return []
    query = (
        select(Course.code, Section.number, Section.crn)
        .join(Term, Term.id == Section.term_id)
        .join(Course, Course.id == Section.course_id)
        .where(
            Term.name == found.options["term"],
            *(each.deleted_at.is_(None) for each in (Term, Section)),
            Section.status != "CANCELED",
            ~exists().where(
                ImportRow.import_id == found.id,
                ImportRow.kind == "section",
                ImportRow.key == Term.name + "\t" + Section.crn,
            ),
        )
        .order_by(Course.code, Section.number)
    )
    return [f"{shown(code)}-{number} ({crn})" for code, number, crn in session.execute(query)]


def field_name(name: str) -> str:
    """Return the name of a field, as sentences have it."""
    known = str(FIELD_NAMES.get(name, name))
    return known[:1].lower() + known[1:]
