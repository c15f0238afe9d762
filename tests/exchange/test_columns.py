"""Files with headings that no import knows: an admin says what their columns mean."""

import os
from collections.abc import Callable
from html import unescape
from pathlib import Path
from subprocess import CompletedProcess

import openpyxl
import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from portal.catalog.models import Course, Instructor, Meeting, Section
from portal.core.db import transaction
from portal.exchange.importing.models import ColumnMapping, ImportTable
from portal.exchange.importing.upserts import count_changes
from tests import cast as builders
from tests import commands
from tests.audit_trail import entries
from tests.cast import Cast
from tests.exchange.campus import Campus
from tests.exchange.class_schedules import write_csv, write_ods
from tests.exchange.makers import as_zip, latest, page, press, sections, sent, zip_of, zipped
from tests.exchange.mapped_columns import (
    LINE,
    UNKNOWN,
    choose,
    columns_of,
    columns_page,
    rename_headings,
)
from tests.web.visitors import browser_of


def as_csv(folder: Path, *lines: dict[str, str], titles: tuple[str, ...] = ()) -> bytes:
    """A class schedule with unknown headings, in a zip."""
    write_csv(folder, lines or [LINE], *titles, headings=list(UNKNOWN))
    return zipped({"schedule.csv": (folder / "schedule.csv").read_bytes()})


def as_xlsx(folder: Path) -> bytes:
    book = openpyxl.Workbook()
    book.active.append(list(UNKNOWN))
    book.active.append([LINE[each] for each in UNKNOWN])
    book.save(folder / "schedule.xlsx")
    return zipped({"schedule.xlsx": (folder / "schedule.xlsx").read_bytes()})


def as_ods(folder: Path) -> bytes:
    write_ods(folder, {"Schedule": [list(UNKNOWN), [LINE[each] for each in UNKNOWN]]})
    return zipped({"schedule.ods": (folder / "semester.ods").read_bytes()})


def test_the_page_shows_each_column_with_its_first_values(
    boss: FlaskClient, tmp_path: Path
) -> None:
    lines = [LINE | {"Ref": str(crn), "Places": "40"} for crn in range(20551, 20556)]
    import_id = sent(boss, as_csv(tmp_path, *lines))
    assert boss.get(f"/admin/imports/{import_id}").location.endswith("/columns")
    shown = columns_page(boss, import_id)
    assert "<bdi>20551</bdi> · <bdi>20552</bdi> · <bdi>20553</bdi></td>" in shown
    assert "20554" not in shown
    assert list(columns_of(shown)) == list(UNKNOWN)


@pytest.mark.parametrize("write", [as_csv, as_xlsx, as_ods])
def test_all_of_a_file_comes_in_as_chosen(
    boss: FlaskClient, tmp_path: Path, write: Callable[[Path], bytes]
) -> None:
    import_id = sent(boss, write(tmp_path))
    assert choose(boss, import_id, **UNKNOWN).status_code == 303
    assert latest().state == "ready"
    assert "Spring 2021 · 20551" in page(boss, import_id)
    noted = {"department_added": 1, "primary_instructor": 1, "instructors_new": 1}
    assert latest().notes == noted
    press(boss, import_id, "apply")
    with transaction() as session:
        found = session.scalars(select(Section)).one()
        assert (found.crn, found.number, found.title) == ("20551", "A01", "Algorithms")
        assert (found.capacity, found.prior_enrolled, found.waitlist_capacity) == (120, 118, 50)
        assert session.scalars(select(Course.code)).all() == ["ED-D-301"]
        assert len(session.scalars(select(Meeting)).all()) == 1
        names = set(session.scalars(select(Instructor.name)).all())
        assert {"Ada Byron", "Ben Roe"} <= names


