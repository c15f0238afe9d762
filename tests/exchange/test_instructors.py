"""Who teaches, as later files of the same semester tell it."""

from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import text

from portal.catalog.term_catalog import catalog_of, live_terms
from portal.core.db import transaction
from portal.people import accounts
from portal.people.accounts import NewAccount
from tests import cast as builders
from tests.cast import PASSWORD
from tests.exchange.campus import Campus
from tests.exchange.makers import as_zip, latest, page, press, sent, zipped
from tests.exchange.oneroster import imported, moved
from tests.exchange.semester_files import exported as semester_exported
from tests.exchange.semester_files import set_section, updated
from tests.exchange.test_round_trip import exported
from tests.web.visitors import browser_of

TAUGHT = """
    SELECT instructors.name, username
    FROM instructors JOIN section_instructors ON instructor_id = instructors.id
    LEFT JOIN accounts ON accounts.id = account_id ORDER BY instructors.name
"""

REMOVED = """
    DELETE FROM section_instructors WHERE instructor_id IN (SELECT id FROM instructors"""


def campus(instructors: str) -> bytes:
    return as_zip(Campus().meets(instructors=instructors))


def taught() -> list[tuple[str, str | None]]:
    """Who teaches: names, and accounts where they have one."""
    with transaction() as session:
        return [(name, username) for name, username in session.execute(text(TAUGHT))]


def link(username: str, instructor: str) -> None:
    accounts.ensure_account(
        NewAccount(username, name="Somebody", teaches=instructor, password=PASSWORD)
    )


def changed() -> bool:
    return bool(moved(latest().counts))


def test_an_instructor_with_a_new_account_keeps_the_sections(app: Flask, boss: FlaskClient) -> None:
    press(boss, sent(boss, campus("Okafor/Lindqvist")), "apply")
    link("okafor", "Okafor")
    import_id = sent(boss, campus("Okafor/Lindqvist"), remove="yes")
    assert not changed()
    press(boss, import_id, "apply")
    assert taught() == [("Lindqvist", None), ("Okafor", "okafor")]
    assert browser_of(app, "okafor").get("/teaching").status_code == 200


def test_two_names_of_one_account_both_go_on_teaching(boss: FlaskClient) -> None:
    press(boss, sent(boss, campus("Okafor/N. Okafor")), "apply")
    link("okafor", "Okafor")
    link("okafor", "N. Okafor")
    sent(boss, campus("Okafor/N. Okafor"), remove="yes")
    assert not changed()


def test_two_names_of_one_account_keep_the_sections_of_each(boss: FlaskClient) -> None:
    two = as_zip(Campus().meets(instructors="Okafor").section("10002", {"instructors": "C Okafor"}))
    press(boss, sent(boss, two), "apply")
    link("okafor", "Okafor")
    link("okafor", "C Okafor")
    import_id = sent(boss, two, remove="yes")
    assert not changed()
    press(boss, import_id, "apply")
    [term] = live_terms()
    taught_by = {view.crn: view.instructors for view in catalog_of(term.id).sections}
    assert taught_by == {"10001": ("Okafor",), "10002": ("C Okafor",)}


def test_two_names_of_one_account_are_exported_and_come_back(
    boss: FlaskClient, tmp_path: Path
) -> None:
    press(boss, sent(boss, campus("Okafor/N. Okafor")), "apply")
    link("okafor", "Okafor")
    link("okafor", "N. Okafor")
    counts, _report = imported(exported(tmp_path), remove=True)
    assert moved(counts) == {}


# The names in a section's rows are its whole list of instructors


def schedule(*cells: str) -> bytes:
    """A class schedule with a row for each of these cells."""
    rows = "".join(f'10001,"{each}"\n' for each in cells)
    return zipped({"schedule.csv": f"CRN,Instructor\n{rows}"})


def add_by_hand(key: str = "ben_roe") -> str:
    """Have someone teach the sections too, as the page of a section does; return the name."""
    with transaction() as session:
        added = text("INSERT INTO section_instructors SELECT id, :instructor FROM sections")
        person = builders.an_instructor(key)
        session.execute(added, {"instructor": person.id})
    return person.name


def names() -> list[str]:
    return [name for name, _username in taught()]


@pytest.mark.parametrize("files", [schedule("Newman"), campus("Newman")])
def test_instructors_that_later_files_do_not_name_are_removed_and_named(
    boss: FlaskClient, files: bytes
) -> None:
    press(boss, sent(boss, campus("Cutler/Hulbert/Newman")), "apply")
    import_id = sent(boss, files)
    shown = page(boss, import_id)
    assert latest().notes["instructor_removed"] == 2
    assert "Cutler" in shown
    assert "The file has “Newman”." in shown
    press(boss, import_id, "apply")
    assert names() == ["Newman"]
    press(boss, sent(boss, campus("Cutler/Newman")), "apply")
    assert names() == ["Cutler", "Newman"]


def test_all_rows_of_a_section_name_its_instructors_together(boss: FlaskClient) -> None:
    press(boss, sent(boss, campus("Cutler/Hulbert/Newman")), "apply")
    press(boss, sent(boss, schedule("Cutler (P)", "", "Newman")), "apply")
    assert names() == ["Cutler", "Newman"]


@pytest.mark.parametrize("cells", [("",), ("Staff",), ("TBA", "")])
def test_cells_without_a_name_remove_no_one(boss: FlaskClient, cells: tuple[str, ...]) -> None:
    press(boss, sent(boss, campus("Cutler")), "apply")
    press(boss, sent(boss, schedule(*cells)), "apply")
    assert names() == ["Cutler"]


