"""A semester in one table, as Banner writes it: all sections, instructors and restrictions."""

import io
import zipfile
from collections.abc import Callable, Iterable
from datetime import time
from pathlib import Path
from time import process_time
from typing import Any

import openpyxl
import pytest

from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.findings import Action
from portal.exchange.importing.report import Report, summary
from tests.exchange import whole_semesters
from tests.exchange.campus import Records, kinds, read
from tests.exchange.class_schedules import (
    ALGORITHMS,
    HEADINGS,
    LAB,
    Line,
    banner_lines,
    write_csv,
    write_ods,
    write_xlsx,
)
from tests.soak import SOAK


def schedule(folder: Path, *lines: Line) -> tuple[Records, dict[str, int]]:
    records, report = read(write_csv(folder, lines))
    return records, kinds(report)


def restricted(folder: Path, texts: dict[str, str]) -> tuple[Records, Report, dict[str, list[str]]]:
    """Read sections with these restrictions, and return the values that were read of each."""
    lines = [ALGORITHMS | {"CRN": crn, "Restrictions": each} for crn, each in texts.items()]
    records, report = read(write_csv(folder, lines))
    found = {
        crn: [value for *_, value in each["restrictions"]] for crn, each in records.sections.items()
    }
    return records, report, found


def test_one_table_has_sections_meetings_instructors_and_courses(tmp_path: Path) -> None:
    records, noted = schedule(tmp_path, ALGORITHMS, LAB)
    section = records.sections["20551"]
    assert (section["course"], section["number"]) == ("ED-D-301", "A01")
    assert (section["capacity"], section["prior"], section["waitlist"]) == (120, 118, 50)
    assert [(each[1], each[2], each[4], each[6]) for each in section["meetings"]] == [
        (0b10110, "14:30:00", "2021-01-06", "Elliott 167"),
        (0b00001, "10:00:00", "2021-01-06", ""),
    ]
    assert records.instructors == ["Ada Byron", "Ben Roe"]
    assert records.kinds["course"]["ED-D-301"]["title"] == "Algorithms"
    assert records.kinds["subject"] == {"ED-D": {"name": "ED-D", "department": "ED-D"}}
    assert noted == {"department_added": 1, "primary_instructor": 1}


def test_lines_are_counted_as_a_spreadsheet_counts_rows(tmp_path: Path) -> None:
    sentence = "Must be enrolled in one of the following Levels:\n      Undergraduate (UG)"
    unreadable = ALGORITHMS | {"CRN": "20552", "Sec": "A02", "Cap": "many"}
    lines = [ALGORITHMS | {"Restrictions": sentence}, {}, unreadable]
    _records, report = read(write_csv(tmp_path, lines, "Classes"))
    [note] = report.of("unreadable")
    assert (note.key, note.line) == ("20552", 5)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            (
                "Must be enrolled in one of the following Levels:\n      Undergraduate (UG)\n"
                "May not be enrolled in one of the following Classifications:\n"
                " Freshman\n Sophomore"
            ),
            [
                ["may_not_be", "classification", "Freshman"],
                ["may_not_be", "classification", "Sophomore"],
                ["must_be", "level", "Undergraduate"],
            ],
        ),
        (
            (
                "Must be enrolled in one of the following Fields of Study (Major, Minor, or"
                " Concentration):     Mathematics     Physics, Applied"
            ),
            [
                ["must_be", "field_of_study", "Mathematics"],
                ["must_be", "field_of_study", "Physics, Applied"],
            ],
        ),
        (
            "Cannot be enrolled in one of the following Programs: BS CS; BA Math",
            [["may_not_be", "program", "BA Math"], ["may_not_be", "program", "BS CS"]],
        ),
        (
            "Must be enrolled in one of the following Levels: Undergraduate, Graduate",
            [["must_be", "level", "Graduate"], ["must_be", "level", "Undergraduate"]],
        ),
        (
            "Must be enrolled in one of the following Majors:\nArt (ART), Music (MUS)\nPhysics",
            [["must_be", "major", each] for each in ("Art", "Music", "Physics")],
        ),
        (
            "must be level: Graduate\nmay not be major: Biology",
            [["may_not_be", "major", "Biology"], ["must_be", "level", "Graduate"]],
        ),
        (
            "Must be enrolled in one of the following Majors: Art (ART), Music (MUS)",
            [["must_be", "major", "Art"], ["must_be", "major", "Music"]],
        ),
    ],
)
def test_sentences_become_restrictions(tmp_path: Path, text: str, expected: list[Any]) -> None:
    records, noted = schedule(tmp_path, ALGORITHMS | {"Restrictions": text})
    assert records.sections["20551"]["restrictions"] == expected
    assert "restriction_unclear" not in noted


MAJORS = "Must be enrolled in one of the following Majors:"
MEDIA = "Elect Media, Arts, & Comm"


