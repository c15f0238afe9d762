"""An update changes only what its files contain, and no course of another term."""

from pathlib import Path
from typing import Any

import pytest

from portal.backend import Backend
from portal.catalog.term_catalog import read_catalog
from portal.core.db import transaction
from portal.exchange.importing.report import summary
from tests.exchange.campus import Campus, imported, section
from tests.exchange.semester_files import only, updated

pytestmark = pytest.mark.usefixtures("backend")
REST = ("restrictions.csv", "cross_lists.csv", "prerequisites.json", "departments.csv")


def full() -> Campus:
    campus = Campus(
        section_title="Algorithms I",
        wait_capacity="5",
        campus="Main",
        method="Online",
        note="Bring a laptop.",
        attributes="Science",
    )
    campus.meets(location="Hall 1", instructors="Okafor")
    campus.course("MAT-100", title="Logic").cross_list("MAT-100").restriction(
        "must_be", "level", "Graduate"
    )
    campus.prerequisites = {"10001": {"prerequisites": {"type": "solo", "solo": ["MAT 100"]}}}
    return campus


def facts(term: int) -> dict[str, Any]:
    found = section(term)
    names = (
        *("title", "waitlist", "campus", "method", "note", "categories", "meetings", "instructors"),
        *("cross_lists", "restrictions", "prerequisites", "credits_min", "number", "kind"),
        *("course_title", "department"),
    )
    return {name: getattr(found, name) for name in names}


def test_one_column_changes_and_everything_else_stays(tmp_path: Path, backend: Backend) -> None:
    assert backend
    first = imported(full().write(tmp_path))
    before = facts(first.term)
    changes, _ = updated(only(tmp_path, "sections.csv", "CRN,Subj,Crse,Cap", "10001,CSC,225,45"))
    assert section(first.term).capacity == 45
    assert facts(first.term) == before
    assert changes == {"section": {"changed": 1}}


def test_blank_cells_and_missing_rows_erase_only_if_that_is_chosen(tmp_path: Path) -> None:
    first = imported(full().write(tmp_path))
    before = facts(first.term)
    blank = Campus(section_title="", note="", campus="", credits="")
    blank.rows["meetings.csv"] = []
    _, report = updated(blank.write(tmp_path))
    assert facts(first.term) == before
    found = [(note.column, note.more) for note in report.of("blank_unchanged")]
    assert ("campus", "Here: “Main”.") in found
    assert ("note", "Here: “Bring a laptop.”.") in found
    rows = {note.file for note in report.of("rows_unchanged")}
    assert {"meetings.csv", "restrictions.csv", "cross_lists.csv"} <= rows
    count = len(found) + len(report.of("rows_unchanged")) + len(report.of("never_blank"))
    assert ("not changed", count) in summary(report.found)
    updated(blank.write(tmp_path), erase=True)
    found = section(first.term)
    assert (found.note, found.campus, found.meetings, found.restrictions) == ("", "", (), ())
    assert (found.prerequisites, found.cross_lists) == (None, ())


def test_a_blank_cell_erases_all_restrictions_of_a_section(tmp_path: Path) -> None:
    campus = full().restriction("may_not_be", "classification", "Freshman")
    first = imported(campus.write(tmp_path))
    assert len(section(first.term).restrictions) == 2
    updated(only(tmp_path, "sections.csv", "CRN,Restrictions", "10001,"))
    assert len(section(first.term).restrictions) == 2
    updated(tmp_path, erase=True)
    assert not section(first.term).restrictions


def test_a_cell_that_is_not_read_erases_nothing(tmp_path: Path) -> None:
    first = imported(full().write(tmp_path))
    before = facts(first.term)
    cells = {"prerequisites": "MAT 100", "topic": "Graphs", "wait_capacity": "abc"}
    for header, cell in cells.items():
        files = only(tmp_path, "sections.csv", f"crn,{header}", f"10001,{cell}")
        _, report = updated(files, erase=True)
        assert facts(first.term) == before
        assert {each.column for each in report.notes if each.line} == {header}


