"""Files that are no files of a semester: a clear error that names file, line and column."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.report import cells
from tests.exchange.campus import COLUMNS, Campus, kinds, read


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_the_usual_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    campus = Campus().meets(instructors="Núñez")
    records, report = read(campus.write(tmp_path, encoding))
    assert records.instructors == ["Núñez"]
    assert kinds(report) == ({"encoding": 1} if encoding == "cp1252" else {})


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_separators_are_understood(tmp_path: Path, delimiter: str) -> None:
    records, _ = read(Campus().write(tmp_path, delimiter=delimiter))
    assert list(records.sections) == ["10001"]


@pytest.mark.parametrize("name", ["sections.csv", "meetings.csv", "courses.csv"])
def test_a_file_that_is_needed_must_be_there(tmp_path: Path, name: str) -> None:
    (Campus().write(tmp_path) / name).unlink()
    with pytest.raises(ImportFailedError, match=f"{name} is missing"):
        read(tmp_path)


def test_other_files_may_be_missing_and_are_named(tmp_path: Path) -> None:
    folder = Campus().write(tmp_path)
    names = ["cross_lists.csv", "departments.csv", "prerequisites.json", "restrictions.csv"]
    for name in names:
        (folder / name).unlink()
    _, report = read(folder)
    assert sorted(note.file for note in report.of("file_missing")) == names


def test_files_that_are_not_used_are_named(tmp_path: Path) -> None:
    folder = Campus().write(tmp_path)
    (folder / "bin.csv").write_text("a\n", "utf-8")
    _, report = read(folder)
    assert [note.file for note in report.of("file_needless")] == ["bin.csv"]
    (folder / "courses.csv").unlink()
    with pytest.raises(ImportFailedError, match=r"Files that are not used: bin\.csv"):
        read(folder)


def test_what_is_of_a_whole_file_has_no_line(tmp_path: Path) -> None:
    (Campus().write(tmp_path) / "departments.csv").unlink()
    _, report = read(tmp_path)
    [note] = report.of("file_missing")
    assert cells(note)[:4] == ["left out", "file_missing", "departments.csv", ""]


def test_there_must_be_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ImportFailedError, match="does not exist"):
        read(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("sections.csv", b"", r"sections.csv is empty"),
        ("sections.csv", b"crn,course_id\n", r"column capacity is missing"),
        ("sections.csv", b"crn,course_id,capacity\n", r"has no section that can be read"),
        ("sections.csv", b"crn,crn,course_id,capacity\n", r"column crn appears twice"),
        ("sections.csv", b"crn,course_id,capacity\n1,?,2\n", r"Line 2: .*not a course code"),
        ("meetings.csv", b"a,b\n\0\0\0", r"meetings.csv, line 2, column 1: U\+0000 is not text"),
        (
            "meetings.csv",
            b"crn,days,start_time,end_time\n1,\x07M,,\n",
            r"line 2, column 3: U\+0007",
        ),
        ("courses.csv", b'course_id\n"CSC 1', r"courses.csv, record at line 2: unexpected end"),
        ("courses.csv", b'course_id\n"CSC 1"x\n', r"courses.csv, record at line 2:"),
        ("courses.csv", b"course_id\n" + b"x" * 200_000, r"record at line 2: field larger"),
        ("prerequisites.json", b"{", r"prerequisites.json, line 1, column 2"),
        ("prerequisites.json", b"[]", r"expected an object"),
        ("prerequisites.json", b"[" * 200_000, r"nested too deep"),
    ],
)
def test_garbage_is_refused_by_file_line_and_column(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (Campus().write(tmp_path) / name).write_bytes(content)
    with pytest.raises(ImportFailedError, match=message):
        read(tmp_path)


def test_a_row_of_another_shape_is_refused_and_the_rest_goes_on(tmp_path: Path) -> None:
    with (Campus().write(tmp_path) / "courses.csv").open("a", encoding="utf-8") as out:
        out.write("too,few\n\n")
    _, report = read(tmp_path)
    [note] = report.of("row_shape")
    assert (note.line, note.key) == (3, "too")


@given(name=st.sampled_from([*COLUMNS, "prerequisites.json"]), content=st.binary(max_size=400))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_bytes_crash_it(tmp_path: Path, name: str, content: bytes) -> None:
    (Campus().write(tmp_path) / name).write_bytes(content)
    with contextlib.suppress(ImportFailedError):
        read(tmp_path)


FIELDS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=30)


@given(
    st.dictionaries(st.sampled_from(COLUMNS["sections.csv"].split()), FIELDS),
    st.dictionaries(st.sampled_from(COLUMNS["meetings.csv"].split()), FIELDS),
    st.dictionaries(st.sampled_from(COLUMNS["courses.csv"].split()), FIELDS),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_fields_crash_it(
    tmp_path: Path, section: dict[str, str], meeting: dict[str, str], course: dict[str, str]
) -> None:
    campus = Campus()
    campus.rows["sections.csv"].append(campus.rows["sections.csv"][0] | {"crn": "2"} | section)
    campus.rows["meetings.csv"].append(campus.rows["meetings.csv"][0] | meeting)
    campus.rows["courses.csv"].append(campus.rows["courses.csv"][0] | course)
    records, _ = read(campus.write(tmp_path))
    assert "10001" in records.sections


SCHEDULE = (
    "CRN\tSubj\tCrse\tSec\tTitle\tCred\tCap\tDays\tTime\tDates\n"
    "77001\tCSC\t110\t01\tA\t4\t30\tMW\t10:00 am-11:15 am\t2021-01-06 - 2021-04-30\n"
)


@pytest.mark.parametrize("name", ["SCHED.CSV", "sched.Csv", "sched.tsv", "sched.txt", "SCHED.TXT"])
def test_the_ending_of_a_table_may_be_written_otherwise(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(SCHEDULE)
    records, _ = read(tmp_path)
    assert list(records.sections) == ["77001"]


def test_a_text_file_beside_tables_is_none(tmp_path: Path) -> None:
    (tmp_path / "sched.csv").write_text(SCHEDULE)
    (tmp_path / "README.txt").write_text("From the office.")
    records, report = read(tmp_path)
    assert list(records.sections) == ["77001"]
    assert [note.file for note in report.of("file_needless")] == ["README.txt"]


@pytest.mark.parametrize("content", [b"", b"<html><table>", b"\xd0\xcf\x11\xe0"])
def test_an_old_workbook_is_named_with_what_to_do(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "page.xls").write_bytes(content)
    with pytest.raises(ImportFailedError, match=r"^Save page\.xls as \.xlsx or CSV\.$"):
        read(tmp_path)


def test_an_empty_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    with pytest.raises(ImportFailedError, match=r"^empty\.csv is empty\.$"):
        read(tmp_path)


def test_all_missing_files_are_named_at_once_and_may_be_one_schedule(tmp_path: Path) -> None:
    (tmp_path / "restrictions.csv").write_text("crn,rule\n")
    with pytest.raises(ImportFailedError) as error:
        read(tmp_path)
    missing = "sections.csv, meetings.csv, courses.csv are missing. Send them, or send one class"
    assert str(error.value).startswith(missing)