def test_titles_above_the_header_and_semicolons_do_no_harm(
    boss: FlaskClient, tmp_path: Path
) -> None:
    as_csv(tmp_path, titles=("Class schedule", "Spring 2021"))
    written = (tmp_path / "schedule.csv").read_text("utf-8").replace(",", ";")
    import_id = sent(boss, zipped({"schedule.csv": written}))
    choose(boss, import_id, **UNKNOWN)
    assert latest().state == "ready"


def test_a_heading_that_is_nearly_known_is_guessed_and_others_are_left_out(
    boss: FlaskClient,
) -> None:
    rows = "Course Reference No,Subject,Course Nr,Maximum Enrolment,Shoe size\n1,CSC,101,30,44\n"
    import_id = sent(boss, zipped({"schedule.csv": rows}))
    shown = {
        heading: chosen
        for heading, (_, chosen) in columns_of(columns_page(boss, import_id)).items()
    }
    assert shown == {
        "Course Reference No": "crn",
        "Subject": "subject",
        "Course Nr": "course_number",
        "Maximum Enrolment": "capacity",
        "Shoe size": "",
    }


def test_two_columns_for_one_field_are_both_named(boss: FlaskClient, tmp_path: Path) -> None:
    import_id = sent(boss, as_csv(tmp_path))
    answer = choose(boss, import_id, **UNKNOWN | {"Gone": "capacity"})
    assert answer.status_code == 422
    said = "schedule.csv: “Places” and “Gone” both mean “Seats”. Leave one of them out."
    assert said in unescape(answer.text)
    assert latest().state == "columns"


def test_a_required_field_without_a_column_is_named(boss: FlaskClient, tmp_path: Path) -> None:
    import_id = sent(boss, as_csv(tmp_path))
    answer = choose(boss, import_id, **UNKNOWN | {"Places": "", "Area": ""})
    assert answer.status_code == 422
    text = unescape(answer.text)
    assert "schedule.csv: no column means “Seats”." in text
    assert "no column means “Course code, such as CSC 1100”. Choose one, or those of" in text
    assert 'value="section_title" selected' in text or 'selected value="section_title"' in text


def test_an_update_needs_no_seats(boss: FlaskClient) -> None:
    press(boss, sent(boss, as_zip(Campus())), "apply")
    rows = "Nummer,Course Code,Named\n10001,CSC-225,New title\n"
    import_id = sent(boss, zipped({"sections.csv": rows}))
    choose(boss, import_id, Nummer="crn", Named="section_title")
    assert latest().state == "ready"
    assert "New title" in page(boss, import_id)


def test_only_the_sender_chooses(boss: FlaskClient, app: Flask, cast: Cast, tmp_path: Path) -> None:
    assert cast
    import_id = sent(boss, as_csv(tmp_path))
    builders.an_account("mia", is_admin=True)
    other = browser_of(app, "mia")
    assert "who uploaded the files, can choose what they mean" in page(other, import_id)
    assert other.get(f"/admin/imports/{import_id}/columns").status_code == 403
    assert other.post(f"/admin/imports/{import_id}/columns").status_code == 403


def test_while_columns_are_to_be_chosen_others_import(boss: FlaskClient, tmp_path: Path) -> None:
    first = sent(boss, as_csv(tmp_path))
    press(boss, sent(boss, as_zip(Campus()), term="Fall 2021"), "apply")
    assert sections() == ["10001"]
    choose(boss, first, **UNKNOWN)
    press(boss, first, "apply")
    assert sections() == ["10001", "20551"]


def test_discarded_nothing_of_the_files_is_kept(boss: FlaskClient, tmp_path: Path) -> None:
    import_id = sent(boss, as_csv(tmp_path))
    press(boss, import_id, "discard")
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(ImportTable)) == 0
    assert boss.get(f"/admin/imports/{import_id}/columns").status_code == 303


def test_a_preview_leads_back_to_its_columns(boss: FlaskClient, tmp_path: Path) -> None:
    import_id = sent(boss, as_csv(tmp_path))
    choose(boss, import_id, **UNKNOWN | {"Named": ""})
    assert f"/admin/imports/{import_id}/columns" in page(boss, import_id)
    assert columns_of(columns_page(boss, import_id))["Named"][1] == ""
    choose(boss, import_id, Named="section_title")
    assert latest().state == "ready"
    press(boss, import_id, "apply")
    with transaction() as session:
        assert session.scalars(select(Section.title)).all() == ["Algorithms"]


