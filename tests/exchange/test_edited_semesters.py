"""Whole semesters whose files are edited, and imported again into an empty portal."""

from collections.abc import Callable
from pathlib import Path

import pytest

from portal.exchange.exporting.semester import semester_files
from tests.exchange.campus import imported, kinds
from tests.exchange.semester_files import Rows, edit, exported, set_cell, updated
from tests.exchange.whole_semesters import EACH, folder_of, term_of
from tests.soak import SOAK


@pytest.mark.parametrize("name", EACH if SOAK else EACH[:1])
def test_only_edits_of_its_files_change_it_and_an_empty_portal_becomes_the_same(
    name: str, tmp_path: Path, empty_portal: Callable[[], None]
) -> None:
    term = term_of(name)
    empty_portal()
    imported(folder_of(name, tmp_path), term)
    before, edited = (exported(tmp_path / each, term) for each in ("before", "edited"))

    def more_seats(rows: Rows) -> None:
        rows[17]["capacity"] = "77"
        rows[190]["note"] = "Bring a coat"

    edit(edited, "sections.csv", more_seats)
    set_cell(edited, "meetings.csv", "location", "Hall 9", row=100)
    set_cell(edited, "courses.csv", "title", "A new title", row=30)
    expected = {"section": {"changed": 3}, "course": {"changed": 1}}
    changes, report = updated(edited, term=term)
    assert changes == expected
    assert not {"edited", "stale", "unreadable", "count", "orphan", "duplicate"} & {*kinds(report)}
    assert updated(before, term=term, overwrite=True, erase=True)[0] == expected
    empty_portal()
    imported(before, term)
    after = semester_files(term)
    assert {name: (before / name).read_bytes() for name in after} == after
