"""A semester comes out as one workbook, to edit in a spreadsheet and import again."""

from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest
from flask.testing import FlaskClient

from portal.catalog.models import Section
from portal.people.models import Student
from tests import cast
from tests.exchange.campus import Made, imported
from tests.exchange.makers import TERM, change_rows, edit_workbook, latest, press, send, set_cell
from tests.exchange.oneroster import moved
from tests.exchange.semester_files import DATES, campus, exported, section, updated, workbook

pytestmark = pytest.mark.usefixtures("backend")
SHEETS = (
    *("departments", "courses", "sections", "meetings", "restrictions", "cross_lists"),
    "prerequisites",
)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    written = campus()
    written.rows["sections.csv"][1] |= {
        "section_title": "1-2",
        "note": "-5 points",
        "campus": "=A1",
    }
    return imported(written.write(tmp_path / "in"), TERM)


@pytest.fixture
def book(tmp_path: Path, made: Made) -> Path:
    assert made
    return workbook(tmp_path / "semester.xlsx")


def test_it_has_a_sheet_for_each_file_and_changes_nothing(book: Path) -> None:
    assert tuple(openpyxl.load_workbook(book).sheetnames) == SHEETS
    edit_workbook(book, lambda _found: None)
    assert updated(book)[0] == {}
    assert updated(book, overwrite=True, erase=True, remove=True)[0] == {}


def test_only_the_edited_cells_change(book: Path) -> None:
    set_cell(book, "sections", "capacity", 41, row=3)
    set_cell(book, "courses", "title", "Algorithms and data")
    set_cell(book, "prerequisites", "prerequisites", "CSC-9 or MAT-9")
    changes, _report = updated(book)
    assert changes == {"section": {"changed": 1}, "course": {"changed": 1}}
    found = section()
    assert found.capacity == 41
    assert found.prerequisites == {"any": [{"course": "CSC-9"}, {"course": "MAT-9"}]}
    assert found.note == "=1+1\nTwo lines"


def test_an_empty_portal_gets_all_of_it_back(
    book: Path, tmp_path: Path, empty_portal: Callable[[], None]
) -> None:
    before = exported(tmp_path / "before")
    empty_portal()
    imported(book, TERM, **DATES)
    after = exported(tmp_path / "after")
    files = [
        {each.name: each.read_bytes() for each in folder.iterdir()} for folder in (before, after)
    ]
    assert files[0] == files[1]


def test_texts_stay_texts_and_no_cell_is_a_formula(book: Path) -> None:
    found = openpyxl.load_workbook(book)
    cells = [cell for sheet in found for row in sheet.iter_rows() for cell in row]
    texts = [cell for cell in cells if isinstance(cell.value, str)]
    assert {cell.data_type for cell in texts} == {"s"}
    assert {cell.number_format for cell in texts} == {"@"}
    values = {cell.value for cell in texts}
    assert {"002", "1-2", "2021-01-06", "'-5 points", "'=A1", "'=1+1\nTwo lines"} <= values
    assert not any(value.startswith(tuple("=+-@")) for value in values)


def test_a_formula_in_an_edited_cell_is_not_computed(book: Path) -> None:
    set_cell(book, "sections", "section_title", '="Hacked"&"!"', row=3)
    set_cell(book, "sections", "note", "Bring a coat", row=3)
    changes, _report = updated(book)
    assert changes == {"section": {"changed": 1}}
    assert (section().title, section().note) == ("ALGORITHMS", "Bring a coat")


def test_a_section_changed_in_the_portal_after_the_export_keeps_its_values(book: Path) -> None:
    change_rows(Section, Section.crn == "10001", capacity=99)
    set_cell(book, "sections", "capacity", 41, row=3)
    changes, report = updated(book)
    assert changes == {}
    assert [note.column for note in report.of("stale")] == ["capacity"]


def test_unknown_values_are_named_only_in_edited_rows(book: Path) -> None:
    cast.a_student("sam")
    change_rows(Student, level="Undergraduate")
    assert updated(book)[1].of("value_unknown") == []
    set_cell(book, "restrictions", "value", "Graduat", key="Graduate")
    [note] = updated(book)[1].of("value_unknown")
    assert "Graduat" in note.more


def test_prerequisites_that_can_not_be_read_are_named_and_stay(book: Path) -> None:
    before = section().prerequisites
    set_cell(book, "prerequisites", "prerequisites", "CSC-9 or (MAT-9")
    changes, report = updated(book)
    assert changes == {}
    assert [(note.file, note.column) for note in report.of("no_tree")] == [
        ("semester.xlsx (prerequisites)", "prerequisites")
    ]
    assert section().prerequisites == before


def test_an_admin_downloads_edits_and_uploads_it(
    boss: FlaskClient, tmp_path: Path, made: Made
) -> None:
    place = f"/admin/terms/{made.term}/semester.xlsx"
    assert place in boss.get("/admin/imports").text
    answer = boss.get(place)
    assert answer.headers["Content-Disposition"].endswith(f"semester-{made.term}.xlsx")
    path = tmp_path / "semester.xlsx"
    path.write_bytes(answer.data)
    set_cell(path, "sections", "capacity", 41, row=3)
    assert send(boss, path.read_bytes(), "semester.xlsx").status_code == 303
    press(boss, latest().id, "nothing")  # a worker reads it
    assert moved(latest().counts) == {"section": {"changed": 1}}
    assert "Semester exported" in boss.get("/admin/audit").text