def test_values_with_commas_or_an_or_are_one_unless_each_is_known(tmp_path: Path) -> None:
    texts = {
        "1": "Must be enrolled in one of the following Colleges: Humanities, Arts and Sciences",
        "2": f"{MAJORS}\n{MEDIA} (EMAC)\nMusic\nArt",
        "3": f"{MAJORS} {MEDIA}",  # known from the section above
        "4": f"{MAJORS} Art, {MEDIA}, Music",
        "5": f"{MAJORS} Art, Dance",
        "6": f"{MAJORS} Art, Music",
        "7": f"{MAJORS}\nArt, Music",
        "8": f"{MAJORS}\n{MEDIA}",
        "9": f"{MAJORS}\nBiology, Chemistry",
        "10": f"{MAJORS}\nPhysics, Applied (PHA)",
        "11": f"{MAJORS}\nGeology; Earth  Science",
        "12": f"{MAJORS}\nBiology, Chemistry",
        "13": f"{MAJORS} Art or Music",
        "14": f"{MAJORS} Art, Music, or Earth Science",
        "15": f"{MAJORS}\nArt or Music\nGeology",
        "16": f"{MAJORS} Film (FLM) or Law (LAW)",
        "17": f"{MAJORS} Art or Dance",
        "18": f"{MAJORS}\nDance or Theater; Music",
    }
    records, report, found = restricted(tmp_path, texts)
    assert found == {
        "1": ["Humanities, Arts and Sciences"],
        "2": ["Art", MEDIA, "Music"],
        "3": [MEDIA],
        "4": ["Art", MEDIA, "Music"],
        "5": ["Art, Dance"],
        "6": ["Art", "Music"],
        "7": ["Art", "Music"],
        "8": [MEDIA],
        "9": ["Biology, Chemistry"],
        "10": ["Physics, Applied"],
        "11": ["Earth Science", "Geology"],
        "12": ["Biology, Chemistry"],
        "13": ["Art", "Music"],
        "14": ["Art", "Earth Science", "Music"],
        "15": ["Art", "Geology", "Music"],
        "16": ["Film", "Law"],
        "17": ["Art or Dance"],
        "18": ["Dance or Theater", "Music"],
    }
    drafts = {crn for crn, each in records.sections.items() if each["status"] == "NEW"}
    assert drafts == {"1", "5", "9", "12", "17", "18"}
    majors = {each["name"] for each in records.kinds["subject"].values()}
    assert {"Film", MEDIA} <= majors
    assert not {"Art, Dance", "Art or Dance"} & majors
    assert all(note.action == "guessed" for note in report.of("restriction_commas"))
    assert {note.key: note.more for note in report.of("restriction_commas")} == {
        "1": doubt("Humanities, Arts and Sciences", "“Humanities”; “Arts”; “Sciences”"),
        "5": doubt("Art, Dance", "“Art”; “Dance”"),
        "9": doubt("Biology, Chemistry", "“Biology”; “Chemistry”", rows=2),
        "17": doubt("Art or Dance", "“Art”; “Dance”"),
        "18": doubt("Dance or Theater", "“Dance”; “Theater”"),
    }


def test_each_separator_and_sentence_of_a_restriction_is_asked_about(tmp_path: Path) -> None:
    known = f"{MAJORS}\nBiology\nChemistry\nEcology, Evolution and Behavior (EEB)"
    texts = {
        "1": known,
        **{
            f"2{at}": f"{MAJORS} Biology{between}Chemistry"
            for at, between in enumerate(
                (" and ", "/", " & ", " | ", "|", "; ", ", and ", ", ", " or ")
            )
        },
        "30": f"{MAJORS}\nBiology, Chemistry\nEcology, Evolution and Behavior",
        "31": f"{MAJORS} Biology.",
        "40": f"{MAJORS}\nBiology and Law",
        "41": f"{MAJORS}\nLaw/Dance",
        "42": f"{MAJORS} Biology - Chemistry",
        "43": f"{MAJORS} Biology. Chemistry",
        "44": f"{MAJORS} Honors.",
        "50": f"{MAJORS}\nBiology\nApproval of the dean required.",
        "51": f"{MAJORS}\nInstructor or dean must agree",
        "52": f"{MAJORS}\nAll except Law",
        "60": f"{MAJORS} Philosophy",
        "61": f"{MAJORS} Civil & Mining Engineering",
    }
    records, report, found = restricted(tmp_path, texts)
    both = ["Biology", "Chemistry"]
    assert found == {
        "1": [*both, "Ecology, Evolution and Behavior"],
        **{crn: both for crn in texts if crn.startswith("2")},
        "30": [*both, "Ecology, Evolution and Behavior"],
        "31": ["Biology"],
        "40": ["Biology and Law"],
        "41": ["Law/Dance"],
        "42": ["Biology - Chemistry"],
        "43": ["Biology. Chemistry"],
        "44": ["Honors."],
        "50": ["Biology"],
        "51": [],
        "52": [],
        "60": ["Philosophy"],
        "61": ["Civil & Mining Engineering"],
    }
    drafts = {crn for crn, each in records.sections.items() if each["status"] == "NEW"}
    assert drafts == {"40", "41", "42", "43", "44", "50", "51", "52"}
    majors = {each["name"] for each in records.kinds["subject"].values()}
    new = {"Philosophy", "Civil & Mining Engineering"}
    assert majors == {"ED-D", *both, "Ecology, Evolution and Behavior", *new}
    assert {note.key for note in report.of("restriction_commas")} == {
        *("40", "41", "42", "43", "44")
    }
    assert {note.key for note in report.of("restriction_unclear")} == {"50", "51", "52"}


