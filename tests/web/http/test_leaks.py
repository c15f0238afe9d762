"""No request reveals drafts, or one student's data to another."""

import json
import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.recorder.receipts import code, history
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.cast import Cast
from tests.web.visitors import browser_of, without_token

ACTS = ("pick", "swap", "swaps", "plan", "drop", "leave")
KEY = "a" * 32
NAMED = re.compile("CSC.9876")


@pytest.fixture
def draft(term: Any, cast: Cast) -> Any:
    """Return an unpublished section of an unknown course."""
    course = builders.a_course("CSC-9876", title="Unheard-of Matters")
    return builders.a_section(course, term, status="NEW", number="77", instructor=cast.iris)


@pytest.fixture
def shown(term: Any) -> Any:
    return builders.a_section(builders.a_course("CSC-1100"), term)


def test_drafts_are_hidden_from_students(app: Flask, term: Any, draft: Any, shown: Any) -> None:
    ada = browser_of(app, "ada")
    heard = [
        _said(ada, requested, headers)
        for requested in _asked_about(draft, shown)
        for headers in ({}, {"HX-Request": "true"}, {"HX-Request": "true", "HX-Target": "dialog"})
    ]
    drain(term.id)
    pages = ("history", "mine", "plan", "schedule")
    heard += [ada.get(f"/terms/{term.id}/{page}").text for page in pages]
    assert len(heard) > 40
    for text in heard:
        assert not NAMED.search(text)
        assert "Unheard-of" not in text


def test_receipt_of_a_draft_reveals_nothing(app: Flask, cast: Cast, term: Any, draft: Any) -> None:
    ada = browser_of(app, "ada")
    _submit(ada, term, draft.id)
    drain(term.id)
    for receipt in history(cast.ada.id, term.id).receipts:
        page = ada.get(f"/receipts/{receipt.code}").text
        assert "Unheard-of" not in page
        assert not NAMED.search(page)


def test_receipts_of_others_are_not_found(app: Flask, cast: Cast, term: Any, shown: Any) -> None:
    _submit(browser_of(app, "ada"), term, shown.id)
    drain(term.id)
    [receipt] = history(cast.ada.id, term.id).receipts
    ben = browser_of(app, "ben")
    none = code(term.id, 4321)
    hers, nobodys = (ben.get(f"/receipts/{each}") for each in (receipt.code, none))
    assert hers.status_code == nobodys.status_code == 404
    assert _without_code(hers.text) == _without_code(nobodys.text)


def test_receipt_number_does_not_open_the_history_of_others(
    app: Flask, cast: Cast, term: Any, shown: Any
) -> None:
    _submit(browser_of(app, "ada"), term, shown.id)
    drain(term.id)
    [receipt] = history(cast.ada.id, term.id).receipts
    page = browser_of(app, "ben").get(f"/terms/{term.id}/history?before={receipt.code}").text
    assert f"/receipts/{receipt.code}" not in page


def test_forms_act_for_the_logged_in_student(app: Flask, cast: Cast, term: Any, shown: Any) -> None:
    ben = browser_of(app, "ben")
    for name in ("student", "student_id", "account", "user", "id", "_user_id"):
        pick = f"/terms/{term.id}/sections/{shown.id}/pick"
        ben.post(f"{pick}?{name}={cast.ada.id}", data={name: cast.ada.id, "request": KEY})
    drain(term.id)
    assert not history(cast.ada.id, term.id).receipts
    assert history(cast.ben.id, term.id).receipts


def test_key_of_another_student_replays_nothing(
    app: Flask, cast: Cast, term: Any, shown: Any
) -> None:
    pick = f"/terms/{term.id}/sections/{shown.id}/pick"
    for username in ("ada", "ben"):
        browser_of(app, username).post(pick, data={"request": KEY})
    drain(term.id)
    seqs = {
        each.event.seq for who in (cast.ada, cast.ben) for each in history(who.id, term.id).receipts
    }
    assert len(seqs) == 2


def _asked_about(draft: Any, shown: Any) -> list[tuple[str, str, dict[str, Any]]]:
    """Return every way in which a student can name a section."""
    term, position = f"/terms/{draft.term_id}", f"/terms/{draft.term_id}/sections"
    form = {"request": KEY, "version": "0", "place": "new", f"with-{draft.id}": draft.id}
    also = {**form, "with-1": draft.id, "do": "add", f"credits-{draft.id}": "4", "line": "0"}
    requested: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", f"{term}?q={word}", {}) for word in ("9876", "Unheard", draft.crn)
    ]
    requested += [("GET", f"{term}?subject=CSC", {}), ("GET", f"{term}/stage?shown=x", {})]
    requested += [
        ("GET", f"/live/fragments?term={draft.term_id}&{each}={draft.id}", {})
        for each in ("sections", "held")
    ]
    for act in ACTS:
        requested += [
            ("GET", f"{position}/{draft.id}/{act}?swap_out={shown.id}", {}),
            ("POST", f"{position}/{draft.id}/{act}?swap_out={shown.id}", form),
            ("GET", f"{position}/{shown.id}/{act}?swap_out={draft.id}&along={draft.id}", {}),
            ("POST", f"{position}/{shown.id}/{act}?swap_out={draft.id}&along={draft.id}", also),
            ("POST", f"{position}/{shown.id}/{act}", also),
        ]
    requested += [
        ("POST", f"{term}/plan/change", also),
        ("POST", f"{term}/plan/submit", {"plan": _plan(draft.id), "request": KEY}),
    ]
    return requested


def _said(
    client: FlaskClient, asked: tuple[str, str, dict[str, Any]], headers: dict[str, str]
) -> str:
    method, page, form = asked
    answer = client.open(page, method=method, data=form, headers=headers)
    assert answer.status_code < 500
    return answer.text.replace(page, "").replace(_searched(page), "")


def _searched(page: str) -> str:
    """Return the search text, which the page shows again."""
    return page.partition("?q=")[2] or "nothing"


def _submit(client: FlaskClient, term: Any, section: int) -> None:
    client.post(f"/terms/{term.id}/plan/submit", data={"plan": _plan(section), "request": KEY})


def _plan(section: int) -> str:
    return json.dumps([{"options": [[[section]]], "wait": False}])


def _without_code(page: str) -> str:
    return without_token(page).partition("Code for the registrar")[0]