def test_blank_levels_erase_only_the_levels(tmp_path: Path) -> None:
    campus = full().restriction("may_not_be", "classification", "Freshman")
    first = imported(campus.write(tmp_path))
    updated(only(tmp_path, "sections.csv", "crn,levels", "10001,"))
    assert len(section(first.term).restrictions) == 2
    updated(tmp_path, erase=True)
    assert [kind for _rule, kind, _value in section(first.term).restrictions] == ["classification"]


def test_a_file_without_courses_changes_the_sections_that_it_names(tmp_path: Path) -> None:
    first = imported(full().write(tmp_path))
    before = facts(first.term)
    _, report = updated(only(tmp_path, "changes.csv", "CRN,Cap", "10001,45", "99999,20"))
    assert section(first.term).capacity == 45
    assert facts(first.term) == before
    assert [(each.key, each.kind, each.column) for each in report.notes] == [
        ("99999", "section_unknown", "CRN")
    ]


def test_the_file_of_prerequisites_erases_those_that_it_lacks(tmp_path: Path) -> None:
    first = imported(full().write(tmp_path))
    only(tmp_path, "sections.csv", "crn,course_id", "10001,CSC-225")
    (tmp_path / "prerequisites.csv").write_text("crn,corequisites\n")
    updated(tmp_path, erase=True)
    assert section(first.term).prerequisites
    (tmp_path / "prerequisites.csv").write_text("crn,prerequisites\n")
    updated(tmp_path)
    assert section(first.term).prerequisites
    updated(tmp_path, erase=True)
    assert section(first.term).prerequisites is None


@pytest.mark.parametrize("erase", [False, True])
def test_prerequisites_that_cannot_be_read_leave_those_of_the_section(
    tmp_path: Path, *, erase: bool
) -> None:
    entries: dict[str, Any] = {
        "10001": {"prerequisites": ["CSC ???"]},
        "10002": {"prerequisites": {"type": "xor"}, "corequisites": None},
        "10003": "CSC 225",
    }
    campus = full().section("10002").section("10003")
    campus.prerequisites = dict.fromkeys(entries, campus.prerequisites["10001"])
    first = imported(campus.write(tmp_path))
    campus.prerequisites = entries
    _, report = updated(campus.write(tmp_path), erase=erase)
    for crn in entries:
        assert section(first.term, crn).prerequisites == {"course": "MAT-100"}
    refused = sorted((note.action, note.key) for note in report.of("no_tree"))
    assert refused == [("refused", crn) for crn in entries]


def test_an_entry_changes_only_the_keys_that_it_has(tmp_path: Path) -> None:
    first = imported(full().write(tmp_path))
    campus = full()
    campus.prerequisites = {"10001": {"corequisites": ["PHY 1"]}}
    updated(campus.write(tmp_path))
    found = section(first.term)
    assert (found.prerequisites, found.corequisites) == (
        {"course": "MAT-100"},
        {"course": "PHY-1"},
    )
    campus.prerequisites = {"10001": {"prerequisites": None}}
    updated(campus.write(tmp_path))
    found = section(first.term)
    assert (found.prerequisites, found.corequisites) == (None, {"course": "PHY-1"})


def test_missing_columns_and_files_erase_nothing(tmp_path: Path) -> None:
    first = imported(full().write(tmp_path))
    before = facts(first.term)
    for header, row in (
        ("crn,course_id,note", "10001,CSC-225,Bring a laptop."),
        ("crn,course_id", "10001,CSC-225"),
    ):
        only(tmp_path, "sections.csv", header, row)
        (tmp_path / "courses.csv").write_text("course_id\nCSC-225\n")
        (tmp_path / "departments.csv").write_text("dept_code,dept_name\nCSC,Computing\n")
        assert updated(tmp_path, erase=True)[0] == {}
        assert facts(first.term) == before
    (tmp_path / "sections.csv").write_text("crn,course_id,note\n10001,CSC-225,\n")
    updated(tmp_path, erase=True)
    assert facts(first.term) == before | {"note": ""}


