"""Writes the changes of an import, kind by kind, and records them for students' notifications."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from portal.catalog import section_changes
from portal.catalog.models import Section
from portal.catalog.section_fields import NamedInstructor
from portal.catalog.sections import forget_instructors, named_instructors
from portal.catalog.term_catalog import read_catalog
from portal.catalog.views import SectionView
from portal.exchange.importing.diff import Counts
from portal.exchange.importing.tables import Progress
from portal.exchange.record_sql import SECTION_CHANGES, part, section_part
from portal.exchange.records import KINDS, write_records

# Kinds that are not written as rows: the ledger decides enrollments, and each new status of a
# section is an act of its own.
APART = {"enrollment", "status"}

# Changes of all other kinds renew the catalogs of all terms, which share courses and teachers.
OTHER_KINDS = {"account", "student", "enrollment", "source"}
LOCK_TERMS = text("SELECT id FROM terms ORDER BY id FOR NO KEY UPDATE")  # as deletions do
RENEW_CATALOGS = text("UPDATE terms SET catalog_version = catalog_version + 1")
# Without statistics PostgreSQL would plan for empty tables.
ANALYZE = text(
    "ANALYZE courses, sections, meetings, restrictions, cross_lists, section_instructors"
)
CHANGED_TERMS = text(f"""
    SELECT id FROM terms WHERE name IN (
        SELECT {part(1)} FROM import_changes
        WHERE import_id = :id AND kind IN (
            'term', 'pool', 'section', 'status', 'teaching', 'enrollment'
        )
    )
""")


def write_changes(session: Session, import_id: int, counts: Counts, progress: Progress) -> None:
    """Write all changes but those of APART. Raise ImportFailedError if one can't be written."""
    if any(count_changes(found) for kind, found in counts.items() if kind not in OTHER_KINDS):
        session.execute(LOCK_TERMS)
        session.execute(RENEW_CATALOGS)
    done, total = 0, sum(count_changes(each) for each in counts.values())
    for kind in KINDS:
        found = counts.get(kind, {})
        changed = count_changes(found)
        if changed and kind not in APART:
            removed = found["removed"]
            write_records(session, import_id, kind, written=changed - removed, removed=removed)
            done += changed
            progress("storing", done, total)
    session.execute(ANALYZE)


def changed_terms(session: Session, import_id: int) -> list[int]:
    return list(session.scalars(CHANGED_TERMS, {"id": import_id}))


def count_changes(found: dict[str, int]) -> int:
    """Return how many records of a kind change."""
    return sum(found.get(each, 0) for each in ("added", "restored", "changed", "removed"))


# Existing sections whose fields or teachers change.
AFFECTED = f"""
    SELECT sections.id, sections.term_id, changes.kind, changes.before, changes.after
    FROM {SECTION_CHANGES}
    WHERE import_id = :id AND sections.deleted_at IS NULL
        AND changes.kind IN ('section', 'teaching')
        AND (changes.kind = 'teaching' OR change = 'changed')
"""
AFFECTED_TERMS = text(f"SELECT DISTINCT term_id FROM ({AFFECTED}) AS concerned")
AFFECTED_SECTIONS = text(f"SELECT DISTINCT id FROM ({AFFECTED}) AS concerned")
# A new teacher is a new version of the section.
RENEW_TAUGHT = text(f"""
    UPDATE sections SET version = version + 1 FROM (
        SELECT DISTINCT {section_part()} AS key
        FROM import_changes WHERE import_id = :id AND kind = 'teaching'
    ) AS taught JOIN section_keys USING (key)
    WHERE sections.id = section_keys.id AND NOT EXISTS (
        SELECT FROM import_changes AS changes
        WHERE import_id = :id AND changes.kind = 'section' AND changes.key = taught.key
    )
""")


def _fields_of(side: str) -> str:
    """Fields with notifications, on one side of a change; teachers are records of their own."""
    return ", ".join(
        f"{side} -> '{name}'" for name in section_changes.NOTIFIED if name != "instructors"
    )


# Students whose sections change in a field that they are notified about.
NOTIFIED = text(f"""
    SELECT count(DISTINCT student_id) FROM ({AFFECTED}) AS concerned
    JOIN terms AS seen ON seen.id = concerned.term_id AND seen.state <> 'draft'
    JOIN (
        SELECT section_id, student_id FROM enrollments WHERE state = 'enrolled'
        UNION ALL
        SELECT section_id, student_id FROM waitlist_positions WHERE state IN ('waiting', 'passed')
    ) AS part ON part.section_id = concerned.id
    WHERE kind = 'teaching' OR ARRAY[{_fields_of("before")}] <> ARRAY[{_fields_of("after")}]
""")


def count_notified(session: Session, import_id: int, counts: Counts) -> int:
    """Return how many students will be notified of changed sections."""
    if not _changes_sections(counts):
        return 0
    return session.scalar(NOTIFIED, {"id": import_id}) or 0


@contextmanager
def recording_section_changes(session: Session, import_id: int, counts: Counts) -> Iterator[None]:
    """Write the import in the block; store changes with the sections' new versions."""
    if not _changes_sections(counts):
        yield
        return
    this = {"id": import_id}
    terms = list(session.scalars(AFFECTED_TERMS, this))
    concerned = set(session.scalars(AFFECTED_SECTIONS, this))
    before = _read_sections(session, terms, concerned)
    session.execute(RENEW_TAUGHT, this)
    yield
    session.expire_all()
    forget_instructors(session)  # the import may have added some
    after = _read_sections(session, terms, concerned)
    versions = select(Section.id, Section.version).where(Section.id.in_(concerned))
    for section, version in session.execute(versions):
        section_changes.store(session, section, version, before[section], after[section])


def _changes_sections(counts: Counts) -> bool:
    """Return whether sections or their teachers change at all."""
    return any(count_changes(counts.get(kind, {})) for kind in ("section", "teaching"))


def _read_sections(
    session: Session, terms: list[int], concerned: set[int]
) -> dict[int, SimpleNamespace]:
    """Return those sections as they are now."""
    names = {each.id: each for each in named_instructors(session)} if terms else {}
    return {
        section.id: _notified_fields(section, names)
        for term in terms
        for section in read_catalog(session, term).sections
        if section.id in concerned
    }


def _notified_fields(section: SectionView, names: dict[int, NamedInstructor]) -> SimpleNamespace:
    instructors = tuple(names[each] for each in section.instructor_ids if each in names)
    known = {name: getattr(section, name) for name in section_changes.NOTIFIED}
    return SimpleNamespace(**known | {"instructors": instructors})
