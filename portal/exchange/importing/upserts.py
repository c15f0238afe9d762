"""Makes an import's changes true, kind by kind."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

from sqlalchemy import CursorResult, select, text
from sqlalchemy.orm import Session

from portal.catalog import section_changes
from portal.catalog.models import Section
from portal.catalog.section_fields import NamedTeacher
from portal.catalog.sections import named_teachers
from portal.catalog.term_catalog import read_catalog
from portal.catalog.views import SectionView
from portal.core.i18n import _k
from portal.exchange.importing.diff import KINDS, Counts, read_keys, statements
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.tables import Progress

# Courses and teachers are shared by all terms, whose boards must therefore be read anew.
CATALOG_KINDS = {
    "department",
    "subject",
    "course",
    "term",
    "pool",
    "section",
    "teacher",
    "teaching",
}
RENEW_CATALOGS = text("UPDATE terms SET catalog_version = catalog_version + 1")
# PostgreSQL would plan for empty tables until it comes to look by itself.
ANALYZE = text("ANALYZE courses, sections, meetings, restrictions, cross_lists, section_teachers")
CHANGED_TERMS = text("""
    SELECT id FROM terms WHERE name IN (
        SELECT split_part(key, E'\\t', 1) FROM import_changes
        WHERE import_id = :id AND kind IN ('term', 'pool', 'section', 'teaching', 'enrollment')
    )
""")
CHANGED_TABLE = text("""
    CREATE TEMP TABLE these ON COMMIT DROP AS
    SELECT key, change, before, after FROM import_changes
    WHERE import_id = :id AND kind = :kind AND change <> 'removed'
""")
REMOVED_TABLE = text("""
    CREATE TEMP TABLE gone ON COMMIT DROP AS
    SELECT key FROM import_changes
    WHERE import_id = :id AND kind = :kind AND change = 'removed'
""")


def write_changes(session: Session, import_id: int, counts: Counts, progress: Progress) -> None:
    """Write every kind of change in turn; raises ImportFailed where one can't be written."""
    if any(count_changes(found) for kind, found in counts.items() if kind in CATALOG_KINDS):
        session.execute(RENEW_CATALOGS)
    done, total = 0, sum(count_changes(each) for each in counts.values())
    for kind in KINDS:
        found = counts.get(kind, {})
        if count_changes(found) and kind != "enrollment":  # seats are the ledger's to give
            _write(session, import_id, kind, found)
            done += count_changes(found)
            progress("storing", done, total)
    session.execute(ANALYZE)


def changed_terms(session: Session, import_id: int) -> list[int]:
    """The terms of which something has changed."""
    return list(session.scalars(CHANGED_TERMS, {"id": import_id}))


def count_changes(found: dict[str, int]) -> int:
    """How much of a kind changes."""
    return sum(found.get(each, 0) for each in ("added", "restored", "changed", "removed"))


def _write(session: Session, import_id: int, kind: str, found: dict[str, int]) -> None:
    session.execute(text("DROP TABLE IF EXISTS these, gone"))
    for table in (CHANGED_TABLE, REMOVED_TABLE):
        session.execute(table, {"id": import_id, "kind": kind})
    put, *parts = statements(f"puts/{kind}")
    wanted = count_changes(found) - found["removed"]
    result = session.execute(text(put))
    if isinstance(result, CursorResult) and result.rowcount != wanted:
        raise ImportFailedError(
            _k("%(lost)s of %(count)s (%(kind)s) could not be stored."),
            lost=wanted - result.rowcount,
            count=wanted,
            kind=kind,
        )
    read_keys(session)  # what was just put there
    for statement in (*parts, *statements(f"removals/{kind}")):
        session.execute(text(statement))


# What an import changes of sections that students are in, kept as news for them.

