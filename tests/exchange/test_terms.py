"""Imported terms are drafts, and a renamed term keeps its records for imports and exports."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from flask.testing import FlaskClient
from sqlalchemy import select, text, update

from portal.catalog.models import Term
from portal.core.db import transaction
from portal.exchange.importing.models import Import
from portal.runtime.cli import main
from tests import cast as builders
from tests.exchange.campus import Campus, imported
from tests.exchange.makers import page, press, sent
from tests.exchange.oneroster import School
from tests.exchange.oneroster import imported as imported_oneroster
from tests.web import pages

pytestmark = pytest.mark.usefixtures("backend")


def term_command(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["term", *arguments])


def state_of(name: str) -> str:
    with transaction() as session:
        return session.scalars(select(Term.state).where(Term.name == name)).one()


def rename(boss: FlaskClient, name: str) -> Any:
    with transaction() as session:
        term = session.scalars(select(Term)).one()
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
    with transaction() as session:
        term = session.scalars(select(Term)).one()
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
    with transaction() as session:
        term = session.scalars(select(Term)).one()
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
    with transaction() as session:
        term = session.scalars(select(Term)).one()
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
    with transaction() as session:
        session.execute(update(Import).values(state=state))
    sent = rename(boss, "Autumn 2030")
    assert sent.status_code == 409
    assert "while an import is in progress" in sent.text
    assert state_of("Fall 2030") == "draft"
