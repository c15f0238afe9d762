"""Cells about meetings of sections that the portal has: one import has them all.

No test empties the tables: each changes a section of its own, or no meeting.
"""

from collections.abc import Callable
from datetime import date, time
from pathlib import Path
from typing import Any

import pytest

from tests.exchange.campus import Campus, imported, section
from tests.exchange.lectures import LECTURE, MWF, TR, WHEN, meetings, update


@pytest.fixture(scope="module")
def kept(empty_portal: Callable[[], None], tmp_path_factory: pytest.TempPathFactory) -> int:
    """A term of sections with the same lecture."""
    empty_portal()
    campus = Campus().meets(**WHEN, instructors="Okafor")
    for crn in range(10002, 10013):
        campus.section(f"{crn}", WHEN)
    return imported(campus.write(tmp_path_factory.mktemp("cells"))).term


@pytest.mark.parametrize("erase", [False, True])
@pytest.mark.parametrize(
    ("columns", "cells"),
    [
        ("Instructor", "Pat Poe"),
        ("Instructor", ""),
        ("Location", "SAGE 11"),
        ("Days,Time", "TR,1:00 pm-1:50 pm"),
        ("Days,Begin,End,Instructor", "TR,1:00 pm,1:50 pm,Pat Poe"),
        ("Cap,Title,Instructor", "30,Algorithms,"),
    ],
)
def test_a_missing_column_changes_nothing_of_a_meeting(
    tmp_path: Path, kept: int, columns: str, cells: str, *, erase: bool
) -> None:
    before = section(kept).meetings
    update(tmp_path, f"CRN,Subj,Crse,{columns}", f"10001,CSC,225,{cells}", erase=erase)
    assert section(kept).meetings == before
    assert meetings(kept) == [LECTURE]


@pytest.mark.parametrize(
    ("crn", "columns", "cells", "meeting"),
    [
        ("10002", "Location", "WEST 2", (*LECTURE[:3], "WEST 2")),
        ("10003", "Days", "MWF", (MWF, *LECTURE[1:])),
        ("10004", "Time", "2:00 pm-2:50 pm", (TR, time(14), time(14, 50), "SAGE 11")),
        ("10005", "Time", "2:00-2:50 p.m.", (TR, time(14), time(14, 50), "SAGE 11")),
        ("10006", "Time", "11:30-12:20 pm", (TR, time(11, 30), time(12, 20), "SAGE 11")),
        ("10007", "Begin", "12:30 pm", (TR, time(12, 30), time(13, 50), "SAGE 11")),
        ("10008", "Days,Time", "MWF,2:00 pm-2:50 pm", (MWF, time(14), time(14, 50), "SAGE 11")),
        ("10009", "Days,Time,Location", "MWF,,", (MWF, *LECTURE[1:])),
        ("10010", "Days,Time,Location", ",,WEST 2", (*LECTURE[:3], "WEST 2")),
        ("10011", "Days,Time,Location", "TBA,TBA,TBA", (0, None, None, "")),
        ("10012", "Location", "TBA", (*LECTURE[:3], "")),
    ],
)
def test_a_cell_changes_its_own_field(
    tmp_path: Path, kept: int, crn: str, columns: str, *, cells: str, meeting: tuple[Any, ...]
) -> None:
    dates = [(each.first, each.last) for each in section(kept, crn).meetings]
    update(tmp_path, f"CRN,Subj,Crse,{columns}", f"{crn},CSC,225,{cells}")
    assert meetings(kept, crn) == [meeting]
    [after] = section(kept, crn).meetings
    assert [(after.first, after.last)] == dates == [(date(2021, 2, 1), date(2021, 3, 31))]


@pytest.mark.parametrize(
    ("columns", "cells"),
    [
        ("Days", "Q"),
        ("Time", "9:65"),
        ("Time", "1:00-2:15"),
        ("Days,Time,Location", "Q,2:00 pm-2:50 pm,WEST 2"),
        ("Days,Begin,End", "TR,1:00 pm,11:50 am"),
        ("Begin", "2:00 pm"),
        ("Days,Begin,End", "TBA,1:00 pm,1:50 pm"),
        ("Days,Begin,End", "TR,TBA,2:50 pm"),
        ("Days,Time,Start Date", "TR,1:00 pm-1:50 pm,31/12/2021"),
        ("Days,Time,Start Date", "TR,1:00 pm-1:50 pm,2021-04-15"),
    ],
)
def test_a_value_that_cannot_be_read_leaves_the_meeting(
    tmp_path: Path, kept: int, columns: str, cells: str
) -> None:
    before = section(kept).meetings
    report = update(tmp_path, f"CRN,Subj,Crse,{columns}", f"10001,CSC,225,{cells}")
    assert section(kept).meetings == before
    [note] = report.of("meeting_unreadable")
    assert (note.action, note.line, note.key) == ("refused", 2, "10001")
    assert not {"days_unreadable", "times_unreadable", "dates_unreadable"} & {*report.found}
