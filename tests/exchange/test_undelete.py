"""What was deleted and comes back by an import is restored, and is called so."""

from pathlib import Path

import pytest
from flask import Flask

from portal.exchange.importing.report import report_rows
from tests.cast import Cast
from tests.exchange.makers import latest, page, sent
from tests.exchange.oneroster import School, imported, moved
from tests.web.visitors import browser_of

GONE = {"status": "tobedeleted", "dateLastModified": "2030-09-01T00:00:00Z"}
BACK = {"status": "active", "dateLastModified": "2030-10-01T00:00:00Z"}


@pytest.mark.usefixtures("backend")
def test_an_account_that_comes_back_is_restored_not_added(tmp_path: Path) -> None:
    imported(School().write(tmp_path))
    sam = School().rows["users"][1]
    imported(School().only("users", sam | GONE).write(tmp_path))
    counts, _report = imported(School().only("users", sam | BACK).write(tmp_path))
    assert moved(counts)["account"] == {"restored": 1}


@pytest.mark.usefixtures("backend")
def test_new_people_are_added(tmp_path: Path) -> None:
    counts, _report = imported(School().write(tmp_path))
    assert moved(counts)["account"] == {"added": 2}


def test_page_and_report_say_restored(app: Flask, cast: Cast, tmp_path: Path) -> None:
    imported(School().write(tmp_path))
    sam = School().rows["users"][1]
    imported(School().only("users", sam | GONE).write(tmp_path))
    back = School().only("users", sam | BACK).zip()
    import_id = sent(browser_of(app, "max"), back, layout="oneroster")
    assert "Accounts: Restored, 1" in page(browser_of(app, "max"), import_id)
    output = [row[:2] for row in report_rows(latest().id, "en")]
    assert ["restored", "account"] in output
    assert cast.max
