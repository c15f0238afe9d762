"""What an import changes of sections that students are in, kept as news for them."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from portal.catalog import section_changes
from portal.catalog.models import Section
from portal.catalog.section_fields import NamedTeacher
from portal.catalog.sections import named_teachers
from portal.catalog.term_catalog import read_catalog
from portal.catalog.views import SectionView
from portal.exchange.importing.apply import moved
from portal.exchange.importing.compare import Counts

# Sections that are here, and of which facts or teachers change.
CONCERNED = """
    SELECT sections.id, sections.term_id, changes.kind, changes.before, changes.after
    FROM import_changes AS changes
    JOIN terms ON terms.name = split_part(changes.key, E'\\t', 1) AND terms.deleted_at IS NULL
    JOIN sections ON term_id = terms.id AND crn = split_part(changes.key, E'\\t', 2)
        AND sections.deleted_at IS NULL
    WHERE import_id = :id
        AND changes.kind IN ('section', 'teaching')
        AND (changes.kind = 'teaching' OR change = 'changed')
"""
TERMS = text(f"SELECT DISTINCT term_id FROM ({CONCERNED}) AS concerned")  # noqa: S608 - ours
SECTIONS = text(f"SELECT DISTINCT id FROM ({CONCERNED}) AS concerned")  # noqa: S608 - ours
# Who teaches is a fact of the section, of whose versions the ledger is told.
TAUGHT = text("""
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
TOLD = text(f"""
    SELECT count(DISTINCT student_id) FROM ({CONCERNED}) AS concerned
    JOIN (
        SELECT section_id, student_id FROM enrollments WHERE state = 'enrolled'
        UNION ALL
        SELECT section_id, student_id FROM waitlist_places WHERE state IN ('waiting', 'passed')
    ) AS part ON part.section_id = concerned.id
    WHERE kind = 'teaching' OR ARRAY[{_of("before")}] <> ARRAY[{_of("after")}]
""")  # noqa: S608 - ours


def listeners(session: Session, import_id: int, counts: Counts) -> int:
    """How many students have a part in sections of which the import changes what is news."""
    if not _any(counts):
        return 0
    return session.scalar(TOLD, {"id": import_id}) or 0


@contextmanager
def kept(session: Session, import_id: int, counts: Counts) -> Iterator[None]:
    """A block that writes the import: what it changes is kept with the sections' new versions."""
    if not _any(counts):
        yield
        return
    this = {"id": import_id}
    terms = list(session.scalars(TERMS, this))
    concerned = set(session.scalars(SECTIONS, this))
    before = _facts(session, terms, concerned)
    session.execute(TAUGHT, this)
    yield
    session.expire_all()
    after = _facts(session, terms, concerned)
    versions = select(Section.id, Section.version).where(Section.id.in_(concerned))
    for section, version in session.execute(versions):
        section_changes.keep(session, section, version, before[section], after[section])


def _any(counts: Counts) -> bool:
    """Whether sections, or who teaches them, change at all: most imports of people ask no more."""
    return any(moved(counts.get(kind, {})) for kind in ("section", "teaching"))


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
