"""Meetings of a section that the portal has: files change only what they state of them."""

from datetime import time
from pathlib import Path
from typing import Any

import pytest

from tests.exchange.campus import Campus, imported, section
from tests.exchange.lectures import FRIDAY, LECTURE, MWF, WHEN, meetings, update
from tests.exchange.semester_files import exported, set_cell, updated

pytestmark = pytest.mark.usefixtures("backend")
LAB = (FRIDAY, time(9), time(11), "LAB 2")


def campus() -> Campus:
    """A lecture, and a section with a lab too."""
    made = Campus().meets(**WHEN, instructors="Okafor").section("10002", WHEN)
    lab = {"meeting_type": "LAB", "days": "F", "start_time": "9:00AM", "end_time": "11:00AM"}
    return made.meeting(crn="10002", meeting_no="2", location="LAB 2", **lab)


@pytest.fixture
def term(tmp_path: Path) -> int:
    made = imported(campus().write(tmp_path)).term
    for each in tmp_path.iterdir():
        each.unlink()
    return made


def both(term: int) -> list[tuple[Any, ...]]:
    return meetings(term, "10002")


# Columns that are missing, and blank cells


def test_meetings_without_rooms_and_dates_keep_both(tmp_path: Path, term: int) -> None:
    before = section(term, "10002").meetings
    rows = ["10002,F,9:00AM,11:00AM", "10002,TR,1:00PM,1:50PM"]
    for _ in range(2):  # in any order
        rows.reverse()
        update(tmp_path, "crn,days,start_time,end_time", *rows, name="meetings.csv")
        assert section(term, "10002").meetings == before


def test_blank_cells_erase_only_if_that_is_chosen(tmp_path: Path, term: int) -> None:
    lines = ("CRN,Subj,Crse,Location", "10001,CSC,225,")
    update(tmp_path, *lines)
    assert meetings(term) == [LECTURE]
    update(tmp_path, *lines, erase=True)
    assert meetings(term) == [(*LECTURE[:3], "")]
    lines = ("CRN,Subj,Crse,Days,Time", "10001,CSC,225,,")
    update(tmp_path, *lines)
    assert meetings(term) == [(*LECTURE[:3], "")]
    update(tmp_path, *lines, erase=True)
    assert meetings(term) == []


def test_a_section_keeps_its_kind_if_the_file_has_no_column_for_it(
    tmp_path: Path, term: int
) -> None:
    before = section(term).kind
    update(tmp_path, "CRN,Subj,Crse,Days,Time", "10001,CSC,225,MWF,2:00 pm-2:50 pm")
    assert section(term).kind == before == "Lecture"


def test_a_blank_cell_of_an_export_is_reported(tmp_path: Path, term: int) -> None:
    folder = exported(tmp_path / "out")
    for at, column in enumerate(("location", "days")):
        set_cell(folder, "meetings.csv", column, "", row=at)
    changes, report = updated(folder)
    assert changes == {}
    assert [note.column for note in report.of("blank_unchanged")] == ["location", "days"]
    assert meetings(term) == [LECTURE]
    changes, _report = updated(folder, erase=True)
    assert changes == {"section": {"changed": 1}}
    assert meetings(term) == [(*LECTURE[:3], "")]


# More and fewer meetings


def test_whole_rows_replace_and_equal_times_keep_their_rooms(tmp_path: Path, term: int) -> None:
    head = "CRN,Subj,Crse,Days,Time"
    update(tmp_path, head, "10002,CSC,225,F,9:00 am-11:00 am")
    assert both(term) == [LAB]
    second = "10002,CSC,225,MWF,2:00 pm-2:50 pm"
    update(tmp_path, head, second, "10002,CSC,225,F,9:00 am-11:00 am")
    assert both(term) == [(MWF, time(14), time(14, 50), ""), LAB]


def test_a_room_of_an_unclear_meeting_is_refused_by_name(tmp_path: Path, term: int) -> None:
    report = update(tmp_path, "CRN,Subj,Crse,Location", "10002,CSC,225,WEST 2")
    [note] = report.of("meeting_unclear")
    assert (note.action, note.line, note.key) == ("refused", 2, "10002")
    assert both(term) == [LECTURE, LAB]
    days = ("CRN,Subj,Crse,Days,Location", "10002,CSC,225,F,WEST 2", "10002,CSC,225,W,WEST 3")
    update(tmp_path, *days[:2])
    assert both(term) == [LECTURE, (*LAB[:3], "WEST 2")]


def test_the_number_of_a_meeting_tells_which_one_it_is(tmp_path: Path, term: int) -> None:
    head = "crn,meeting_no,days,start_time,end_time,location"
    rows = ("10002,2,,,,WEST 2", "10002,1,,,,")
    update(tmp_path, head, *rows, name="meetings.csv")
    assert both(term) == [LECTURE, (*LAB[:3], "WEST 2")]
    update(tmp_path, head, "10002,1,,,,EAST 1", name="meetings.csv")
    assert both(term) == [(*LECTURE[:3], "EAST 1"), (*LAB[:3], "WEST 2")]


def test_a_row_with_a_further_instructor_is_no_meeting(tmp_path: Path, term: int) -> None:
    head = "CRN,Subj,Crse,Days,Time,Instructor"
    rows = ("10001,CSC,225,TR,1:00 pm-1:50 pm,Okafor", ",,,,,Pat Poe")
    report = update(tmp_path, head, *rows)
    assert meetings(term) == [LECTURE]
    assert section(term).instructors == ("Okafor", "Pat Poe")
    assert not report.of("meeting_unclear")


def test_a_further_meeting_without_a_time_is_added(tmp_path: Path, term: int) -> None:
    head = "CRN,Subj,Crse,Days,Time,Location"
    rows = ("10001,CSC,225,TR,1:00 pm-1:50 pm,", "10001,CSC,225,,TBA,ONLINE")
    for _ in range(2):
        update(tmp_path, head, *rows)
        assert meetings(term) == [LECTURE, (0, None, None, "ONLINE")]


# Values that can't be read


def test_one_unreadable_meeting_of_several_leaves_that_one(tmp_path: Path, term: int) -> None:
    head = "CRN,Subj,Crse,Days,Time"
    update(tmp_path, head, "10002,CSC,225,Q,1:00 pm-1:50 pm", "10002,CSC,225,F,9:00 am-10:00 am")
    assert both(term) == [LECTURE, (FRIDAY, time(9), time(10), "LAB 2")]


def test_an_unreadable_day_of_a_new_section_is_to_be_announced(tmp_path: Path, term: int) -> None:
    report = update(tmp_path, "CRN,Subj,Crse,Cap,Days,Time,Location", "10003,CSC,225,9,Q,9:65,H 1")
    assert meetings(term, "10003") == [(0, None, None, "H 1")]
    assert {"days_unreadable", "times_unreadable"} <= {*report.found}


def test_a_new_section_with_an_instructor_alone_has_no_meeting(tmp_path: Path, term: int) -> None:
    update(tmp_path, "CRN,Subj,Crse,Cap,Instructor", "10003,CSC,225,9,Pat Poe")
    assert meetings(term, "10003") == []
    assert section(term, "10003").instructors == ("Pat Poe",)