def test_a_semester_of_several_files_comes_in_whole_as_chosen(
    boss: FlaskClient, tmp_path: Path
) -> None:
    campus = Campus(note="Bring a coat", campus="Main").section("10002", {"days": "WF"})
    campus.restriction("must_be", "level", "Graduate").course("CSC-230").cross_list("CSC-230")
    folder = campus.write(tmp_path / "known")
    meanings = rename_headings(folder, tmp_path / "unknown")
    import_id = sent(boss, zip_of(tmp_path / "unknown"))
    choose(boss, import_id, **dict(pair for pairs in meanings.values() for pair in pairs))
    assert latest().state == "ready"
    press(boss, import_id, "apply")
    sent(boss, as_zip(campus))
    counts = latest().counts
    assert sum(each["unchanged"] for each in counts.values()) == 7
    assert not any(map(count_changes, counts.values()))


# Saved under a name


def test_a_saved_mapping_is_used_when_the_headings_come_again(
    boss: FlaskClient, tmp_path: Path
) -> None:
    import_id = sent(boss, as_csv(tmp_path))
    choose(boss, import_id, mapping="Campus system", **UNKNOWN)
    press(boss, import_id, "apply")
    [entry] = entries("columns.save")
    assert entry.after["name"] == "Campus system"
    assert "Places → Seats" in unescape(boss.get(f"/admin/audit/{entry.id}").text)
    again = sent(boss, as_csv(tmp_path, LINE | {"Places": "130"}))
    assert latest().state == "ready"
    assert "The column mapping “Campus system” is used" in page(boss, again)
    assert "130" in page(boss, again)
    assert columns_of(columns_page(boss, again))["Places"][1] == "capacity"


def test_the_order_of_the_columns_does_not_matter(boss: FlaskClient, tmp_path: Path) -> None:
    choose(boss, sent(boss, as_csv(tmp_path)), mapping="Campus system", **UNKNOWN)
    press(boss, latest().id, "discard")
    write_csv(tmp_path, [LINE], headings=list(reversed(UNKNOWN)))
    sent(boss, zipped({"schedule.csv": (tmp_path / "schedule.csv").read_bytes()}))
    assert latest().state == "ready"


def test_other_headings_are_asked_about_again(boss: FlaskClient, tmp_path: Path) -> None:
    choose(boss, sent(boss, as_csv(tmp_path)), mapping="Campus system", **UNKNOWN)
    press(boss, latest().id, "discard")
    write_csv(tmp_path, [LINE], headings=[*UNKNOWN, "Shoe size"])
    sent(boss, zipped({"schedule.csv": (tmp_path / "schedule.csv").read_bytes()}))
    assert latest().state == "columns"


def test_a_name_is_replaced_for_the_same_headings_and_taken_for_others(
    boss: FlaskClient, tmp_path: Path
) -> None:
    first = sent(boss, as_csv(tmp_path))
    choose(boss, first, mapping="Campus system", **UNKNOWN)
    choose(boss, first, mapping="Campus system", **UNKNOWN | {"Who may": ""})
    with transaction() as session:
        [saved] = session.scalars(select(ColumnMapping)).all()
    assert ["Who may", ""] in saved.meanings["schedule"]
    other = sent(boss, zipped({"schedule.csv": "Ref,Code,Places\n1,CSC-101,30\n"}))
    meanings = {"Ref": "crn", "Code": "course_id", "Places": "capacity"}
    answer = choose(boss, other, mapping="Campus system", **meanings)
    assert answer.status_code == 422
    assert "This name is already used for files with other headings" in answer.text
    assert latest().state == "columns"