@pytest.mark.parametrize(
    "text",
    [
        f"{MAJORS}\n Biology\n Chemistry\nInstructor permission required.",
        f"{MAJORS}\n Permission of the instructor required\n Biology\n Chemistry",
        f"{MAJORS} Biology; Chemistry; Instructor’s consent",
        f"Consent of instructor is required. {MAJORS}    Biology    Chemistry",
    ],
)
def test_a_sentence_about_the_instructors_consent_is_that_rule(tmp_path: Path, text: str) -> None:
    records, report = read(write_csv(tmp_path, [ALGORITHMS | {"Restrictions": text}]))
    section = records.sections["20551"]
    assert [value for *_, value in section["restrictions"]] == ["Biology", "Chemistry"]
    assert (section["consent"], section["status"]) == (True, "OPEN")
    assert {each["name"] for each in records.kinds["subject"].values()} == {
        *("ED-D", "Biology", "Chemistry")
    }
    assert report.of("restriction_unclear") == []


def doubt(one: str, several: str, rows: int = 1) -> str:
    return f"Read as one value: “{one}”. It may also be several: {several}. Rows: {rows}."


def test_a_sentence_that_is_not_understood_is_shown_and_asked_about(tmp_path: Path) -> None:
    text = (
        "Must be enrolled in one of the following Levels: Graduate\n"
        "Must be assigned one of the following Student Attributes: Honors\n"
        "Special approval of the dean"
    )
    records, report = read(write_csv(tmp_path, [ALGORITHMS | {"Restrictions": text}]))
    assert records.sections["20551"]["restrictions"] == [["must_be", "level", "Graduate"]]
    [note] = report.of("restriction_unclear")
    assert (note.action, note.line, note.key) == ("refused", 2, "20551")
    assert "Honors" in note.why
    assert "approval of the dean" in note.why


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ben Roe, Ada Byron (P)", ["Ada Byron", "Ben Roe"]),
        ("Byron, Ada (P)", ["Byron, Ada"]),
        ("Byron, Ada (P), Roe, Ben", ["Byron, Ada", "Roe, Ben"]),
        ("Byron, Ada; Roe, Ben", ["Byron, Ada", "Roe, Ben"]),
        ("Byron/Roe", ["Byron", "Roe"]),
        ("Turner (P), Hulbert", ["Hulbert", "Turner"]),
        ("Jane Smith (P), Bo Li", ["Bo Li", "Jane Smith"]),
        ("Smith, Jane (P), Doe", ["Doe", "Smith, Jane"]),
        ("Byron, Ada, Jr. (P)", ["Byron, Ada, Jr."]),
        ("Byron, Jr., Ada (P), Roe, Ben", ["Byron, Jr., Ada", "Roe, Ben"]),
        ("Byron, Ada, III (P); Roe, Ben, PhD", ["Byron, Ada, III", "Roe, Ben, PhD"]),
        ("Ada Byron, Ph.D. (P), Ben Roe, MD", ["Ada Byron, Ph.D.", "Ben Roe, MD"]),
        ("Ada Byron, Jr., PhD", ["Ada Byron, Jr., PhD"]),
        ("Turner (P), Jr., Hulbert, Sr.", ["Hulbert, Sr.", "Turner, Jr."]),
        ("Rahman, Md (P), Roe, Ben", ["Rahman, Md", "Roe, Ben"]),  # a first name
        ("IV", ["IV"]),
        ("Staff", []),
        ("Ada Byron, Staff", ["Ada Byron"]),
        ("Staff, TBA", []),
        ("Staff (P)", []),
    ],
)
def test_all_instructors_of_a_cell_are_read(tmp_path: Path, text: str, expected: list[str]) -> None:
    records, _ = schedule(tmp_path, ALGORITHMS | {"Instructor": text})
    assert sorted(records.instructors) == expected


def test_a_suffix_of_a_name_leaves_no_doubt(tmp_path: Path) -> None:
    names = ("Byron, Ada, Jr. (P)", "Roe, Ben, II", "Ada Turner, MD")
    lines = [ALGORITHMS | {"CRN": f"{at}", "Instructor": name} for at, name in enumerate(names)]
    records, report = read(write_csv(tmp_path, lines))
    assert sorted(records.instructors) == ["Ada Turner, MD", "Byron, Ada, Jr.", "Roe, Ben, II"]
    assert report.of("instructors_unclear") == []


def test_titles_above_the_header_and_a_date_without_year_are_no_obstacle(tmp_path: Path) -> None:
    lines = [ALGORITHMS | {"Date (MM/DD)": "12/28-01/15"}]
    folder = write_csv(tmp_path, lines, "", "Class Schedule Listing", "Fall 2021")
    [meeting] = read(folder, term="Fall 2021")[0].sections["20551"]["meetings"]
    assert meeting[4:6] == ["2021-12-28", "2022-01-15"]