def test_levels_alone_leave_the_other_restrictions(tmp_path: Path) -> None:
    made = full().restriction("may_not_be", "major", "Physics")
    first = imported(made.write(tmp_path))
    row = "10001,CSC-225,Undergraduate"
    updated(only(tmp_path, "sections.csv", "crn,course_id,levels", row))
    assert set(section(first.term).restrictions) == {
        ("may_not_be", "major", "Physics"),
        ("must_be", "level", "Undergraduate"),
    }


@pytest.mark.parametrize("erase", [False, True], ids=["as it is", "blank cells erase"])
def test_a_blank_capacity_leaves_the_seats_of_a_section_as_they_are(
    tmp_path: Path, *, erase: bool
) -> None:
    """No number means no seats: to offer none, the registrar writes 0."""
    first = imported(full().write(tmp_path))
    before, seats = facts(first.term), section(first.term).capacity
    blank = full()
    blank.rows["sections.csv"][0] |= {"capacity": "", "enrolled": "3"}
    changes, _ = updated(blank.write(tmp_path), erase=erase)
    assert section(first.term).capacity == seats > 0
    assert facts(first.term) == before
    assert "section" not in changes
    blank.rows["sections.csv"][0]["capacity"] = "0"
    updated(blank.write(tmp_path), erase=erase)
    assert section(first.term).capacity == 0


def test_blank_names_never_erase_a_name(tmp_path: Path) -> None:
    first = imported(full().write(tmp_path))
    blank = Campus(section_title="", section="")
    blank.rows["courses.csv"][0]["title"] = ""
    updated(blank.write(tmp_path), erase=True)
    found = section(first.term)
    assert (found.title, found.course_title, found.number) == ("Algorithms", "Algorithms", "01")


def test_a_refused_row_is_not_taken_for_a_section_to_remove(tmp_path: Path) -> None:
    imported(full().section("10002").write(tmp_path))
    campus = Campus(capacity="abc").section("10002", capacity="45")
    changes, _ = updated(campus.write(tmp_path), remove=True, cancels=True)
    assert changes["section"] == {"changed": 1}
    assert "teaching" not in changes


def test_another_terms_import_changes_no_course_that_this_term_offers(tmp_path: Path) -> None:
    first = imported(full().write(tmp_path))
    before = facts(first.term)
    campus = full()
    campus.rows["courses.csv"][0] |= {"title": "Renamed", "credits": "9", "description": "New"}
    campus.rows["departments.csv"][0] |= {"dept_name": "Renamed", "school": "Renamed"}
    second = imported(campus.write(tmp_path), "Fall 2021")
    assert facts(first.term) == before
    [note] = second.report.of("course_shared")
    assert (note.value, note.why.endswith("It stays “Algorithms”.")) == ("Renamed", True)


def test_a_department_of_another_name_than_the_subject_stays(tmp_path: Path) -> None:
    campus = full()
    campus.rows["courses.csv"][0]["dept_code"] = "COMP"
    campus.rows["departments.csv"][0]["dept_code"] = "COMP"
    first = imported(campus.write(tmp_path))
    for name in (*REST, "courses.csv"):
        (tmp_path / name).unlink()
    changes, _ = updated(tmp_path)
    assert section(first.term).instructors == ("Okafor",)
    assert not {"department", "teacher"} & {*changes}


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("CRN,Subj,Crse,Rem", "10001,CSC,225,4"),
        ("CRN,Subj,Crse,Cap,WL Cap", "10001,CSC,225,,abc"),
        ("CRN,Subj,Crse,Act", "10001,CSC,225,12"),
        ("CRN,Subj,Crse,Cap", "10001,CSC,225,-"),
        ("CRN,Subj,Crse,Cap", "10001,CSC,225,TBA"),
        ("CRN,Subj,Crse,Cap,Rem,Act", "10001,CSC,225,,5,n/a"),
    ],
)
def test_seats_that_a_file_does_not_name_stay(tmp_path: Path, header: str, row: str) -> None:
    first = imported(full().write(tmp_path))
    before = section(first.term)
    only(tmp_path, "sections.csv", header, row, "10099,CSC,225,,")
    for erase in (False, True):
        _, report = updated(tmp_path, erase=erase)
        assert "no_seats" not in report.found
    after = section(first.term)
    assert (after.capacity, after.waitlist) == (before.capacity, before.waitlist)


