"""Imported terms are drafts, and a renamed term keeps its records for imports and exports."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from flask.testing import FlaskClient
from sqlalchemy import select, text

from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.models import Import
from portal.exchange.importing.report import Report
from portal.runtime.cli import main
from tests import cast as builders
from tests.exchange.campus import Campus, imported
from tests.exchange.class_schedules import ALGORITHMS, HEADINGS, write_csv
from tests.exchange.enrolled import the_term
from tests.exchange.makers import change_rows, page, press, sent
from tests.exchange.oneroster import School
from tests.exchange.oneroster import imported as imported_oneroster
from tests.exchange.semester_files import updated
from tests.web import pages

pytestmark = pytest.mark.usefixtures("backend")


def term_command(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["term", *arguments])


def state_of(name: str) -> str:
    with transaction() as session:
        return session.scalars(select(Term.state).where(Term.name == name)).one()


def rename(boss: FlaskClient, name: str) -> Any:
    term = the_term()
    address = f"/admin/terms/{term.id}/edit"
    form = pages.hidden(boss.get(address).text)
    dates = {"starts_on": str(term.starts_on), "ends_on": str(term.ends_on)}
    return boss.post(address, data={**form, **dates, "name": name})


def keys() -> list[tuple[str, str, str]]:
    query = "SELECT kind, sourced_id, key FROM sourced_ids WHERE kind IN ('session', 'class')"
    with transaction() as session:
        return sorted((row[0], row[1], row[2]) for row in session.execute(text(query)))


def test_imported_term_is_a_draft_until_it_is_published(tmp_path: Path) -> None:
    imported(Campus().write(tmp_path), "Spring 2021")
    assert state_of("Spring 2021") == "draft"
    assert term_command("Spring 2021", "publish").exit_code == 0
    assert state_of("Spring 2021") == "published"
    imported(Campus(capacity="40").write(tmp_path), "Spring 2021", update=True)
    assert state_of("Spring 2021") == "published"


def test_page_of_an_import_leads_to_publishing_its_term(boss: FlaskClient) -> None:
    import_id = sent(boss, School().zip(), layout="oneroster")
    press(boss, import_id, "apply")
    term = the_term()
    assert f'href="/admin/terms/{term.id}">Publish the term' in page(boss, import_id)
    assert term_command(term.name, "publish").exit_code == 0
    assert "Publish the term" not in page(boss, import_id)


def test_command_names_what_is_wrong(tmp_path: Path) -> None:
    unknown = term_command("Spring 2021", "publish")
    assert (unknown.exit_code, "There is no term named 'Spring 2021'." in unknown.output) == (
        1,
        True,
    )
    imported(Campus().write(tmp_path), "Spring 2021")
    refused = term_command("Spring 2021", "archive")
    assert (refused.exit_code, "is a draft" in refused.output) == (1, True)
    term_command("Spring 2021", "publish")
    term = the_term()
    builders.a_coming_window(term)
    refused = term_command("Spring 2021", "archive")
    assert refused.exit_code == 1
    assert "Decisions that are not recorded yet" in refused.output


def test_renamed_term_is_the_same_for_files(boss: FlaskClient, tmp_path: Path) -> None:
    imported_oneroster(School().write(tmp_path))
    before = keys()
    assert before
    assert rename(boss, "Autumn 2030").status_code == 303
    renamed = [
        (kind, number, key.replace("Fall 2030", "Autumn 2030")) for kind, number, key in before
    ]
    assert keys() == renamed
    counts, _report = imported_oneroster(School().write(tmp_path))
    assert not any(each.get("added") for each in counts.values()), counts
    assert state_of("Autumn 2030") == "draft"


def test_old_form_sent_again_leaves_a_new_term_of_the_old_name(
    boss: FlaskClient, tmp_path: Path
) -> None:
    imported_oneroster(School().write(tmp_path))
    term = the_term()
    address = f"/admin/terms/{term.id}/edit"
    dates = {"starts_on": str(term.starts_on), "ends_on": str(term.ends_on)}
    form = {**pages.hidden(boss.get(address).text), **dates, "name": "Autumn 2030"}
    assert boss.post(address, data=form).status_code == 303
    before = keys()
    with transaction() as session:
        session.execute(text("INSERT INTO sourced_ids VALUES ('session', 'new', 'Fall 2030', '')"))
    assert boss.post(address, data=form).status_code == 303
    assert keys() == sorted([*before, ("session", "new", "Fall 2030")])


@pytest.mark.parametrize("state", ["columns", "ready", "enrolling"])
def test_term_keeps_its_name_while_an_import_is_pending(
    boss: FlaskClient, tmp_path: Path, state: str
) -> None:
    imported_oneroster(School().write(tmp_path))
    change_rows(Import, state=state)
    sent = rename(boss, "Autumn 2030")
    assert sent.status_code == 409
    assert "while an import is in progress" in sent.text
    assert state_of("Fall 2030") == "draft"


# How files name a term


def of_term(folder: Path, code: str, **more: str) -> Path:
    """A class schedule with a code of its term."""
    line = ALGORITHMS | {"Term": code} | more
    return write_csv(folder, [line], headings=("Term", *HEADINGS))


def update_with(folder: Path, code: str, term: str = "Spring 2021", **more: str) -> Report:
    return updated(of_term(folder, code, **more), term=term)[1]


def terms() -> list[str]:
    with transaction() as session:
        return sorted(session.scalars(select(Term.name)))


@pytest.mark.parametrize("name", ["SPRING 2021", "spring  2021", "Spring2021"])
def test_other_capitals_or_spaces_mean_the_term_that_there_is(tmp_path: Path, name: str) -> None:
    imported(of_term(tmp_path, "Spring 2021"), "Spring 2021")
    update_with(tmp_path, "SPRING 2021", name)
    assert terms() == ["Spring 2021"]
    with pytest.raises(ImportFailedError, match="The term “Spring 2021” already exists"):
        imported(of_term(tmp_path, ""), name)


def test_a_name_in_capitals_does_not_get_past_the_archive(tmp_path: Path) -> None:
    imported(of_term(tmp_path, ""), "Spring 2021")
    change_rows(Term, state="archived")
    with pytest.raises(ImportFailedError, match="“Spring 2021” is archived"):
        update_with(tmp_path, "", "SPRING 2021")


def test_files_with_another_code_than_the_first_of_a_term_are_refused(tmp_path: Path) -> None:
    [note] = imported(of_term(tmp_path, "202101"), "Spring 2021").report.of("term_code")
    assert note.value == "202101"
    assert not {"term_code", "term_named"} & {*update_with(tmp_path, "202101").found}
    with pytest.raises(ImportFailedError) as error:
        update_with(tmp_path, "202105")
    assert "“202105”, but earlier files of “Spring 2021” said “202101”" in str(error.value)
    update_with(tmp_path, "SPRING 2021", Cap="130")
    with pytest.raises(ImportFailedError):
        update_with(tmp_path, "202105")


@pytest.mark.parametrize(
    ("title", "term"),
    [
        ("Fall 2020", "Spring 2021"),
        ("Class Schedule - Spring 2020", "Spring 2021"),
        ("Term: 202101", "Fall 2021"),
    ],
)
def test_a_line_above_the_headings_that_names_another_term_refuses_the_files(
    tmp_path: Path, title: str, term: str
) -> None:
    imported(of_term(tmp_path, "202101"), "Spring 2021")
    if term != "Spring 2021":
        imported(of_term(tmp_path, ""), term)
    files = write_csv(tmp_path, [ALGORITHMS | {"Cap": "99"}], "Class Schedule Listing", title)
    with pytest.raises(ImportFailedError) as error:
        updated(files, term=term)
    assert f"These files say that they are of “{title}”" in str(error.value)
    assert f"“{term}”" in str(error.value)


@pytest.mark.parametrize(
    "title", ["SPRING semester 2021", "Fall 2020 to Spring 2021", "Printed 2020", "Term: 209909"]
)
def test_other_lines_above_the_headings_refuse_nothing(tmp_path: Path, title: str) -> None:
    imported(of_term(tmp_path, "202101"), "Spring 2021")
    files = write_csv(tmp_path, [ALGORITHMS | {"Cap": "130"}], title)
    assert updated(files)[0]["section"] == {"changed": 1}


def test_a_line_above_the_headings_of_a_new_term_is_named(tmp_path: Path) -> None:
    files = write_csv(tmp_path, [ALGORITHMS], "Fall 2020")
    [note] = imported(files, "Spring 2021").report.of("term_named")
    assert (note.value, note.more) == ("Fall 2020", "The sections go into “Spring 2021”.")


def test_meetings_outside_the_term_are_named_by_their_dates(tmp_path: Path) -> None:
    imported(of_term(tmp_path, ""), "Spring 2021")
    late = {"Date (MM/DD)": "09/01-12/15"}
    report = update_with(tmp_path, "", **late)
    [note] = report.of("dates_outside")
    assert note.key == ALGORITHMS["CRN"]
    assert note.more == "2021-09-01 to 2021-12-15. Sections: 1."
    assert "dates_outside" not in update_with(tmp_path, "", **late).found


@pytest.mark.parametrize("other", ["Summer 2021", "Spring 2021"])
def test_a_code_of_another_term_is_refused(tmp_path: Path, other: str) -> None:
    imported(of_term(tmp_path, ""), other)
    update_with(tmp_path, "202101")
    with pytest.raises(ImportFailedError) as error:
        update_with(tmp_path, "202101", "Summer 2021")
    assert "“202101”, as earlier files of “Spring 2021” did" in str(error.value)


def test_a_renamed_term_keeps_its_code(boss: FlaskClient, tmp_path: Path) -> None:
    imported(of_term(tmp_path, "202101"), "Spring 2021")
    assert rename(boss, "Winter 2021").status_code == 303
    update_with(tmp_path, "202101", "Winter 2021")
    with pytest.raises(ImportFailedError, match="earlier files of “Winter 2021”"):
        update_with(tmp_path, "202101", "Spring 2021")


def test_a_new_code_of_a_year_that_is_not_the_terms_is_named_first(tmp_path: Path) -> None:
    imported(of_term(tmp_path, ""), "Spring 2021")
    report = update_with(tmp_path, "202201")
    assert report.notes[0].kind == "term_named"
    assert "The year 2022 is not one of “Spring 2021”." in report.notes[0].why
    assert update_with(tmp_path, "202201").of("term_named") == []


def test_a_preview_that_is_not_applied_remembers_no_code(boss: FlaskClient, tmp_path: Path) -> None:
    imported(of_term(tmp_path, ""), "Spring 2021")
    files = of_term(tmp_path, "202201") / "schedule.csv"
    sent(boss, files.read_bytes(), name="schedule.csv")
    assert "term_code" in update_with(tmp_path, "202101").found


# Updates of a term


def test_rows_that_contradict_each_other_change_nothing_of_a_section(tmp_path: Path) -> None:
    imported(of_term(tmp_path, ""), "Spring 2021")
    lines = [{"CRN": "20551", "Cap": each, "WL Cap": "60"} for each in ("130", "140", "150")]
    _, report = updated(write_csv(tmp_path, lines, headings=("CRN", "Cap", "WL Cap")))
    with transaction() as session:
        [section] = session.scalars(select(Section))
    assert (section.capacity, section.waitlist_capacity) == (120, 60)
    found = [(each.action, each.value, each.more) for each in report.of("rows_conflict")]
    assert found == [("refused", each, "The other has “130”.") for each in ("140", "150")]


def test_an_unknown_number_without_a_course_is_named(tmp_path: Path) -> None:
    imported(of_term(tmp_path, ""), "Spring 2021")
    lines = [{"CRN": each, "Cap": "130"} for each in ("20551", "99999")]
    _, report = updated(write_csv(tmp_path, lines, headings=("CRN", "Cap")))
    [note] = report.of("section_unknown")
    assert (note.action, note.column, note.value) == ("refused", "CRN", "99999")
    assert "needs the course" in str(note.todo)


def test_the_preview_says_what_the_files_lack_and_make_drafts_of(
    boss: FlaskClient, tmp_path: Path
) -> None:
    imported(of_term(tmp_path, ""), "Spring 2021")
    change_rows(Term, state="published")
    new = ALGORITHMS | {"CRN": "20552", "Sec": "A02", "WL Cap": "many"}
    files = write_csv(tmp_path, [new]) / "schedule.csv"
    shown = page(boss, sent(boss, files.read_bytes(), name="schedule.csv"))
    assert "update the published term “Spring 2021”, which has 1 section. They make no new" in shown
    assert "1 new section will be a draft" in shown
    assert "1 section of the term is not in these files. It stays as it is." in shown
    assert "ED-D 301-A01 (20551)" in shown
