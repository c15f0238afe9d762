"""Whatever is in the files, an import ends with a reason, and no other import waits for it."""

import csv
import io
import json
import zipfile
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from portal.catalog.models import Section
from portal.core.db import transaction
from portal.people.models import Student
from tests.exchange.campus import Campus
from tests.exchange.makers import as_zip, away, latest, page, press, send, sent, zipped
from tests.exchange.oneroster import School

MEETING = ["LEC", 1, "10:00:00", "11:50:00", "2030-09-01", "2030-12-01", "Hall 1", True]
UNREADABLE = "This value can’t be read, and the row needs it."


def one(content: bytes, browser: FlaskClient) -> int:
    """An import of those OneRoster files that was read."""
    return sent(browser, content, layout="oneroster")


def saying(**facts: Any) -> bytes:
    """Return files with a class that has these facts in `metadata.fairseat`."""
    school = School()
    school.rows["classes"][0]["metadata.fairseat"] = json.dumps(facts)
    return school.zip()


def meeting(position: int, value: object) -> dict[str, Any]:
    return {"meetings": [[*MEETING[:position], value, *MEETING[position + 1 :]]]}


def test_a_meeting_as_it_should_be_is_taken(boss: FlaskClient) -> None:
    press(boss, one(saying(meetings=[MEETING]), boss), "apply")
    with transaction() as session:
        assert session.scalars(select(Section.crn)).all() == ["90001"]


IMPOSSIBLE: list[dict[str, Any]] = [
    {"note": "\0"},
    {"note": "\ud800"},
    {"campus": "a\ufffe"},
    meeting(1, 1.5),
    meeting(1, value=True),
    meeting(0, ["L"]),
    meeting(6, ["a"]),
    meeting(2, "10"),
    meeting(2, "10:00+02:00"),
    meeting(4, "2030-W40-1"),
    {"restrictions": [["must_be", "weird kind", "x"]]},
    {"restrictions": [["must_be", "level", "x"], ["must_be", "level", "x"]]},
    {"cross_lists": ["MAT-1", "MAT-1"]},
    {"instructors": [["a\tb", "CSC"]]},
]


def test_what_can_not_be_stored_is_refused_with_its_place(boss: FlaskClient) -> None:
    school = School()
    row = school.rows["classes"].pop()
    for number, facts in enumerate(IMPOSSIBLE):
        more = {"sourcedId": f"{90001 + number}", "metadata.fairseat": json.dumps(facts)}
        school.rows["classes"].append(row | more)
    import_id = one(school.zip(), boss)
    assert latest().state == "ready"
    assert "classes.csv, line 2" in page(boss, import_id)
    output = boss.get(f"/admin/imports/{import_id}/report.csv").get_data(as_text=True)
    refused = [
        int(row["line"])
        for row in csv.DictReader(io.StringIO(output.removeprefix("\ufeff")))
        if row["file"] == "classes.csv" and UNREADABLE in row["why"]
    ]
    assert refused == list(range(2, 2 + len(IMPOSSIBLE)))
    assert "section" not in latest().counts


@pytest.mark.parametrize("text", ["\0", "\ud800"])
def test_prerequisites_of_signs_that_are_none_are_refused(boss: FlaskClient, text: str) -> None:
    campus = Campus()
    campus.prerequisites = {text: {}}
    assert "invalid characters" in page(boss, sent(boss, as_zip(campus)))


@pytest.mark.parametrize("name", ["..", ".", "語" * 90 + ".zip", "a\u200b.zip"])
def test_a_file_of_any_name_is_read(boss: FlaskClient, name: str) -> None:
    assert send(boss, as_zip(Campus()), name=name).status_code == 303
    press(boss, latest().id, "resume")
    assert latest().state in {"ready", "failed"}
    if name.endswith(".zip"):
        assert latest().state == "ready"


def test_a_zip_with_names_that_are_none_is_refused(boss: FlaskClient) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as out:
        out.writestr("é.csv", "a\n")
    broken = packed.getvalue().replace("é".encode(), b"\xff\xfe")
    assert "is not a readable zip" in page(boss, sent(boss, broken))


def test_a_file_without_a_name_is_no_file(boss: FlaskClient) -> None:
    nameless = zipped({"a": b"", "b": b""}).replace(b"a", b"\0").replace(b"b", b"\0")
    assert "courses.csv are missing" in page(boss, sent(boss, nameless))


def test_a_change_is_of_one_moment_wherever_it_was_written(boss: FlaskClient) -> None:
    school = School()
    school.rows["users"][1]["dateLastModified"] = "2026-01-01T00:00:00+16:30"
    press(boss, one(school.zip(), boss), "apply")
    one(school.zip(), boss)
    assert latest().state == "ready"


def test_a_change_before_all_time_is_refused(boss: FlaskClient) -> None:
    school = School()
    school.rows["users"][1]["dateLastModified"] = "0001-01-01T00:00:00+01:00"
    assert UNREADABLE in page(boss, one(school.zip(), boss))


def test_an_account_is_that_of_one_student(boss: FlaskClient) -> None:
    school = School()
    school.rows["users"].append(school.rows["users"][1] | {"sourcedId": "x", "identifier": "S-9"})
    school.add("roles", userSourcedId="x", role="student")
    import_id = one(school.zip(), boss)
    assert "a student with another number" in page(boss, import_id)
    press(boss, import_id, "apply")
    with transaction() as session:
        assert "S-1" in session.scalars(select(Student.number)).all()
    assert latest().state == "done"


@pytest.mark.parametrize("amid", ["reading", "applying"])
def test_an_unexpected_error_is_logged_under_a_code(
    boss: FlaskClient, caplog: pytest.LogCaptureFixture, amid: str
) -> None:
    if amid == "reading":
        with away("sourced_ids"):
            import_id = sent(boss, as_zip(Campus()))
    else:
        import_id = sent(boss, as_zip(Campus()))
        with away("sourced_ids"):
            press(boss, import_id, "apply")
    assert latest().state == "failed"
    code = page(boss, import_id).split("See the log under ")[1][:16]
    assert f"something unexpected, {code}" in caplog.text
    assert "UndefinedTable" in caplog.text
