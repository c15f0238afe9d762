"""GET /admin/receipts and /admin/receipts/<code>."""

import re
from time import sleep
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.core.db import transaction
from portal.people.models import Account
from portal.recorder import receipts as pages
from portal.recorder.journal import last_seq
from portal.recorder.receipts import code
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.cast import Cast
from tests.ledger_claims import claim
from tests.web.pages import address, words
from tests.web.visitors import browser_of


@pytest.fixture
def section(cast: Cast) -> Any:
    assert cast
    term = builders.a_term()
    builders.an_open_window(term)
    return builders.a_section(builders.a_course(), term, capacity=0)


@pytest.fixture
def refusal(app: Flask, section: Any) -> str:
    """Return the code of a recorded refusal of Ada's."""
    browser_of(app, "ada").post(address(section, "pick"))
    seq = last_seq(section.term_id)
    drain(section.term_id)
    return code(section.term_id, seq)


@pytest.fixture
def max_(app: Flask, refusal: str) -> FlaskClient:
    assert refusal
    return browser_of(app, "max")


def test_code_leads_to_the_receipt(max_: FlaskClient, refusal: str) -> None:
    typed = refusal.lower().replace("-", " ")
    answer = max_.get("/admin/receipts", query_string={"q": typed}, follow_redirects=True)
    assert answer.request.path == f"/admin/receipts/{refusal}"
    assert "You couldn’t add CSC 1100-01." in words(answer.text)


def test_receipt_shows_student_and_actor(max_: FlaskClient, refusal: str, cast: Cast) -> None:
    text = words(max_.get(f"/admin/receipts/{refusal}").text)
    assert f"Student Ada , {cast.ada.number}" in text
    assert "By Ada" in text
    assert re.search(r"Event \d+, refused", text)
    assert "Recorded" not in text
    assert "Request ID" in text


def test_student_number_leads_to_all_receipts(
    app: Flask, max_: FlaskClient, section: Any, refusal: str, cast: Cast
) -> None:
    browser_of(app, "ben").post(address(section, "pick"))
    drain(section.term_id)
    page = max_.get("/admin/receipts", query_string={"q": cast.ada.number}).text
    assert f"Ada , {cast.ada.number}" in words(page)
    assert re.findall(r'href="/admin/receipts/([\w-]+)"', page) == [refusal]


@pytest.mark.parametrize("wanted", ["Ada", "ADA@", "ada lov"])
def test_student_name_leads_to_their_receipts(
    max_: FlaskClient, refusal: str, wanted: str, cast: Cast
) -> None:
    with transaction() as session:
        account = session.get_one(Account, cast.ada.account_id)
        account.name, account.email = "Ada Lovelace", "ada@example.edu"
    assert "Ada Lovelace" in max_.get("/admin/students", query_string={"q": wanted}).text
    page = max_.get("/admin/receipts", query_string={"q": wanted}).text
    assert re.findall(r'href="/admin/receipts/([\w-]+)"', page) == [refusal]


def test_one_of_several_students_can_be_chosen(max_: FlaskClient, cast: Cast) -> None:
    page = max_.get("/admin/receipts", query_string={"q": "N0"}).text
    assert f'href="/admin/receipts?q={cast.ben.number}"' in page
    assert "Ada" in page


def test_receipts_of_all_terms_are_ordered_by_time(
    max_: FlaskClient, section: Any, cast: Cast
) -> None:
    later = builders.a_term("Spring 2031")
    builders.an_open_window(later)
    claim(cast.cleo, builders.a_section(builders.a_course("MAT-1"), later))
    sleep(0.002)  # the ledger's clock counts ms
    claim(cast.cleo, section)
    for term in (later.id, section.term_id):
        drain(term)
    page = max_.get(f"/admin/receipts?q={cast.cleo.number}").text
    assert page.index("CSC 1100-01") < page.index("MAT 1-01")


def test_page_links_to_older_receipts(
    app: Flask, max_: FlaskClient, section: Any, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PAGE", 1)
    browser_of(app, "ada").post(address(section, "pick"))
    drain(section.term_id)
    page = max_.get("/admin/receipts", query_string={"q": cast.ada.number}).text
    older = re.search(r'href="([^"]*before=[^"]*)"', page)
    assert older
    second = max_.get(older[1].replace("&amp;", "&")).text
    assert re.findall(r"/admin/receipts/([\w-]+)", second) != re.findall(
        r"/admin/receipts/([\w-]+)", page
    )


@pytest.mark.parametrize("wanted", ["7-K3QX-0", "N999999", "<b>"])
def test_unknown_search_says_so(max_: FlaskClient, wanted: str) -> None:
    page = max_.get("/admin/receipts", query_string={"q": wanted}).text
    assert "No receipt or student matches" in words(page)
    assert "<b>" not in page


def test_unknown_code_is_not_found(max_: FlaskClient, section: Any) -> None:
    assert max_.get(f"/admin/receipts/{code(section.term_id, 9999)}").status_code == 404
    assert max_.get("/admin/receipts/nonsense").status_code == 404
