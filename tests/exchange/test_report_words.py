"""What is noted of rows is told in the language of its reader, on the page and in the table."""

import csv
import io

import pytest
from flask import Flask

from portal.core.db import transaction
from portal.core.i18n import stored_message
from portal.exchange.importing.report import Note, add_notes
from tests.cast import Cast
from tests.exchange.makers import an_import, latest
from tests.web.visitors import browser_of

SPANISH = {"Accept-Language": "es"}


@pytest.fixture
def noted(app: Flask, cast: Cast) -> Flask:
    """An import with a note whose detail is a message that the catalog knows."""
    an_import(cast.max)
    detail = stored_message("Enter a whole number from 0 to %(most)s.", most=9)
    with transaction() as session:
        note = Note("count", "sections.csv", 7, "10001", "capacity", "lots", detail)
        add_notes(session, latest().id, [note], 1)
    return app


def test_details_on_the_page_are_translated(noted: Flask) -> None:
    boss, here = browser_of(noted, "max"), f"/admin/imports/{latest().id}"
    assert "Enter a whole number from 0 to 9." in boss.get(here).text
    assert "número entero de 0 a 9" in boss.get(here, headers=SPANISH).text


def test_so_does_the_table(noted: Flask) -> None:
    here = f"/admin/imports/{latest().id}/report.csv"
    output = browser_of(noted, "max").get(here, headers=SPANISH).text.lstrip("\ufeff")
    rows = list(csv.DictReader(io.StringIO(output)))
    [row] = [row for row in rows if row["line"] == "7"]
    assert "número entero de 0 a 9" in row["why"]
    assert row["action"] == "guessed"  # for programs


def test_every_note_of_an_import_can_be_translated(app: Flask, cast: Cast) -> None:
    an_import(cast.max, lambda campus: campus.meets(days="XQ").section("10002", credits="lots"))
    shown = browser_of(app, "max").get(f"/admin/imports/{latest().id}").text
    assert "&#39;XQ&#39; is not a list of days." in shown
    assert "&#39;lots&#39; is not a number of credits." in shown


def test_plain_text_details_are_shown_unchanged(noted: Flask) -> None:
    with transaction() as session:
        note = Note("count", "sections.csv", 8, "10001", "capacity", "50%", "'50%' is none.")
        add_notes(session, latest().id, [note], 1)
    shown = browser_of(noted, "max").get(f"/admin/imports/{latest().id}").text
    assert "&#39;50%&#39; is none." in shown
