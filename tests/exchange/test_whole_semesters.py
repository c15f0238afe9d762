"""Whole semesters: a made up one, and that of RPI, autumn 2020, where its data is at hand."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from portal.backend import Backend
from portal.catalog.term_catalog import TermCatalog, catalog_of
from portal.windows.warmup import warm_up
from tests.exchange.campus import Made, imported, kinds, read
from tests.exchange.mapped_columns import rename_headings
from tests.exchange.semester_files import updated, workbook
from tests.exchange.whole_semesters import EACH, REAL, SECTIONS, folder_of, term_of


@dataclass(frozen=True)
class Whole:
    """One of EACH, which was imported into an empty portal."""

    name: str
    made: Made

    @property
    def term(self) -> str:
        return term_of(self.name)


@pytest.fixture(scope="module", params=EACH)
def whole(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    empty_portal: Callable[[], None],
) -> Whole:
    """A semester, for tests that leave it as it is."""
    empty_portal()
    folder = folder_of(request.param, tmp_path_factory.mktemp("whole"))
    return Whole(request.param, imported(folder, term_of(request.param)))


def test_all_of_it_is_imported_and_all_that_is_odd_is_named(
    whole: Whole, connected: Backend
) -> None:
    made, offered = whole.made, catalog_of(whole.made.term)
    assert warm_up(made.term) == 0  # the ledger was told of all by the import
    count = 2250 if whole.name == "real" else SECTIONS
    assert made.sections == len(offered.sections) == len(connected.ledger.seats(made.term)) == count
    if whole.name == "real":
        assert made.courses == 953
        assert_findings(made)
        assert_meetings(offered)
        assert_seats(connected, offered)
        assert_rules(offered)


def test_its_workbook_changes_nothing(whole: Whole, tmp_path: Path) -> None:
    book = workbook(tmp_path / "semester.xlsx", whole.term)
    assert updated(book, remove=True, term=whole.term)[0] == {}


@pytest.mark.skipif(not REAL.is_dir(), reason=f"the real semester is not at {REAL}")
def test_with_other_headings_all_of_it_comes_in_as_chosen(tmp_path: Path) -> None:
    meanings = rename_headings(REAL, tmp_path / "other")
    known, report = read(REAL, term="Fall 2020")
    found, other = read(tmp_path / "other", term="Fall 2020", columns=meanings)
    assert len(found.sections) == 2250
    assert found.kinds == known.kinds
    assert kinds(other) == kinds(report) | {"column_left_out": 4}


def assert_findings(made: Made) -> None:
    assert kinds(made.report) == {
        "duplicate": 9,
        "own_course": 9,
        "orphan": 132,
        "spaces": 6,
        "title_missing": 155,
        "title_guessed": 8,
        "time_without_days": 1,
        "empty_group": 56,
        "over_capacity": 125,
        "no_seats": 190,
        "several_credits": 8,
        "days_without_time": 15,
        "exam_block": 172,
        "file_needless": 1,  # SOURCE.md
        "overlaps_itself": 64,
        "cross_list_not_offered": 1,
        "course_unknown": 74,
        "major_added": kinds(made.report)["major_added"],
    }
    orphans = made.report.of("orphan")
    assert len({note.key for note in orphans}) == 70
    assert Counter(note.file for note in orphans)["restrictions.csv"] == 90


def assert_meetings(offered: TermCatalog) -> None:
    meetings = [meeting for view in offered.sections for meeting in view.meetings]
    assert len(meetings) == 2833
    exams = [meeting for meeting in meetings if meeting.kind == "Test block"]
    assert len(exams) == 170
    assert not any(meeting.clashes for meeting in exams)
    whole_days = [m for m in meetings if m.times == "8:00 am–9:50 pm"]
    assert len(whole_days) == 64
    assert not any(meeting.clashes for meeting in whole_days)
    untimed = [view for view in offered.sections if not any(m.start for m in view.meetings)]
    assert len(untimed) == 877 + 1  # one has a time, but no days on which it could be
    several = [view for view in offered.sections if len(view.meetings) > 1]
    assert len(several) == 380
    first = next(view for view in offered.sections if view.crn == "25790").meetings[0]
    assert (first.days, first.times, first.dates) == ("Mon Thu", "2:00–3:50 pm", "")


def assert_seats(backend: Backend, offered: TermCatalog) -> None:
    seats = backend.ledger.seats(offered.term.id).values()
    assert sum(1 for each in seats if each.taken > each.capacity) == 125
    assert max(each.taken - each.capacity for each in seats) == 90
    assert sum(1 for each in seats if each.capacity == 0) == 190
    assert sum(1 for each in seats if each.waitlist_capacity == 10) == 2250 - 190


def assert_rules(offered: TermCatalog) -> None:
    assert sum(1 for view in offered.sections if view.credits_min < view.credits_max) == 789
    assert sum(len(view.cross_lists) for view in offered.sections) == 340 - 10 - 9
    assert sum(len(view.restrictions) for view in offered.sections) == 3059 - 90 - 9
    assert not any("Staff" in view.instructors for view in offered.sections)
    assert all(view.title and view.course_title for view in offered.sections)