def test_a_workbook_is_read_with_its_numbers_and_times(tmp_path: Path) -> None:
    numbers = {"CRN": 20551, "Cap": 120.0, "Cred": 1.5, "Act": 118, "Rem": 2}
    records, report = read(write_xlsx(tmp_path, [ALGORITHMS | numbers, {}, LAB]).parent)
    assert records.sections["20551"]["capacity"] == 120
    assert len(records.sections["20551"]["meetings"]) == 2
    assert kinds(report) == {"department_added": 1, "primary_instructor": 1}


def test_each_sheet_of_a_workbook_is_a_table(tmp_path: Path) -> None:
    sheets = {
        "Courses": [["Course code", "Title"], ["ED-D 301", "Algorithms"]],
        "Sections": [["CRN", "Course", "Cap", "Credits"], ["20551", "ED-D 301", "30", "3"]],
        "Meetings": [
            ["CRN", "Days", "Begin time", "End time", "Start date", "End date"],
            ["20551", "MW", "10:00", "11:20", "2021-01-06", "2021-04-30"],
        ],
    }
    records, report = read(write_ods(tmp_path, sheets))
    assert records.sections["20551"]["capacity"] == 30
    [note] = report.of("department_added")
    assert (note.file, note.line) == ("semester.ods (Courses)", 2)
    assert [each[2] for each in records.sections["20551"]["meetings"]] == [f"{time(10)}"]


def test_a_sheet_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    sheets = {"Sections": [["CRN", "Course", "Course"], ["1", "ED-D 301", "ED-D 302"]]}
    write_ods(tmp_path, sheets)
    with pytest.raises(ImportFailedError, match=r"semester\.ods, line 1"):
        read(tmp_path)


def test_a_workbook_of_too_many_sheets_is_refused(tmp_path: Path) -> None:
    write_ods(tmp_path, {f"Sheet {number}": [["CRN"]] for number in range(200)})
    with pytest.raises(ImportFailedError, match="is too large for a workbook"):
        read(tmp_path)


def test_findings_in_a_workbook_name_its_rows(tmp_path: Path) -> None:
    rules = "Must be enrolled in one of the following Levels:\nGraduate\nUndergraduate"
    lines = [ALGORITHMS | {"Restrictions": rules}, {}, ALGORITHMS | {"CRN": "20559", "Cap": "abc"}]
    records, report = read(write_xlsx(tmp_path, lines).parent)
    [note] = report.of("unreadable")
    assert (note.file, note.line) == ("Class Schedule.xlsx", 4)
    assert [value for _rule, _kind, value in records.sections["20551"]["restrictions"]] == [
        "Graduate",
        "Undergraduate",
    ]


@pytest.mark.parametrize("name", ["book.xlsx", "book.ods"])
def test_a_damaged_workbook_is_refused_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\3\4 no workbook")
    with pytest.raises(ImportFailedError, match=f"{name} is not a readable workbook"):
        read(tmp_path)