# Sections that are here, and of which facts or teachers change.
AFFECTED = """
    SELECT sections.id, sections.term_id, changes.kind, changes.before, changes.after
    FROM import_changes AS changes
    JOIN terms ON terms.name = split_part(changes.key, E'\\t', 1) AND terms.deleted_at IS NULL
    JOIN sections ON term_id = terms.id AND crn = split_part(changes.key, E'\\t', 2)
        AND sections.deleted_at IS NULL
    WHERE import_id = :id
        AND changes.kind IN ('section', 'teaching')
        AND (changes.kind = 'teaching' OR change = 'changed')
"""
AFFECTED_TERMS = text(f"SELECT DISTINCT term_id FROM ({AFFECTED}) AS concerned")  # noqa: S608 - ours
AFFECTED_SECTIONS = text(f"SELECT DISTINCT id FROM ({AFFECTED}) AS concerned")  # noqa: S608 - ours
# Who teaches is a fact of the section, of whose versions the ledger is told.
RENEW_TAUGHT = text("""
    UPDATE sections SET version = version + 1 FROM (
        SELECT DISTINCT split_part(key, E'\\t', 1) || E'\\t' || split_part(key, E'\\t', 2) AS key
        FROM import_changes WHERE import_id = :id AND kind = 'teaching'
    ) AS taught JOIN section_keys USING (key)
    WHERE sections.id = section_keys.id AND NOT EXISTS (
        SELECT FROM import_changes AS changes
        WHERE import_id = :id AND changes.kind = 'section' AND changes.key = taught.key
    )
""")


def _of(side: str) -> str:
    """The fields that are news, on one side of a change; teachers are records of their own."""
    return ", ".join(f"{side} -> '{name}'" for name in section_changes.NEWS if name != "teachers")


# Who has a part in those of which times, rooms, teachers or what else is news change.
NOTIFIED = text(f"""
    SELECT count(DISTINCT student_id) FROM ({AFFECTED}) AS concerned
    JOIN (
        SELECT section_id, student_id FROM enrollments WHERE state = 'enrolled'
        UNION ALL
        SELECT section_id, student_id FROM waitlist_places WHERE state IN ('waiting', 'passed')
    ) AS part ON part.section_id = concerned.id
    WHERE kind = 'teaching' OR ARRAY[{_of("before")}] <> ARRAY[{_of("after")}]
""")  # noqa: S608 - ours


def count_notified(session: Session, import_id: int, counts: Counts) -> int:
    """How many students have a part in sections of which the import changes what is news."""
    if not _any(counts):
        return 0
    return session.scalar(NOTIFIED, {"id": import_id}) or 0


@contextmanager
def recording_section_changes(session: Session, import_id: int, counts: Counts) -> Iterator[None]:
    """A block that writes the import: what it changes is kept with the sections' new versions."""
    if not _any(counts):
        yield
        return
    this = {"id": import_id}
    terms = list(session.scalars(AFFECTED_TERMS, this))
    concerned = set(session.scalars(AFFECTED_SECTIONS, this))
    before = _facts(session, terms, concerned)
    session.execute(RENEW_TAUGHT, this)
    yield
    session.expire_all()
    after = _facts(session, terms, concerned)
    versions = select(Section.id, Section.version).where(Section.id.in_(concerned))
    for section, version in session.execute(versions):
        section_changes.keep(session, section, version, before[section], after[section])


def _any(counts: Counts) -> bool:
    """Whether sections, or who teaches them, change at all: most imports of people ask no more."""
    return any(count_changes(counts.get(kind, {})) for kind in ("section", "teaching"))


def _facts(session: Session, terms: list[int], concerned: set[int]) -> dict[int, SimpleNamespace]:
    """Those sections as they are now, read a term at a time."""
    names = {each.id: each for each in named_teachers(session)} if terms else {}
    return {
        card.id: _of_section(card, names)
        for term in terms
        for card in read_catalog(session, term).sections
        if card.id in concerned
    }


def _of_section(section: SectionView, names: dict[int, NamedTeacher]) -> SimpleNamespace:
    teachers = tuple(names[each] for each in section.teacher_ids if each in names)
    known = {name: getattr(section, name) for name in section_changes.NEWS}
    return SimpleNamespace(**known | {"teachers": teachers})