def test_an_update_without_capacities_adds_no_section(tmp_path: Path) -> None:
    imported(full().write(tmp_path))
    (tmp_path / "sections.csv").write_text(
        "CRN,Course,Section\n10001,CSC 225,01\n10002,CSC 225,02\n"
    )
    changes, report = updated(tmp_path)
    assert "added" not in changes.get("section", {})
    [note] = report.of("unreadable")
    assert (note.key, note.column) == ("10002", "capacity")


def test_a_consent_that_cannot_be_read_never_opens_a_section(
    tmp_path: Path, backend: Backend
) -> None:
    assert backend
    term = imported(full().write(tmp_path)).term
    assert not section(term).consent
    for written, needed in (("D", False), ("Y", True), ("D", True)):
        row = f"10001,CSC,225,{written}"
        updated(only(tmp_path, "sections.csv", "CRN,Subj,Crse,Consent", row))
        assert section(term).consent == needed
    updated(only(tmp_path, "sections.csv", "CRN,Subj,Crse,Cap,Consent", "10002,CSC,225,45,D"))
    with transaction() as session:
        assert read_catalog(session, term).sections[-1].consent


UNCLEAR = "Ask the dean. Must be enrolled in one of the following Levels: Undergraduate"


@pytest.mark.parametrize("erase", [False, True])
@pytest.mark.parametrize("in_rows", [False, True], ids=["a cell", "rows"])
def test_restrictions_that_are_not_read_whole_leave_those_of_the_section(
    tmp_path: Path, *, in_rows: bool, erase: bool
) -> None:
    first = imported(full().write(tmp_path))
    before = section(first.term).restrictions
    campus = full()
    campus.rows["restrictions.csv"] = []
    if in_rows:
        campus.restriction("must_be", "level", "Undergraduate").restriction("must_be", "mood", "X")
        campus.write(tmp_path)
    else:
        campus.write(tmp_path)
        (tmp_path / "restrictions.csv").unlink()
        line = f'10001,CSC-225,45,"{UNCLEAR}"\n'
        (tmp_path / "sections.csv").write_text(f"crn,course_id,capacity,restrictions\n{line}")
    _, report = updated(tmp_path, erase=erase)
    assert section(first.term).restrictions == before
    assert section(first.term).status == "OPEN"
    [note] = report.of("unreadable" if in_rows else "restriction_unclear")
    assert note.action == "refused"


@pytest.mark.parametrize("unread", ["restrictions", "prerequisites"])
def test_a_new_section_whose_rules_are_not_read_whole_is_a_draft(
    tmp_path: Path, unread: str
) -> None:
    campus = full().section("10002")
    if unread == "restrictions":
        campus.restriction("must_be", "mood", "X")
    else:
        campus.prerequisites = {"10001": {"prerequisites": ["CSC ???"]}}
    first = imported(campus.write(tmp_path))
    assert (section(first.term).status, section(first.term, "10002").status) == ("NEW", "OPEN")
    [level] = section(first.term).restrictions
    assert level == ("must_be", "level", "Graduate")  # what was read


@pytest.mark.parametrize("erase", [False, True])
def test_credits_that_cannot_be_read_leave_those_of_the_section(
    tmp_path: Path, *, erase: bool
) -> None:
    first = imported(full().write(tmp_path))
    (tmp_path / "sections.csv").write_text("crn,course_id,credits\n10001,CSC-225,2\n")
    updated(tmp_path)
    (tmp_path / "sections.csv").write_text("crn,course_id,credits\n10001,CSC-225,lots\n")
    _, report = updated(tmp_path, erase=erase)
    assert section(first.term).credits_min == 2
    [note] = report.of("credits_unreadable")
    assert (note.column, note.value, note.action) == ("credits", "lots", "refused")
    assert not report.of("credits_missing")