def changed(content: bytes, part: str, before: str, after: str) -> bytes:
    """A workbook with another text in one of its parts."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for entry in old.infolist():
            text = old.read(entry)
            assert entry.filename != part or before.encode() in text
            same = entry.filename != part
            new.writestr(entry, text if same else text.replace(before.encode(), after.encode()))
    return out.getvalue()


def test_cells_far_apart_are_too_much(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path, [ALGORITHMS])
    far = changed(path.read_bytes(), "xl/worksheets/sheet1.xml", "O2", "XFD1048576")
    path.write_bytes(far)
    with pytest.raises(ImportFailedError, match="is too large for a workbook"):
        read(tmp_path)


def test_a_cell_that_is_repeated_without_end_is_too_much(tmp_path: Path) -> None:
    path = write_ods(tmp_path, {"Sections": [["CRN"]]}) / "semester.ods"
    repeated = '<table:table-cell table:number-columns-repeated="16000" '
    many = changed(path.read_bytes(), "content.xml", "<table:table-cell ", repeated)
    rows = '<table:table-row table:number-rows-repeated="100000">'
    path.write_bytes(changed(many, "content.xml", "<table:table-row>", rows))
    with pytest.raises(ImportFailedError, match=r"semester\.ods is (?:too large|not a readable)"):
        read(tmp_path)


@pytest.mark.parametrize(
    "cells",
    [
        {"Time": "1" + " " * 100_000 + "2"},
        {"Date (MM/DD)": "1" + " " * 100_000 + "2"},
        {"Restrictions": "must be following " * 1_000},
        {"Restrictions": "must be following " * 5_000},
        {
            "Restrictions": f"{MAJORS}\n A\n A, A\n{MAJORS} {'A, ' * 6_000}B",
        },
        {"Restrictions": "Must be enrolled in one of the following " + "(" * 15_000},
        {"Instructor": ", ".join(["A B"] * 20_000)},
        {"Instructor": "x y, b c" + " " * 100_000},
    ],
)
def test_long_cells_take_no_longer_than_others(tmp_path: Path, cells: dict[str, str]) -> None:
    write_csv(tmp_path, [ALGORITHMS, ALGORITHMS | {"CRN": "20552"} | cells])
    began = process_time()
    read(tmp_path)
    assert process_time() - began < 30  # minutes, where a pattern tries all ways to match


def test_a_schedule_of_two_terms_gives_the_one_that_most_sections_are_of(tmp_path: Path) -> None:
    other = ALGORITHMS | {"Term": "Fall 2020", "Subj": "ART", "Days": "S", "Instructor": "Else"}
    lines = [
        other,
        *({"Term": "Spring 2021", **ALGORITHMS, "CRN": crn} for crn in ("20551", "20552", "20553")),
        LAB,
        other | {"CRN": "20552"},
    ]
    records, report = read(write_csv(tmp_path, lines, headings=("Term", *HEADINGS)))
    assert sorted(records.sections) == ["20551", "20552", "20553"]
    assert {each["course"] for each in records.sections.values()} == {"ED-D-301"}
    assert [len(records.sections[crn]["meetings"]) for crn in ("20551", "20553")] == [1, 2]
    assert "Else" not in records.instructors
    assert kinds(report)["other_term"] == 2


def test_another_section_under_the_same_number_is_refused_and_named(tmp_path: Path) -> None:
    other = ALGORITHMS | {"Subj": "ART", "Crse": "101", "Instructor": "Else"}
    lines = [ALGORITHMS, other, LAB, other | {"CRN": ""}]
    records, report = read(write_csv(tmp_path, lines))
    assert list(records.sections) == ["20551"]
    assert "Else" not in records.instructors
    [note] = report.of("crn_taken")
    assert (note.line, note.value) == (3, "20551")
    assert note.more == "This row: ART 101 A01. The earlier one: ED-D 301 A01."
    assert "is not imported" in note.why
    assert len(records.sections["20551"]["meetings"]) == 1
    assert [note.line for note in report.of("no_key")] == [4, 5]


def test_rows_of_a_section_that_differ_are_named_and_none_is_lost(tmp_path: Path) -> None:
    again = {"CRN": "20551", "Cap": "60"} | LAB
    other = ALGORITHMS | {"CRN": "20552", "Sec": "A02", "Cap": "", "Restrictions": ""}
    level = "Must be enrolled in one of the following Levels: Graduate"
    late = {"CRN": "20552", "Cap": "77", "Act": "0", "Rem": "77", "Restrictions": level}
    records, report = read(write_csv(tmp_path, [ALGORITHMS, again, other, late]))
    assert records.sections["20551"]["capacity"] == 120
    assert records.sections["20552"]["capacity"] == 77
    assert records.sections["20552"]["restrictions"] == [["must_be", "level", "Graduate"]]
    found = report.of("rows_disagree")
    assert [(each.line, each.column, each.value, each.more) for each in found] == [
        (3, "Cap", "60", "The other has “120”."),
        (5, "Act", "0", "The other has “118”."),
        (5, "Rem", "77", "The other has “2”."),
    ]


def test_what_only_a_further_row_says_of_a_section_is_not_lost(tmp_path: Path) -> None:
    headings = (*HEADINGS, "Levels", "Campus", "Note", "Consent", "Prerequisites")
    first = ALGORITHMS | {"Consent": "N", "Prerequisites": "CSC 110"}
    rules = {"Levels": "Graduate", "Consent": "Y", "Prerequisites": "MAT 100"}
    further = LAB | {"CRN": "20551", "Campus": "North", "Note": "Bring a laptop."} | rules
    records, report = read(write_csv(tmp_path, [first, further], headings=headings))
    section = records.sections["20551"]
    assert section["restrictions"] == [["must_be", "level", "Graduate"]]
    assert (section["campus"], section["note"]) == ("North", "Bring a laptop.")
    assert section["consent"] is True
    assert section["prerequisites"] == {"all": [{"course": "CSC-110"}, {"course": "MAT-100"}]}
    assert {each.column for each in report.of("rows_joined")} == {"Consent", "Prerequisites"}


def test_different_restrictions_of_the_rows_of_a_section_all_apply(tmp_path: Path) -> None:
    sentence = "Must be enrolled in one of the following {}: {}"
    first = ALGORITHMS | {"Restrictions": sentence.format("Levels", "Graduate")}
    further = LAB | {"CRN": "20551", "Restrictions": sentence.format("Majors", "Physics")}
    records, _report = read(write_csv(tmp_path, [first, further]))
    assert records.sections["20551"]["restrictions"] == [
        ["must_be", "level", "Graduate"],
        ["must_be", "major", "Physics"],
    ]


def test_marks_between_pairs_of_words_tell_that_they_are_pairs(tmp_path: Path) -> None:
    others = ALGORITHMS | {"CRN": "20552", "Sec": "A02", "Instructor": "Ann Lee (P), Sam Orr"}
    more = others | {"CRN": "20553", "Sec": "A03", "Instructor": "Sam Orr (P), Ann Lee"}
    single = ALGORITHMS | {"Instructor": "Smith, John (P), Doe, Jane"}
    records, report = read(write_csv(tmp_path, [single, others, more]))
    assert {*records.instructors} == {"Ann Lee", "Doe, Jane", "Sam Orr", "Smith, John"}
    assert [each.more for each in report.of("instructors_unclear")] == [
        "Read as: Smith, John; Doe, Jane."
    ]


def test_a_further_meeting_is_of_its_own_term(tmp_path: Path) -> None:
    ours = {"Term": "Spring 2021", **ALGORITHMS}
    lines = [ours, ours | {"CRN": "20552"}, LAB | {"Term": "Fall 2020"}, LAB | {"CRN": "20551"}]
    records, report = read(write_csv(tmp_path, lines, headings=("Term", *HEADINGS)))
    assert [len(records.sections[crn]["meetings"]) for crn in ("20551", "20552")] == [2, 1]
    assert [note.line for note in report.of("no_key")] == [4]


def test_c_beside_open_sections_is_not_taken_for_canceled(tmp_path: Path) -> None:
    lines = [ALGORITHMS | {"Stat": "C"}, ALGORITHMS | {"CRN": "20552", "Stat": "O"}]
    records, report = read(write_csv(tmp_path, lines, headings=(*HEADINGS, "Stat")))
    assert list(records.sections) == ["20551", "20552"]
    assert [note.line for note in report.of("status")] == [2]


@pytest.mark.parametrize(
    ("status", "offered"), [("A", True), ("C", False), ("Canceled", False), ("CANC", False)]
)
def test_a_canceled_section_is_not_imported(tmp_path: Path, status: str, *, offered: bool) -> None:
    lines = [ALGORITHMS | {"Stat": status}, ALGORITHMS | {"CRN": "20552", "Stat": "A"}, LAB]
    records, report = read(write_csv(tmp_path, lines, headings=(*HEADINGS, "Stat")))
    assert ("20551" in records.sections) == offered
    assert len(report.of("canceled")) == (not offered)


@pytest.mark.parametrize("status", ["Cancelled - low enrollment", "Not canceled", "Cancelled?"])
def test_a_new_section_that_is_not_plainly_canceled_is_a_draft(tmp_path: Path, status: str) -> None:
    lines = [ALGORITHMS | {"Stat": status}]
    records, report = read(write_csv(tmp_path, lines, headings=(*HEADINGS, "Stat")))
    assert records.sections["20551"]["status"] == "NEW"
    assert [note.value for note in report.of("status")] == [status]


def test_the_files_other_cells_tell_how_names_are_written(tmp_path: Path) -> None:
    lines = [
        ALGORITHMS | {"CRN": "1", "Instructor": "Van Dyke, Mary Ann (P)"},
        ALGORITHMS | {"CRN": "2", "Instructor": "Byron, Ada"},
    ]
    records, report = read(write_csv(tmp_path, lines))
    assert sorted(records.instructors) == ["Byron, Ada", "Van Dyke, Mary Ann"]
    [note] = report.of("instructors_unclear")
    assert (note.line, note.more) == (2, "Read as: Van Dyke, Mary Ann.")


def test_marks_of_primary_instructors_tell_how_names_are_written(tmp_path: Path) -> None:
    cells = ("Turner (P), Hulbert", "Kim (P)", "Li, Fox", "Roe, Byron (P)")
    lines = [ALGORITHMS | {"CRN": f"{at}", "Instructor": cell} for at, cell in enumerate(cells)]
    records, report = read(write_csv(tmp_path, lines))
    names = ["Byron", "Fox", "Hulbert", "Kim", "Li", "Roe", "Turner"]
    assert sorted(records.instructors) == names
    notes = [(note.line, note.more) for note in report.of("instructors_unclear")]
    assert notes == [(4, "Read as: Li; Fox."), (5, "Read as: Roe; Byron.")]


def test_a_title_above_a_table_with_semicolons_is_no_obstacle(tmp_path: Path) -> None:
    text = "Class schedule\nCRN;Course;Title;Course Title;Cap;Cred\n1;ED-D 301;One;Two;5;3\n"
    (tmp_path / "Fall.csv").write_text(text)
    (tmp_path / "meetings.csv").write_text(
        "crn;days;time;dates\n1;M;9:00 a.m.-9:50 a.m.;2021-01-06 - 2021-04-30\n"
    )
    section = read(tmp_path)[0].sections["1"]
    assert section["title"] == "One"


def test_a_web_page_is_named_as_such(tmp_path: Path) -> None:
    (tmp_path / "schedule.csv").write_text("<html><table><tr><td>CRN</td></tr></table></html>")
    with pytest.raises(ImportFailedError, match="is a web page"):
        read(tmp_path)


def test_a_table_without_the_needed_columns_is_refused_with_those_it_has(tmp_path: Path) -> None:
    (tmp_path / "schedule.csv").write_text("CRN,Subj,Room\n1,CS,H1\n")
    with pytest.raises(ImportFailedError) as error:
        read(tmp_path)
    assert "column course_id, capacity is missing" in str(error.value)
    assert "It has: CRN, Subj, Room." in str(error.value)


def test_a_column_that_is_not_known_is_named_with_a_value(tmp_path: Path) -> None:
    headings = (*HEADINGS, "Fee Code", "Course Title", "Blank")
    line = ALGORITHMS | {"Fee Code": "LAB50", "Course Title": "Algorithms I"}
    _, report = read(write_csv(tmp_path, [line], headings=headings))
    assert [(note.column, note.value) for note in report.of("column_unknown")] == [
        ("Fee Code", "LAB50")
    ]


def test_linked_labs_and_topics_come_in_or_are_asked_about(tmp_path: Path) -> None:
    headings = (*HEADINGS, "Link ID", "Topic")
    lecture = ALGORITHMS | {"Title": "Topics in CS", "Link ID": "A1", "Topic": "Quantum"}
    lab = ALGORITHMS | LAB | {"CRN": "20552", "Sec": "B01", "Link ID": "B1", "Topic": ""}
    records, report = read(write_csv(tmp_path, [lecture, LAB, lab], headings=headings))
    assert records.sections["20551"]["title"] == "Topics in CS: Quantum"
    assert len(records.sections["20551"]["meetings"]) == 2
    assert len(records.sections["20552"]["meetings"]) == 1
    links = [(note.key, note.value) for note in report.of("link")]
    assert links == [("20551", "A1"), ("20552", "B1")]


@pytest.mark.usefixtures("backend")
def test_prerequisites_of_a_schedule_come_in_as_sentences(tmp_path: Path) -> None:
    headings = (*HEADINGS[:-1], "Prerequisites", "Coreqs", "Registration Restrictions")
    line = ALGORITHMS | {
        "Prerequisites": "MATH 100 Minimum Grade of C and MATH 101",
        "Coreqs": "ED-D 302",
        "Registration Restrictions": "Must be enrolled in one of the following Levels: Graduate",
    }
    unclear = ALGORITHMS | {"CRN": "20552", "Prerequisites": "Permission of department"}
    records, report = read(write_csv(tmp_path, [line, unclear], headings=headings))
    section = records.sections["20551"]
    assert section["prerequisites"] == {
        "all": [{"course": "MATH-100", "grade": "C"}, {"course": "MATH-101"}]
    }
    assert section["corequisites"] == {"course": "ED-D-302"}
    assert section["restrictions"] == [["must_be", "level", "Graduate"]]
    notes = [(note.line, note.value) for note in report.of("no_tree")]
    assert notes == [(3, "Permission of department")]


def test_a_section_without_number_gets_a_free_one_of_its_course(tmp_path: Path) -> None:
    lines = [
        ALGORITHMS | {"CRN": "1", "Sec": ""},
        ALGORITHMS | {"CRN": "2", "Sec": "01"},
        ALGORITHMS | {"CRN": "3", "Sec": ""},
        ALGORITHMS | {"CRN": "4", "Sec": "", "Crse": "302"},
    ]
    records, report = read(write_csv(tmp_path, lines))
    assert [each["number"] for each in records.sections.values()] == ["02", "01", "03", "01"]
    notes = [(note.line, note.more) for note in report.of("number_missing")]
    assert notes == [(2, "Now 02."), (4, "Now 03."), (5, "Now 01.")]


def test_further_rows_of_a_refused_section_are_refused_and_named(tmp_path: Path) -> None:
    lines = [ALGORITHMS | {"Cap": "12O"}, ALGORITHMS | {"Days": "S"}, ALGORITHMS | {"CRN": "2"}]
    records, report = read(write_csv(tmp_path, lines))
    assert list(records.sections) == ["2"]
    assert [note.line for note in report.of("unreadable")] == [2]
    assert [(note.line, note.action) for note in report.of("section_refused")] == [(3, "refused")]


def test_a_column_that_is_not_stored_counts_once(tmp_path: Path) -> None:
    lines = [ALGORITHMS | {"CRN": f"{at}", "WL Act": "3"} for at in range(5)]
    _, report = read(write_csv(tmp_path, lines, headings=(*HEADINGS, "WL Act")))
    [note] = report.of("not_represented")
    assert (note.column, note.value, note.more) == ("WL Act", "3", "Rows with a value: 5.")
    assert (Action.UNSTORED, 1) in summary(report.found)


@pytest.mark.parametrize(
    ("name", "between", "write"),
    [
        *((name, "; ", write_xlsx) for name in (whole_semesters.EACH if SOAK else ("made up",))),
        *((name, ", ", write_csv) for name in whole_semesters.EACH),
    ],
)
def test_a_semester_as_banner_writes_it_comes_in_whole(
    tmp_path: Path, name: str, between: str, write: Callable[[Path, Iterable[Line]], Path]
) -> None:
    folder, out = whole_semesters.folder_of(name, tmp_path), tmp_path / "banner"
    term = whole_semesters.term_of(name)
    ours, _ = read(folder, term=term)
    out.mkdir()
    write(out, banner_lines(folder, between))
    banners, report = read(out, term=term)
    unsure = {note.kind for note in report.notes if note.action in {"refused", "guessed"}}
    known = {"department_added", "time_without_days", "restriction_commas", "title_guessed"}
    assert unsure <= known
    assert len(report.of("restriction_commas")) == (8 if name == "real" else 2)
    assert banners.sections.keys() == ours.sections.keys()
    assert len(banners.sections) == (2250 if name == "real" else whole_semesters.SECTIONS)
    assert banners.kinds["teaching"].keys() == ours.kinds["teaching"].keys()
    for crn, section in ours.sections.items():
        other = banners.sections[crn]
        for field in ("course", "number", "capacity", "prior", "waitlist", "credits"):
            assert other[field] == section[field], crn
        assert other["restrictions"] == section["restrictions"], crn
        assert [each[1:7] for each in other["meetings"]] == [
            each[1:7] for each in section["meetings"]
        ], crn


@pytest.mark.parametrize(
    ("titles", "course"),
    [
        (
            ("PRIVATE MUSIC LESSONS: VIOLIN", "Private Music Lessons - Oboe"),
            "PRIVATE MUSIC LESSONS",
        ),
        (("Perspectives in Art", "Perspectives in Law", "Perspectives"), "Perspectives in Art"),
        (("Ethics of Law", "Ethics of Lawyers"), "Ethics of Law"),
        (("Compilers", "Databases"), "Compilers"),
    ],
)
def test_sections_of_other_titles_leave_their_course_what_they_share(
    tmp_path: Path, titles: tuple[str, ...], course: str
) -> None:
    lines = [ALGORITHMS | {"CRN": f"{at}", "Title": each} for at, each in enumerate(titles)]
    records, report = read(write_csv(tmp_path, lines))
    assert records.kinds["course"]["ED-D-301"]["title"] == course
    assert tuple(each["title"] for each in records.sections.values()) == titles
    [note] = report.of("title_guessed")
    assert (note.action, note.column, note.value) == ("guessed", "Title", titles[0])
    assert note.more == f"Now “{course}”. Sections have “{titles[0]}” and “{titles[1]}”."


def test_sections_of_one_title_give_it_to_their_course(tmp_path: Path) -> None:
    lines = [ALGORITHMS, ALGORITHMS | {"CRN": "2", "Title": "ALGORITHMS"}]
    records, noted = schedule(tmp_path, *lines)
    assert records.kinds["course"]["ED-D-301"]["title"] == "Algorithms"
    assert "title_guessed" not in noted


@pytest.mark.parametrize(
    ("cells", "column", "value"),
    [
        ({"Days": "", "Time": "8:00AM-8:01AM"}, "Time", "8:00AM-8:01AM"),
        ({"Time": "9:50 AM - 9:00 AM"}, "Time", "9:50 AM - 9:00 AM"),
        ({"Date (MM/DD)": "02/30-04/30"}, "Date (MM/DD)", "02/30-04/30"),
        ({"Crse": "???"}, "Subj, Crse", "ED-D ???"),
    ],
)
def test_notes_name_the_files_own_columns(
    tmp_path: Path, cells: dict[str, str], column: str, value: str
) -> None:
    _records, report = read(write_csv(tmp_path, [ALGORITHMS | {"CRN": "1"}, ALGORITHMS | cells]))
    found = [(each.column, each.value) for each in report.notes if each.key == "20551"]
    assert (column, value) in found


def test_a_new_section_of_unread_credits_is_a_draft_with_those_of_its_course(
    tmp_path: Path,
) -> None:
    lines = [ALGORITHMS | {"CRN": "1", "Cred": "four"}, ALGORITHMS | {"CRN": "2"}]
    records, report = read(write_csv(tmp_path, lines))
    found = {crn: (each["status"], each["credits"]) for crn, each in records.sections.items()}
    assert found == {"1": ("NEW", [150, 150]), "2": ("OPEN", [150, 150])}
    [note] = report.of("credits_unread")
    assert (note.action, note.column, note.value) == ("guessed", "Cred", "four")


def a_workbook(folder: Path, *sheets: tuple[str, list[list[str]]]) -> Path:
    """A workbook with a class schedule and other sheets."""
    book = openpyxl.Workbook()
    book.active.title = "Schedule"
    for row in (
        ["Class Schedule Listing"],
        [],
        HEADINGS,
        [ALGORITHMS.get(each, "") for each in HEADINGS],
    ):
        book.active.append(row)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for each in rows:
            sheet.append(each)
    book.save(folder / "two.xlsx")
    return folder


def test_empty_sheets_of_a_workbook_are_ignored(tmp_path: Path) -> None:
    records, report = read(a_workbook(tmp_path, ("Sheet2", []), ("Sheet3", [])))
    assert list(records.sections) == ["20551"]
    assert "file_needless" not in kinds(report)


def test_sheets_beside_a_class_schedule_are_named_as_not_used(tmp_path: Path) -> None:
    notes = ("Notes", [["Remember", "to check"], ["x", "y"]])
    records, report = read(a_workbook(tmp_path, notes, ("Pivot", [["Subject", "Count"]])))
    assert list(records.sections) == ["20551"]
    found = [note.file for note in report.of("file_needless")]
    assert found == ["two.xlsx (Notes)", "two.xlsx (Pivot)"]


def test_a_workbook_without_one_schedule_is_refused_in_words_of_workbooks(tmp_path: Path) -> None:
    rows = [[*HEADINGS], [ALGORITHMS.get(each, "") for each in HEADINGS]]
    with pytest.raises(ImportFailedError) as error:
        read(a_workbook(tmp_path, ("Other", rows)))
    assert "The workbook has 2 sheets" in str(error.value)
    assert ".csv" not in str(error.value)
