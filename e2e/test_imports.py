"""An admin imports through the page, with what is wrong in sight, and a student sees the result."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect
from sqlalchemy import update

from e2e import variants
from e2e.axe import barriers
from e2e.contrast import PHONE
from e2e.person import Meet, Person
from e2e.sizes import too_wide
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from tests import cast as builders
from tests.exchange import whole_semesters
from tests.exchange.campus import Campus
from tests.exchange.class_schedules import ALGORITHMS, banner_lines, write_xlsx
from tests.exchange.makers import as_zip, set_cell, zipped


@pytest.fixture
def files(term: Term, tmp_path: Path) -> Path:
    """A section that is new to the term, in a zip; one row of it makes no sense."""
    campus = Campus(crn="77001", term=term.name)
    campus.rows["courses.csv"][0]["title"] = "Imported just now"
    campus.meets(crn="77001", date_start=f"{term.starts_on}", date_end=f"{term.ends_on}")
    campus.restriction("must_be", "level", "Graduate", crn="99")
    path = tmp_path / "semester.zip"
    path.write_bytes(as_zip(campus))
    return path


def send(boss: Person, files: Path, term: Term) -> None:
    boss.go("/admin/imports")
    boss.page.get_by_label("Files", exact=True).set_input_files(files)
    boss.page.get_by_label("Term", exact=True).fill(term.name)
    boss.page.get_by_role("button", name="Upload and preview").click()
    expect(boss.page.get_by_role("button", name="Apply the import")).to_be_visible()


def test_a_student_sees_a_section_once_it_is_applied(
    meet: Meet, term: Term, section: Section, files: Path
) -> None:
    builders.an_open_window(term)
    boss, ada = meet("max"), meet("ada").enter(term)
    expect(ada.row(section)).to_be_visible()
    send(boss, files, term)
    found = ada.page.get_by_role("heading", name="Imported just now")
    ada.page.reload()
    expect(found).to_have_count(0)
    boss.page.get_by_role("button", name="Apply the import").click()
    said = "The import was applied, except 1 refused value or row."
    expect(boss.page.get_by_text(said)).to_be_visible()
    ada.asks_until(found)


def test_refused_rows_are_shown_without_scripts(meet: Meet, term: Term, files: Path) -> None:
    boss = meet("max", java_script_enabled=False)
    boss.go("/admin/imports")
    boss.page.get_by_label("Files", exact=True).set_input_files(files)
    boss.page.get_by_label("Term", exact=True).fill(term.name)
    boss.page.get_by_role("button", name="Upload and preview").click()
    refused = boss.page.get_by_text("restrictions.csv, line 2")
    expect(refused).to_be_visible()
    expect(boss.page.get_by_text("Add the section to sections.csv").first).to_be_visible()
    with boss.page.expect_download() as download:
        boss.page.get_by_role("link", name="Full report (CSV)").click()
    assert "orphan" in Path(download.value.path()).read_text("utf-8")


@variants.scripts("no scripts")
def test_columns_with_unknown_headings_are_chosen_by_keyboard_on_a_phone(
    meet: Meet, term: Term, tmp_path: Path, *, scripts: bool
) -> None:
    rows = "Ref,Course code,Named,Credits,Places\n88001,CSC-701,Knots and braids,4,25\n"
    file = tmp_path / "schedule.csv"
    file.write_text(rows, "utf-8")
    boss = meet("max", viewport=PHONE, java_script_enabled=scripts)
    page, apply = boss.page, boss.page.get_by_role("button", name="Apply the import")
    boss.go("/admin/imports")
    page.get_by_label("Files", exact=True).set_input_files(file)
    page.get_by_label("Term", exact=True).fill(term.name)
    page.get_by_role("button", name="Upload and preview").press("Enter")
    expect(page.get_by_role("heading", name="What the columns mean")).to_be_visible()
    expect(page.get_by_label("Course code")).to_have_value("course_id")
    expect(page.get_by_role("row").filter(has_text="Knots and braids")).to_be_visible()
    read = page.get_by_role("button", name="Read the files and preview")
    page.get_by_label("Ref").press("R")  # the first choice that begins with it
    page.get_by_label("Named").select_option("Registration number (CRN)")
    read.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("“Ref” and “Named” both mean")
    page.get_by_label("Named").select_option("Section title")
    page.get_by_label("Places").select_option("Seats")
    page.get_by_label("Save under a name (optional)").fill(f"Campus {scripts}")
    read.press("Enter")
    expect(apply).to_be_visible()
    expect(page.get_by_text(f"The column mapping “Campus {scripts}” is used")).to_be_visible()
    page.get_by_role("button", name="Discard").press("Enter")
    boss.go("/admin/imports")
    page.get_by_label("Files", exact=True).set_input_files(file)
    page.get_by_label("Term", exact=True).fill(term.name)
    page.get_by_role("button", name="Upload and preview").press("Enter")
    expect(apply).to_be_visible()
    expect(page.get_by_text(f"The column mapping “Campus {scripts}” is used")).to_be_visible()
    apply.press("Enter")
    expect(page.get_by_text("The import was applied")).to_be_visible()
    boss.go("/admin/imports")
    page.get_by_role("link", name=f"Delete Campus {scripts}").press("Enter")
    page.get_by_label("Reason").fill("The test is over")
    page.get_by_role("button", name="Delete", exact=True).press("Enter")
    expect(page.get_by_text(f"Column mapping “Campus {scripts}” deleted.")).to_be_visible()


def test_a_class_schedule_of_another_system_comes_in_and_edits_of_it_stay(
    meet: Meet, term: Term, tmp_path: Path
) -> None:
    boss = meet("max")
    first_line = boss.page.locator("main p", has=boss.page.locator("a[href='#notes']")).first
    unclear = ALGORITHMS | {"CRN": "77002", "Restrictions": "Special approval of the dean"}
    no_number = ALGORITHMS | {"CRN": "77003", "Sec": "A02", "Cap": "abc"}
    send(boss, write_xlsx(tmp_path, [unclear, no_number]), term)
    expect(first_line).to_have_text(re.compile(r"^\s*Rows to check:\s+2 refused"))
    expect(boss.page.get_by_text("“Special approval of the dean”").first).to_be_visible()
    refused = boss.page.locator(".import-notes", has_text="abc")
    expect(refused.locator("li p")).to_have_text(
        [re.compile("Cap: “abc”$"), "Write a whole number."]
    )
    expect(refused.get_by_text("This value can’t be read")).to_have_count(1)  # said once
    boss.page.get_by_role("button", name="Apply the import").click()
    said = "The import was applied, except 2 refused values or rows."
    expect(boss.page.get_by_text(said)).to_be_visible()
    with transaction() as session:
        session.execute(update(Section).where(Section.crn == "77002").values(capacity=99))
    send(boss, write_xlsx(tmp_path, [ALGORITHMS | {"CRN": "77002", "Title": "Graphs"}]), term)
    expect(boss.page.get_by_text("Here: “99”.")).to_be_visible()
    expect(first_line).to_contain_text("edited here")
    boss.page.get_by_role("button", name="Use the files’ values").click()
    expect(boss.page.get_by_text("The file’s value replaces it.").first).to_be_visible()
    expect(first_line).to_contain_text("overwritten")


def test_a_whole_semester_as_banner_writes_it_comes_in(meet: Meet, tmp_path: Path) -> None:
    boss, name = meet("max"), "Winter 2033"
    files = whole_semesters.write_semester(tmp_path / "semester")
    book = write_xlsx(tmp_path, banner_lines(files, ", "))
    boss.go("/admin/imports")
    boss.page.get_by_label("Files", exact=True).set_input_files(book)
    boss.page.get_by_label("Term", exact=True).fill(name)
    boss.page.get_by_role("button", name="Upload and preview").click()
    apply = boss.page.get_by_role("button", name="Apply the import")
    expect(apply).to_be_visible()
    sections = boss.page.get_by_role("region", name="Changes").get_by_role("row", name="Sections")
    expect(sections.get_by_role("cell").first).to_have_text(f"{whole_semesters.SECTIONS}")
    expect(boss.page.get_by_text("refused")).to_have_count(0)
    apply.click()
    expect(boss.page.get_by_text("The import was applied.")).to_be_visible()
    boss.page.get_by_role("link", name="View sections").click()
    expect(boss.page.get_by_text(f"{whole_semesters.SECTIONS} in {name}")).to_be_visible()
    boss.page.get_by_role("link", name="Topics of").first.click()
    expect(boss.page.locator("main")).to_contain_text("Class Schedule.xlsx")  # in its history


def test_a_workbook_goes_out_is_edited_and_only_its_edited_cells_come_in(
    meet: Meet, term: Term, section: Section, others: list[Section], tmp_path: Path
) -> None:
    builders.an_open_window(term)
    boss, ada = meet("max"), meet("ada").enter(term)
    boss.go("/admin/imports")
    with boss.page.expect_download() as download:
        boss.page.get_by_role("link", name=f"Semester workbook of {term.name} (xlsx)").click()
    book = tmp_path / download.value.suggested_filename
    download.value.save_as(book)
    boss.go(f"/admin/terms/{term.id}/sections/{others[0].id}/edit")  # after the download
    boss.page.locator("#capacity").fill("7")
    boss.page.get_by_role("button", name="Review").click()
    boss.page.get_by_label("Reason").fill("A larger room.")
    boss.page.get_by_role("button", name="Save changes").click()
    set_cell(book, "sections", "capacity", 23, key=section.crn)
    set_cell(book, "courses", "title", "Knots and braids", key=section.title)
    set_cell(book, "sections", "status", "Canceled", key=others[1].crn)
    send(boss, book, term)
    expect(boss.page.get_by_text("1 section is canceled.")).to_be_visible()
    changes = boss.page.get_by_role("region", name="Changes")
    for kind, changed, same in (("Courses", 1, 2), ("Sections", 1, 2), ("Subjects", 0, 3)):
        row = changes.get_by_role("row", name=kind)
        expect(row.get_by_role("cell")).to_have_text(["0", str(changed), "0", str(same)])
    for kind, edited in (
        ("Sections", "20 → 23"),
        ("Courses", f"{section.title} → Knots and braids"),
    ):
        changes.get_by_text(f"{kind}: Changed, 1").click()
        expect(changes.locator("details", has_text=kind).locator("p")).to_contain_text([edited])
    notes = boss.page.locator(".import-notes")
    expect(notes.get_by_text("Here: “7”.")).to_have_count(1)  # and it stays
    boss.page.get_by_role("button", name="Apply the import").click()  # the browser asks for a tick
    boss.page.get_by_label("Cancel 1 section. Students don’t get their seats back.").check()
    boss.page.get_by_role("button", name="Apply the import").click()
    expect(boss.page.get_by_text("The import was applied.")).to_be_visible()
    expect(ada.seats(section)).to_contain_text("23")
    ada.asks_until(ada.row(section).get_by_text("Knots and braids").first)
    expect(ada.seats(others[0])).to_contain_text("7")
    expect(ada.row(others[1])).to_have_count(0)
    boss.go(f"/admin/terms/{term.id}/sections/{section.id}")
    expect(boss.page.locator("main")).to_contain_text(book.name)  # in its history
    unchanged = boss.page.get_by_text("These files change nothing. Some of their rows")
    boss.go("/admin/imports")
    boss.page.get_by_label("Files", exact=True).set_input_files(book)
    boss.page.get_by_label("Term", exact=True).fill(term.name)
    boss.page.get_by_role("button", name="Upload and preview").click()
    expect(unchanged).to_be_visible()


@variants.scripts("scripts")
def test_dates_that_no_file_has_are_given_on_a_phone(
    meet: Meet, tmp_path: Path, *, scripts: bool
) -> None:
    crn = f"7701{int(scripts)}"
    campus = Campus(crn=crn).meets(crn=crn, date_start="", date_end="")
    path = tmp_path / "semester.zip"
    path.write_bytes(as_zip(campus))
    boss = meet("max", viewport=PHONE, java_script_enabled=scripts)
    page, again = boss.page, boss.page.get_by_role("button", name="Read the files again")
    boss.go("/admin/imports")
    page.get_by_label("Files", exact=True).set_input_files(path)
    page.get_by_label("Term", exact=True).fill(f"Summer of {crn}")
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.get_by_text("No meeting has dates that can be used.")).to_be_visible()
    page.get_by_label("First day").fill("2032-05-10")
    again.click()
    expect(page.locator(".errors li")).to_have_text(
        ["Enter the last day as a date such as 2026-08-31."]
    )
    expect(page.get_by_label("First day")).to_have_value("2032-05-10")
    if scripts:
        assert not too_wide(page)
        assert barriers(page) == []
    page.get_by_label("Last day").fill("2032-08-01")
    again.press("Enter")
    expect(page.get_by_text("Preview: nothing has been changed yet.")).to_be_visible()
    page.get_by_role("button", name="Discard").click()


HOSTILE = {
    "page.csv": (b"<!doctype html><html><body>Log in</body></html>", "page.csv is a web page"),
    "bomb.zip": (
        zipped({"sections.csv": bytes(50 * 2**20)}),
        "sections.csv unpacks to more than 200 times its size.",
    ),
    "columns.csv": ("Colour;Size\nred;9\n".encode("utf-16"), "Colour"),
}


def test_files_that_are_no_semester_are_answered_in_words(
    meet: Meet, term: Term, tmp_path: Path
) -> None:
    boss = meet("max")
    for name, (content, said) in HOSTILE.items():
        (tmp_path / name).write_bytes(content)
        boss.go("/admin/imports")
        boss.page.get_by_label("Files", exact=True).set_input_files(tmp_path / name)
        boss.page.get_by_label("Term", exact=True).fill(term.name)
        boss.page.get_by_role("button", name="Upload and preview").click()
        expect(boss.page.locator("main")).to_contain_text(said)
