"""What the import makes of rows that are not as they should be: nothing vanishes unsaid."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from portal.core.i18n import in_language
from portal.exchange.importing.report import Report
from tests.exchange.campus import Campus, kinds, read

LATE = ["20:00:00", "23:59:00"]


def only(folder: Path, campus: Campus, **options: int) -> tuple[dict[str, Any], Report]:
    """The fields of the first section of a campus, and the report."""
    records, report = read(campus.write(folder), **options)
    return records.sections["10001"], report


def course(folder: Path, campus: Campus) -> tuple[dict[str, Any], Report]:
    """The same of the course of the first section."""
    records, report = read(campus.write(folder))
    return records.kinds["course"][records.sections["10001"]["course"]], report


def seats(section: dict[str, Any]) -> tuple[int, int, int]:
    return section["capacity"], section["prior"], section["waitlist"]


def test_a_clean_semester_has_nothing_to_report(tmp_path: Path) -> None:
    section, report = only(tmp_path, Campus())
    assert seats(section) == (30, 0, 10)
    assert report.notes == []


@pytest.mark.parametrize(
    ("fields", "expected", "noted"),
    [
        ({"capacity": "20", "enrolled": "27", "remaining": "-7"}, (20, 27, 10), {"over_capacity"}),
        ({"capacity": "0", "enrolled": "0", "remaining": "0"}, (0, 0, 0), {"no_seats"}),
        ({"capacity": "", "enrolled": "3", "remaining": "7"}, (10, 3, 10), {"capacity_missing"}),
        ({"enrolled": "many", "remaining": ""}, (30, 30, 10), {"taken_unread"}),
        ({"enrolled": "", "remaining": "few"}, (30, 30, 10), {"taken_unread"}),
        ({"enrolled": "7", "remaining": "few"}, (30, 7, 10), {"count"}),
        ({"enrolled": "", "remaining": "12"}, (30, 18, 10), set()),
        ({"enrolled": "", "remaining": ""}, (30, 0, 10), set()),
        ({"enrolled": "-3", "remaining": ""}, (30, 30, 10), {"taken_unread"}),
        ({"remaining": "11"}, (30, 0, 10), {"counts_disagree"}),
        ({"capacity": "1,200", "remaining": "1200.0"}, (1200, 0, 10), set()),
        ({"wait_capacity": "3"}, (30, 0, 3), set()),
        ({"wait_capacity": "0"}, (30, 0, 0), set()),
        ({"wait_capacity": "None"}, (30, 0, 0), set()),
        ({"wait_capacity": "many"}, (30, 0, 10), {"waitlist_unread"}),
    ],
)
def test_seats_are_never_more_than_the_source_can_mean(
    tmp_path: Path, fields: dict[str, str], expected: tuple[int, int, int], noted: set[str]
) -> None:
    section, report = only(tmp_path, Campus(**fields))
    assert seats(section) == expected
    assert set(kinds(report)) == noted


@pytest.mark.parametrize("capacity", ["abc", "-5", "3.5", "20 seats", ""])
def test_a_capacity_that_is_no_number_is_never_guessed(tmp_path: Path, capacity: str) -> None:
    campus = Campus(capacity=capacity, remaining="").section("10002")
    records, report = read(campus.write(tmp_path))
    assert list(records.sections) == ["10002"]
    [note] = report.of("unreadable")
    assert (note.column, note.value, note.key) == ("capacity", capacity, "10001")


def test_the_length_of_waitlists_is_a_choice(tmp_path: Path) -> None:
    section, _ = only(tmp_path, Campus(), waitlist=4)
    assert section["waitlist"] == 4


@pytest.mark.parametrize(
    ("fields", "times", "noted"),
    [
        ({"start_time": "", "end_time": ""}, None, {"days_without_time"}),
        ({"start_time": "TBA", "end_time": "TBA"}, None, {"days_without_time"}),
        ({"days": ""}, None, {"time_without_days"}),
        ({"days": "", "start_time": "", "end_time": ""}, None, set()),
        ({"start_time": "soon"}, None, {"times_unreadable"}),
        ({"end_time": ""}, None, {"times_unreadable"}),
        ({"end_time": "1:00PM"}, None, {"times_unreadable"}),
        ({"start_time": "1:00", "end_time": "2:15"}, None, {"times_unreadable"}),
        ({"days": "XYZ"}, None, {"days_unreadable"}),
        ({"start_time": "8:00PM", "end_time": "12:00AM"}, LATE, {"midnight"}),
    ],
)
def test_a_meeting_that_can_not_be_read_is_to_be_announced(
    tmp_path: Path, fields: dict[str, str], times: list[str] | None, noted: set[str]
) -> None:
    section, report = only(tmp_path, Campus().meets(**fields))
    assert section["meetings"][0][2:4] == (times or [None, None])
    assert set(kinds(report)) == noted
    unread = noted & {"days_unreadable", "times_unreadable", "time_without_days"}
    assert section["status"] == ("NEW" if unread else "OPEN")


@pytest.mark.parametrize(
    ("fields", "clashes"),
    [
        ({}, True),
        ({"meeting_type": "TES"}, False),
        ({"meeting_type": "Common Exam"}, False),
        ({"start_time": "8:00AM", "end_time": "9:50PM"}, False),
        ({"start_time": "8:00AM", "end_time": "4:00PM"}, True),
    ],
)
def test_exam_blocks_keep_their_times_but_clash_with_nothing(
    tmp_path: Path, fields: dict[str, str], *, clashes: bool
) -> None:
    section, report = only(tmp_path, Campus().meets(**fields))
    _kind, _days, starts_at, *_, conflicts = section["meetings"][0]
    assert starts_at
    assert conflicts is clashes
    assert kinds(report) == ({} if clashes else {"exam_block": 1})


def test_courses_have_their_categories_under_the_headings_that_sections_have(
    tmp_path: Path,
) -> None:
    campus = Campus()
    campus.columns["courses.csv"] += " Course_Attributes"
    campus.rows["courses.csv"][0]["Course_Attributes"] = "Humanities; Science"
    found, report = read(campus.write(tmp_path))
    assert found.kinds["course"]["CSC-225"]["categories"] == ["Humanities", "Science"]
    assert "column_unknown" not in kinds(report)


def test_kinds_of_sections_are_stored_in_english_whatever_the_language(tmp_path: Path) -> None:
    with in_language("es"):
        section, _report = only(tmp_path, Campus(schedule_type=""))
    assert section["kind"] == "Lecture"


def test_dates_that_make_no_sense_become_the_terms(tmp_path: Path) -> None:
    campus = Campus().section("10002", {"date_start": "31/12/2021"})
    campus.section("10003", {"date_start": "2021-03-01", "date_end": "2021-02-01"})
    records, report = read(campus.section("10004", {"date_start": ""}).write(tmp_path))
    spans = [each["meetings"][0][4:6] for each in records.sections.values()]
    term = ["2021-01-06", "2021-04-30"]
    assert spans == [term, term, ["2021-02-01", "2021-03-01"], term]
    statuses = [each["status"] for each in records.sections.values()]
    assert statuses == ["OPEN", "NEW", "OPEN", "OPEN"]
    assert kinds(report) == {"dates_unreadable": 1, "dates_missing": 1, "dates_reversed": 1}


@pytest.mark.parametrize(
    ("term", "first", "last", "column"),
    [
        ("Spring 2021", "2021-01-15", "2022-05-01", "date_end"),
        ("Spring 2021", "2019-01-15", "2021-05-01", "date_start"),
        ("Spring 2021", "2020-12-28", "2021-05-01", ""),
        ("Fall 2021", "2020-08-30", "2020-12-17", "date_start"),
        ("Fall 2021", "2021-08-30", "2022-12-17", "date_end"),
        ("Fall 2021", "2021-08-30", "2022-02-10", ""),
        ("Academic year 2020-2021", "2020-08-30", "2021-12-17", ""),
        ("Evening classes", "2027-08-30", "2029-12-17", ""),
    ],
)
def test_dates_of_other_years_do_not_stretch_the_term(
    tmp_path: Path, term: str, first: str, last: str, column: str
) -> None:
    campus = Campus().section("10002", {"date_start": first, "date_end": last})
    records, report = read(campus.write(tmp_path), term=term)
    found = [(note.column, note.value) for note in report.of("dates_unreadable")]
    odd = first if column == "date_start" else last
    assert ((column, odd) in found) == bool(column)
    section, of_term = records.sections["10002"], records.kinds["term"][term]
    assert section["status"] == ("NEW" if column else "OPEN")
    assert (first >= of_term["starts"] and last <= of_term["ends"]) == (not column)


@pytest.mark.parametrize(("day", "read_as"), [("2021-03-02", "NEW"), ("2021-03-04", "OPEN")])
def test_a_single_date_is_one_of_the_days_of_the_meeting(
    tmp_path: Path, day: str, read_as: str
) -> None:
    campus = Campus().section("10002", {"days": "MR", "date_start": day, "date_end": day})
    records, report = read(campus.write(tmp_path))
    assert records.sections["10002"]["status"] == read_as
    assert len(report.of("dates_unreadable")) == (read_as == "NEW")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"end_time": ""}, ("end_time", "start_time: 2:00PM, end_time: (blank).")),
        ({"start_time": "TBA"}, ("start_time", "start_time: TBA, end_time: 3:50PM.")),
        ({"end_time": "1:00PM"}, ("end_time", "It ends before it starts: 2:00PM to 1:00PM.")),
        ({"days": ""}, ("start_time", "There is a time but no days: 2:00PM to 3:50PM.")),
        ({"end_time": "soon"}, ("end_time", "'soon' is not a time of day.")),
    ],
)
def test_times_that_do_not_fit_are_quoted_in_pairs(
    tmp_path: Path, fields: dict[str, str], said: tuple[str, str]
) -> None:
    _section, report = only(tmp_path, Campus().meets(**fields))
    [note] = report.notes
    assert note.column == said[0]
    assert note.more.endswith(said[1])
    assert ".." not in note.why


def test_dates_fit_a_term_of_which_the_dates_are_given(tmp_path: Path) -> None:
    campus = Campus().section("10002", {"date_start": "2019-01-15", "date_end": "2021-05-01"})
    days = {"starts": date(2019, 1, 1), "ends": date(2021, 6, 1)}
    _records, report = read(campus.write(tmp_path), **days)
    assert report.of("dates_unreadable") == []


def test_instructors_are_listed_once_without_staff(tmp_path: Path) -> None:
    campus = (
        Campus()
        .meets(instructors="Okafor/ Lindqvist")
        .meeting(days="T", instructors="Lindqvist/Staff")
    )
    records, _ = read(campus.write(tmp_path))
    assert records.instructors == ["Okafor", "Lindqvist"]


@pytest.mark.parametrize(
    ("fields", "credits_", "noted"),
    [
        ({"credits": "1-15"}, [100, 1500], {}),
        ({"credits": "1.00 TO 3.00"}, [100, 300], {}),
        ({"credits": ""}, [400, 400], {"credits_missing": 1}),
        ({"credits": "lots"}, [400, 400], {"credits_unread": 1}),
    ],
)
def test_credits_come_from_the_course_where_the_section_has_none(
    tmp_path: Path, fields: dict[str, str], credits_: list[int], noted: dict[str, int]
) -> None:
    section, report = only(tmp_path, Campus(**fields))
    assert section["credits"] == credits_
    assert kinds(report) == noted


def test_a_course_of_several_credits_spans_them_and_is_named(tmp_path: Path) -> None:
    campus = Campus()
    campus.rows["courses.csv"][0]["credits"] = "1-5|4|2"
    found, report = course(tmp_path, campus)
    assert found["credits"] == [100, 500]
    assert kinds(report) == {"several_credits": 1}


def test_a_blank_title_is_that_of_a_section(tmp_path: Path) -> None:
    campus = Campus(section_title="ALGO  RHYTHMS")
    campus.rows["courses.csv"][0]["title"] = ""
    found, report = course(tmp_path, campus)
    assert found["title"] == "ALGO RHYTHMS"
    assert kinds(report) == {"title_missing": 1, "spaces": 1}


def test_a_course_without_any_title_gets_its_code_and_is_named(tmp_path: Path) -> None:
    campus = Campus(section_title="")
    campus.rows["courses.csv"][0]["title"] = ""
    found, report = course(tmp_path, campus)
    assert found["title"] == "CSC-225"
    [note] = report.of("title_missing")
    assert (note.key, note.column, note.more) == ("CSC-225", "title", "Now “CSC-225”.")


@pytest.mark.parametrize("status", ["Closed", "full", "CL"])
def test_a_closed_section_is_open_and_named(tmp_path: Path, status: str) -> None:
    section, report = only(tmp_path, Campus(status=status))
    assert section["status"] == "OPEN"
    [note] = report.of("status_closed")
    assert (note.action, note.column, note.value) == ("guessed", "status", status)


def test_required_courses_that_no_one_has_are_named_once(tmp_path: Path) -> None:
    campus = Campus().section("10002")
    campus.prerequisites = {
        "10001": {"prerequisites": ["CSC-225"], "corequisites": ["CSCI-9999"]},
        "10002": {"corequisites": ["CSCI-9999"]},
    }
    _, report = only(tmp_path, campus)
    [note] = report.of("course_unknown")
    assert (note.key, note.column) == ("10001", "corequisites")
    assert note.more == "“CSCI-9999”. Sections: 2."


def test_what_is_missing_elsewhere_is_added_and_named(tmp_path: Path) -> None:
    found, report = course(tmp_path, Campus(course_id="his 7", credits="3"))
    assert (found["subject"], found["department"]) == ("HIS", "HIS")
    assert kinds(report) == {"course_added": 1, "department_added": 1, "title_missing": 1}


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"crn": ""}, "no_key"),
        ({"crn": "10001"}, "duplicate"),
        ({"crn": "1" * 25}, "unreadable"),
        ({"course_id": "nonsense"}, "unreadable"),
        ({"course_id": "HIS 7", "credits": ""}, "unreadable"),
        ({"term": "FALL 1999"}, "other_term"),
    ],
)
def test_a_section_that_can_not_be_is_refused_and_named(
    tmp_path: Path, fields: dict[str, str], kind: str
) -> None:
    campus = Campus()
    campus.section("10005")
    campus.rows["sections.csv"].append(campus.rows["sections.csv"][1] | {"crn": "10006"} | fields)
    records, report = read(campus.write(tmp_path))
    assert set(records.sections) == {"10001", "10005"}
    [note] = report.of(kind)
    assert (note.action, note.file, note.line) == ("refused", "sections.csv", 4)


def test_columns_without_a_place_are_named(tmp_path: Path) -> None:
    campus = Campus(wait_count="4", xlist_capacity="60", as_of="2020-12-01").meets(frequency="odd")
    _, report = only(tmp_path, campus)
    named = [note.column for note in report.of("not_represented")]
    assert named == ["wait_count", "xlist_capacity", "as_of", "frequency"]


def test_sections_that_overlap_themselves_are_named(tmp_path: Path) -> None:
    campus = Campus().meeting(days="R", start_time="3:00PM", end_time="4:00PM")
    _, report = only(tmp_path, campus.meeting(days="F"))
    assert kinds(report) == {"overlaps_itself": 1}


def test_restrictions_stay_as_written_and_nonsense_is_refused(tmp_path: Path) -> None:
    campus = Campus().restriction("must_be", "major", "Design, Innovation and Society")
    campus.restriction("Must Be", "Majors", "Physics").restriction("must_be", "major", "Physics")
    campus.restriction("should_be", "major", "x").restriction("must_be", "shoe size", "44")
    campus.restriction("must_be", "level", "").restriction("must_be", "level", "x", crn="77")
    section, report = only(tmp_path, campus)
    assert section["restrictions"] == [
        ["must_be", "major", "Design, Innovation and Society"],
        ["must_be", "major", "Physics"],
    ]
    expected = {"duplicate": 1, "unreadable": 3, "orphan": 1, "major_added": 2}
    assert kinds(report) == expected


def test_levels_are_a_restriction_unless_there_is_one(tmp_path: Path) -> None:
    campus = Campus(levels="Graduate; Undergraduate")
    campus.section("10002", levels="Undergraduate").restriction(
        "must_be", "level", "Graduate", crn="10002"
    )
    records, report = read(campus.write(tmp_path))
    first, second = records.sections.values()
    assert [value for _, _, value in first["restrictions"]] == ["Graduate", "Undergraduate"]
    assert [value for _, _, value in second["restrictions"]] == ["Graduate"]
    assert kinds(report) == {"levels_disagree": 1}


def test_cross_lists_are_canonical_and_what_they_lack_is_named(tmp_path: Path) -> None:
    campus = Campus().course("MAT-225").section("10002", course_id="MAT-225")
    campus.cross_list("mat 225").cross_list("MAT-225").cross_list("HIS-1").cross_list("?")
    campus.cross_list("CSC 225")
    section, report = only(tmp_path, campus.cross_list("MAT-225", crn="99"))
    assert section["cross_lists"] == ["HIS-1", "MAT-225"]
    named = {
        "duplicate": 1,
        "own_course": 1,
        "cross_list_not_offered": 1,
        "unreadable": 1,
        "orphan": 1,
    }
    assert kinds(report) == named


@pytest.mark.parametrize(
    "room",
    [
        *("TBA", "arr", "Tbd", "To Be Announced", "to be arranged", "Arranged", "T.B.A."),
        *("TBA TBA", "ARR, ARR", "Room TBA", "N/A", "-"),
    ],
)
def test_a_placeholder_is_no_room(tmp_path: Path, room: str) -> None:
    records, _report = read(Campus().meets(location=room).write(tmp_path))
    assert records.sections["10001"]["meetings"][0][6] == ""


@pytest.mark.parametrize("room", ["Elliott TBA", "Arr 1", "Room 12", "Hall N/A"])
def test_a_name_with_a_placeholder_in_it_is_a_room(tmp_path: Path, room: str) -> None:
    records, _report = read(Campus().meets(location=room).write(tmp_path))
    assert records.sections["10001"]["meetings"][0][6] == room
