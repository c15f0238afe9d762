"""GET /terms/<t>/history."""

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.recorder import receipts as pages
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.web.pages import address, press, words
from tests.web.visitors import browser_of

CODES = re.compile(r'href="/receipts/([\w-]+)"')


def refused(client: FlaskClient, section: Any) -> None:
    """Claim a seat in a full section."""
    assert client.post(address(section, "pick")).status_code == 422


def test_empty_history_says_so(ada: FlaskClient, term: Any) -> None:
    assert "Nothing has happened yet." in words(ada.get(f"/terms/{term.id}/history").text)
    page = ada.get(f"/terms/{term.id}/history?only=refused").text
    assert "No refused requests." in words(page)


def test_history_shows_events_reasons_and_counts(app: Flask, ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term, capacity=1)
    press(browser_of(app, "ben"), section, "pick")
    refused(ada, section)
    text = words(ada.get(f"/terms/{term.id}/history").text)
    assert "You couldn’t add CSC 1100-01." in text
    assert "CSC 1100-01 is full." in text
    assert "0 of 1 seat open, 0 waiting." in text


def test_each_entry_links_to_its_receipt(ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term)
    press(ada, section, "pick")
    drain(term.id)
    press(ada, section, "drop")
    codes = CODES.findall(ada.get(f"/terms/{term.id}/history").text)
    assert len(codes) == len(set(codes)) == 2
    for code in codes:
        assert ada.get(f"/receipts/{code}").status_code == 200


def test_history_can_show_only_refusals(ada: FlaskClient, term: Any) -> None:
    full = builders.a_section(builders.a_course(), term, capacity=0)
    free = builders.a_section(builders.a_course("MAT-1"), term)
    refused(ada, full)
    press(ada, free, "pick")
    text = words(ada.get(f"/terms/{term.id}/history?only=refused").text)
    assert "CSC 1100-01" in text
    assert "MAT 1" not in text


def test_history_links_to_older_entries(
    ada: FlaskClient, term: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PAGE", 2)
    full = builders.a_section(builders.a_course(), term, capacity=0)
    for _ in range(3):
        refused(ada, full)
    drain(term.id)
    first = ada.get(f"/terms/{term.id}/history?only=refused").text
    older = re.search(r'href="([^"]*before=[^"]*)"', first)
    assert older
    second = ada.get(older[1].replace("&amp;", "&")).text
    assert len(CODES.findall(first)) == 2
    assert len(CODES.findall(second)) == 1
    assert "only=refused" in older[1]
    assert "Latest" in second


@pytest.mark.parametrize("before", ["nonsense", "1-0001-9", "1-0001-8"])
def test_invalid_page_of_the_history_is_not_found(ada: FlaskClient, term: Any, before: str) -> None:
    assert ada.get(f"/terms/{term.id}/history?before={before}").status_code == 404


def test_history_has_nothing_of_others(app: Flask, ada: FlaskClient, term: Any) -> None:
    press(ada, builders.a_section(builders.a_course(), term), "pick")
    page = browser_of(app, "ben").get(f"/terms/{term.id}/history").text
    assert "Nothing has happened yet." in words(page)


def test_unknown_term_is_not_found(ada: FlaskClient) -> None:
    assert ada.get("/terms/999999/history").status_code == 404


def test_my_selections_link_to_the_history(ada: FlaskClient, term: Any) -> None:
    assert f'href="/terms/{term.id}/history"' in ada.get(f"/terms/{term.id}/mine").text