@pytest.mark.parametrize("remove", ["", "yes"])
def test_an_instructor_that_an_admin_added_stays_and_is_named(
    boss: FlaskClient, remove: str
) -> None:
    press(boss, sent(boss, campus("Cutler/Hulbert")), "apply")
    by_hand = add_by_hand()
    with transaction() as session:  # replaced on the section's page
        session.execute(text(f"{REMOVED} WHERE name = 'Hulbert')"))
    import_id = sent(boss, schedule("Hulbert"), remove=remove)
    shown = page(boss, import_id)
    assert f"Here: “{by_hand}”. The file has “Hulbert”." in shown
    assert {"edited": 1, "removed_here": 1, "instructor_removed": 1}.items() <= (
        latest().notes.items()
    )
    press(boss, import_id, "apply")
    assert names() == [by_hand]
    press(boss, sent(boss, schedule("Hulbert")), "overwrite")
    press(boss, latest().id, "apply")
    assert names() == ["Hulbert"]


def test_removal_leaves_instructors_that_an_admin_added_although_the_cell_is_blank(
    boss: FlaskClient,
) -> None:
    press(boss, sent(boss, campus("Cutler")), "apply")
    by_hand = add_by_hand()
    import_id = sent(boss, schedule("Staff"), remove="yes")
    assert f"Here: “{by_hand}”." in page(boss, import_id)
    press(boss, import_id, "apply")
    assert names() == [by_hand]


def test_an_instructor_that_a_file_named_after_an_admin_is_the_files(boss: FlaskClient) -> None:
    press(boss, sent(boss, campus("Cutler")), "apply")
    by_hand = add_by_hand()
    press(boss, sent(boss, schedule(f"{by_hand}; Cutler")), "apply")
    press(boss, sent(boss, schedule("Cutler")), "apply")
    assert names() == ["Cutler"]


def test_an_account_that_was_linked_after_the_files_does_not_make_an_edit(
    boss: FlaskClient,
) -> None:
    press(boss, sent(boss, campus("Okafor/Lindqvist")), "apply")
    link("okafor", "Okafor")
    press(boss, sent(boss, schedule("Lindqvist")), "apply")
    assert names() == ["Lindqvist"]


def test_an_instructor_of_an_edited_export_stays_with_older_files(
    boss: FlaskClient, tmp_path: Path
) -> None:
    press(boss, sent(boss, campus("Okafor")), "apply")
    folder = semester_exported(tmp_path / "export")
    set_section(folder, "instructors", "Lindqvist")
    updated(folder)
    assert names() == ["Lindqvist"]
    press(boss, sent(boss, schedule("Newman")), "apply")
    assert names() == ["Lindqvist", "Newman"]


def test_an_instructor_with_the_name_of_an_account_is_named_until_linked(
    boss: FlaskClient,
) -> None:
    press(boss, sent(boss, campus("Okafor/Lindqvist")), "apply")
    link("okafor", "Okafor")
    later = as_zip(Campus(term="Fall 2021").meets(instructors="Okafor/Lindqvist"))
    import_id = sent(boss, later, term="Fall 2021")
    shown = page(boss, import_id)
    assert "This instructor has the name of someone with an account" in shown
    assert latest().notes["namesake"] == 1
    press(boss, import_id, "apply")
    shown = page(boss, import_id)
    assert "1 instructor has the name of someone with an account" in shown
    assert "/admin/instructors?show=without" in shown
    again = sent(boss, campus("Okafor/Lindqvist"))
    assert "This instructor has the name of" not in page(boss, again)


# Blank cells that erase


def test_a_blank_cell_removes_all_instructors_only_if_blank_cells_erase(boss: FlaskClient) -> None:
    press(boss, sent(boss, campus("Okafor; Lindqvist")), "apply")
    press(boss, sent(boss, campus("")), "apply")
    assert len(taught()) == 2
    press(boss, sent(boss, campus(""), erase="yes"), "apply")
    assert taught() == []


def test_an_instructor_that_an_admin_added_is_not_erased(boss: FlaskClient) -> None:
    press(boss, sent(boss, campus("Okafor")), "apply")
    by_hand = add_by_hand()
    import_id = sent(boss, campus(""), erase="yes")
    assert latest().notes["edited"] == 1
    press(boss, import_id, "apply")
    assert names() == [by_hand]
    press(boss, sent(boss, campus(""), erase="yes"), "overwrite")
    press(boss, latest().id, "apply")
    assert taught() == []


def test_rows_without_a_cell_for_instructors_erase_none(boss: FlaskClient) -> None:
    press(boss, sent(boss, campus("Okafor")), "apply")
    rows = {"sections.csv": "crn,course_id,capacity\n10001,CSC-225,40\n"}
    press(boss, sent(boss, zipped(rows), erase="yes"), "apply")
    assert len(taught()) == 1


def test_a_backslash_escapes_no_bar_in_files_of_another_system(boss: FlaskClient) -> None:
    press(boss, sent(boss, campus("Okafor\\|Lindqvist")), "apply")
    assert [name for name, _ in taught()] == ["Lindqvist", "Okafor"]
    rows = "crn,course_id,capacity,instructors\n10003,CSC-225,40,Ada Byron\\|Ben Roe\n"
    press(boss, sent(boss, zipped({"sections.csv": rows})), "apply")
    assert {"Ada Byron", "Ben Roe"} <= {name for name, _ in taught()}