def test_a_deleted_mapping_is_gone_but_not_from_an_import_that_has_begun(
    boss: FlaskClient, tmp_path: Path
) -> None:
    import_id = sent(boss, as_csv(tmp_path))
    choose(boss, import_id, mapping="Campus system", **UNKNOWN)
    with transaction() as session:
        number = session.scalars(select(ColumnMapping.id)).one()
    place = f"/admin/imports/columns/{number}/delete"
    assert place in boss.get("/admin/imports").text
    assert boss.post(place, data={"reason": "Old system"}).status_code == 303
    assert place not in boss.get("/admin/imports").text
    assert boss.post(place, data={"reason": "Old system"}).status_code == 404
    [entry] = entries("columns.delete")
    assert (entry.before["name"], entry.reason) == ("Campus system", "Old system")
    press(boss, import_id, "overwrite")  # reads the files again
    press(boss, import_id, "apply")
    assert sections() == ["20551"]
    sent(boss, as_csv(tmp_path))
    assert latest().state == "columns"


# At the command line


def run(*arguments: str | Path) -> CompletedProcess[str]:
    env = {**os.environ, "COLUMNS": "300"}
    return commands.run("import", *map(str, arguments), "--term", "Spring 2021", env=env)


def test_the_command_uses_a_mapping_saved_on_the_page(boss: FlaskClient, tmp_path: Path) -> None:
    choose(boss, sent(boss, as_csv(tmp_path)), mapping="Campus system", **UNKNOWN)
    press(boss, latest().id, "discard")
    done = run(tmp_path / "schedule.csv", "--columns", "Campus system")
    assert done.returncode == 0, done.stderr
    assert "The column mapping “Campus system” is used." in done.stdout
    assert sections() == ["20551"]


def test_the_command_finds_the_mapping_of_the_headings(boss: FlaskClient, tmp_path: Path) -> None:
    choose(boss, sent(boss, as_csv(tmp_path)), mapping="Campus system", **UNKNOWN)
    press(boss, latest().id, "discard")
    done = run(tmp_path / "schedule.csv", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "The column mapping “Campus system” is used" in done.stdout


def test_the_command_says_which_mappings_there_are(boss: FlaskClient, tmp_path: Path) -> None:
    choose(boss, sent(boss, as_csv(tmp_path)), mapping="Campus system", **UNKNOWN)
    press(boss, latest().id, "discard")
    done = run(tmp_path / "schedule.csv", "--columns", "Campus")
    assert done.returncode == 1
    assert "No column mapping is saved under “Campus”. Saved are: Campus system." in done.stderr
    other = tmp_path / "other.csv"
    other.write_text("Ref,Code,Places\n1,CSC-101,30\n", "utf-8")
    done = run(other, "--columns", "Campus system")
    assert (
        "“Campus system” is for other headings. The files have: Ref, Code, Places." in done.stderr
    )


def test_the_command_fails_on_unknown_headings_and_blocks_nothing(
    boss: FlaskClient, tmp_path: Path
) -> None:
    as_csv(tmp_path)
    done = run(tmp_path / "schedule.csv")
    assert done.returncode == 1
    assert "column crn, course_id, capacity is missing. It has: Ref, Area" in done.stderr
    assert latest().state == "failed"
    assert sent(boss, as_zip(Campus()))


def test_a_column_that_is_left_out_is_reported_with_its_first_value(
    boss: FlaskClient, tmp_path: Path
) -> None:
    lines = [LINE | {"Shoe size": ""}, LINE | {"Ref": "20552", "Shoe size": "44"}]
    write_csv(tmp_path, lines, headings=[*UNKNOWN, "Shoe size", "Shoe size"])
    content = zipped({"schedule.csv": (tmp_path / "schedule.csv").read_bytes()})
    import_id = sent(boss, content)
    choose(boss, import_id, **UNKNOWN)
    shown = unescape(page(boss, import_id))
    assert "Shoe size: “44”" in shown
    assert "1 column is not stored" in shown
