"""The catalog: what a term offers, held in memory, current within two seconds."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError

import pytest
from sqlalchemy import func, update

from portal.backend import Backend
from portal.catalog import term_catalog
from portal.catalog.models import Section, Term
from portal.catalog.search import Query
from portal.catalog.term_catalog import NoSuchTerm, catalog_of
from portal.core import db
from portal.core.db import transaction
from tests import cast as builders
from tests.cast import Cast, Meets

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture
def stale(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boards count as current for no time at all."""
    monkeypatch.setattr(term_catalog._catalogs, "seconds", 0.0)  # noqa: SLF001


def change(section: Section, **fields: object) -> None:
    """Change a section as an admin would."""
    with transaction() as session:
        session.execute(update(Section).where(Section.id == section.id).values(fields))
        moved = {"catalog_version": Term.catalog_version + 1}
        session.execute(update(Term).where(Term.id == section.term_id).values(moved))


def test_a_view_says_all_of_a_section(cast: Cast) -> None:
    term, course = builders.a_term(), builders.a_course("CSC-1100")
    section = builders.a_section(course, term, meetings=(Meets("MR"),), instructor=cast.iris)
    offered = catalog_of(term.id)
    view = offered.section(section.id)
    assert view is not None
    assert (view.course_code, view.subject_code, view.department) == (
        "CSC-1100", "CSC", "Department of SCI",
    )  # fmt: skip
    assert [(each.days, each.times) for each in view.meetings] == [("Mon Thu", "10:00–11:50 am")]
    assert (view.instructors, view.instructor_ids) == (("Iris",), (cast.iris.id,))
    assert offered.taught_by(frozenset({cast.iris.id})) == [view]
    assert offered.taught_by(frozenset({cast.otto.id})) == []
    assert offered.sections_of(course.id) == [view]
    assert offered.course_id("CSC-1100") == course.id
    assert offered.course_code(course.id) == "CSC-1100"
    assert offered.some([section.id, 0]) == [view]
    assert offered.subjects == {"CSC": "Field of CSC"}


def test_what_is_not_there_is_none(cast: Cast) -> None:
    assert cast
    offered = catalog_of(builders.a_term().id)
    assert offered.section(1) is None
    assert offered.course_id("CSC-1100") is None
    assert offered.course_code(1) is None
    assert offered.sections_of(1) == []


def test_a_course_whose_sections_are_all_canceled_is_not_offered() -> None:
    term = builders.a_term()
    builders.a_section(builders.a_course("CSC-1"), term, status="CANCELED")
    builders.a_section(builders.a_course("CSC-2"), term, status="CONFIRMED")
    assert catalog_of(term.id).course_id("CSC-1") is None
    assert catalog_of(term.id).course_id("CSC-2") is not None


def test_sections_are_sorted_by_course_as_people_count_and_by_number() -> None:
    term = builders.a_term()
    for code in ("MAT-20", "CSC-1100", "CSC-99"):
        course = builders.a_course(code)
        builders.a_section(course, term, number="02")
        builders.a_section(course, term, number="01")
    assert [(view.course_code, view.number) for view in catalog_of(term.id).sections] == [
        (code, number) for code in ("CSC-99", "CSC-1100", "MAT-20") for number in ("01", "02")
    ]


def test_nothing_in_it_changes() -> None:
    term = builders.a_term()
    builders.a_section(builders.a_course(), term)
    with pytest.raises(FrozenInstanceError):
        catalog_of(term.id).sections[0].title = "x"  # type: ignore[misc]


def test_deleted_sections_are_not_on_it() -> None:
    term = builders.a_term()
    section = builders.a_section(builders.a_course(), term)
    change(section, deleted_at=func.now())
    assert catalog_of(term.id).sections == ()


def test_a_term_that_is_not_there_is_refused(stale: None) -> None:
    assert stale is None
    with pytest.raises(NoSuchTerm):
        catalog_of(0)
    term = builders.a_term()
    catalog_of(term.id)
    with transaction() as session:
        session.execute(update(Term).values(deleted_at=func.now()))
    with pytest.raises(NoSuchTerm):
        catalog_of(term.id)


def test_it_is_read_once_and_looked_after_every_two_seconds(count_queries: list[str]) -> None:
    term = builders.a_term()
    builders.a_section(builders.a_course(), term)
    first = catalog_of(term.id)
    count_queries.clear()
    assert catalog_of(term.id) is first
    assert count_queries == []


@pytest.mark.usefixtures("stale")
def test_a_change_shows_in_a_new_catalog_and_the_old_one_stays(count_queries: list[str]) -> None:
    term = builders.a_term()
    section = builders.a_section(builders.a_course(), term)
    old = catalog_of(term.id)
    count_queries.clear()
    assert catalog_of(term.id) is old  # looked after, found current: one statement
    assert len(count_queries) == 1
    change(section, title="Another title")
    new = catalog_of(term.id)
    assert (old.sections[0].title, new.sections[0].title) == ("Course CSC-1100", "Another title")


@pytest.mark.usefixtures("stale")
def test_while_postgresql_is_away_the_last_catalog_serves(backend: Backend) -> None:
    term = builders.a_term()
    builders.a_section(builders.a_course(), term)
    last = catalog_of(term.id)
    db.connect("postgresql://nobody@127.0.0.1:1/nothing").dispose()
    try:
        assert catalog_of(term.id) is last
    finally:
        db.connect(backend.settings.database_url)


def test_many_requests_at_once_read_it_once(count_queries: list[str]) -> None:
    term = builders.a_term()
    builders.a_section(builders.a_course(), term)
    count_queries.clear()
    with ThreadPoolExecutor(8) as requests:
        found = list(requests.map(catalog_of, [term.id] * 8))
    assert len({id(each) for each in found}) == 1
    assert len(count_queries) < 12


def test_search_finds_in_the_order_of_the_catalog() -> None:
    term = builders.a_term()
    for code in ("MAT-1", "CSC-2", "CSC-1"):
        builders.a_section(builders.a_course(code), term)
    found = catalog_of(term.id).search(Query(subject="CSC"))
    assert [view.course_code for view in found] == ["CSC-1", "CSC-2"]
