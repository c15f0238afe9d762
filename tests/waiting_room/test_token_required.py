"""A claim without an access token is refused at once; with one the ledger decides."""

from collections.abc import Callable
from dataclasses import replace
from time import monotonic, time
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from portal.backend import Backend, backend
from portal.people import tokens
from portal.runtime.embedded_servers import Servers
from portal.waiting_room.access_tokens import LIFETIME, AccessToken
from tests import cast as builders
from tests.cast import Cast
from tests.operations.test_health import stalled
from tests.waiting_room.token_holders import Holder, holder, written
from tests.web.pages import DIALOG, HTMX, held

REFUSED = "It is not your turn yet"


@pytest.fixture
def section(term: Any) -> Any:
    builders.an_open_window(term)
    return builders.a_section(builders.a_course(), term)


@pytest.fixture
def ada(guarded: Flask, section: Any, term: Any, cast: Cast) -> Holder:  # noqa: ARG001
    (window,) = backend().ledger.windows(term.id)
    return holder(guarded, "ada", cast.ada, window, term.id)


def refused(answer: TestResponse) -> bool:
    """Return whether the waiting room refused, and not the ledger."""
    return answer.status_code == 403 and answer.headers.get("Fairseat-Gate") == "pass"


def journal(about: Any) -> int:
    term = getattr(about, "term_id", about.id)
    length: Any = backend().redis.xlen(f"{{t:{term}}}:journal")
    return int(length)


def test_ledger_decides_with_a_token(ada: Holder, section: Any, term: Any, cast: Cast) -> None:
    assert ada.post(section).status_code == 303
    assert held(term, cast.ada) == [section.id]


SPOILED: dict[str, Callable[[AccessToken], AccessToken | str | None]] = {
    "none": lambda _: None,
    "another account's": lambda held: replace(held, account=held.account + 1),
    "another term's": lambda held: replace(held, term=held.term + 1),
    "an ended one": lambda held: replace(held, ends=int(time() * 1000) - 1),
    "a made-up one": lambda _: "WzcsMyw1LDE5MDAwMDAwMDAwMDBd.AAAA",
    "nonsense": lambda _: "é",
}


@pytest.mark.parametrize("act", ["pick", "swap"])
@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_invalid_token_is_refused_and_not_journaled(
    ada: Holder, section: Any, term: Any, act: str, spoil: Callable[[AccessToken], Any]
) -> None:
    before = journal(term)
    assert refused(ada.post(section, act, held=spoil(ada.held), query="?swap_out=1"))
    assert journal(term) == before


def test_changed_token_is_refused(guarded: Flask, ada: Holder, section: Any) -> None:
    content, _, signature = written(guarded, ada.held).rpartition(".")
    longer = written(guarded, replace(ada.held, ends=ada.held.ends + LIFETIME)).rpartition(".")[0]
    assert content != longer
    assert refused(ada.post(section, held=f"{longer}.{signature}"))


def test_token_of_a_window_that_is_not_open_is_refused(
    ada: Holder, section: Any, term: Any
) -> None:
    """The token can't show this: the ledger refuses in the deciding step."""
    coming = builders.a_coming_window(term)
    before = journal(term)
    assert refused(ada.post(section, held=replace(ada.held, window=coming.id)))
    assert journal(term) == before


def test_plan_needs_a_token(ada: Holder, term: Any) -> None:
    address = f"/terms/{term.id}/plan/submit"
    ada.carry(None)
    assert refused(ada.client.post(address))
    ada.carry(ada.held)
    assert not refused(ada.client.post(address))


def test_drop_needs_no_token(ada: Holder, section: Any, term: Any, cast: Cast) -> None:
    ada.post(section)
    assert ada.post(section, "drop", held=None).status_code == 303
    assert held(term, cast.ada) == []


def test_reading_needs_no_token(ada: Holder, section: Any) -> None:
    ada.carry(None)
    assert ada.client.get(f"/terms/{section.term_id}/sections/{section.id}/pick").status_code == 200


def test_anonymous_visitor_gets_no_token(guarded: Flask, ada: Holder, section: Any) -> None:
    before = journal(section)
    answer = replace(ada, client=guarded.test_client()).post(section)
    assert (answer.status_code, answer.location.partition("?")[0]) == (303, "/login")
    assert journal(section) == before


def test_waiting_room_can_be_off(guarded: Flask, ada: Holder, section: Any) -> None:
    guarded.config["GATE"] = False
    assert ada.post(section, held=None).status_code == 303


# Without any service


def test_token_check_needs_neither_redis_nor_postgresql(
    ada: Holder, section: Any, servers: Servers, backend: Backend
) -> None:
    """Both hang, so any call would take seconds."""
    backend.redis.connection_pool.disconnect()
    with stalled(servers, "valkey"), stalled(servers, "postgres"):
        began = monotonic()
        answers = [ada.post(section, held=None, headers=sent) for sent in ({}, HTMX, DIALOG)]
        assert monotonic() - began < 5  # each of the three calls would take two
    assert all(map(refused, answers))


def test_token_check_of_a_program_needs_neither_redis_nor_postgresql(
    guarded: Flask, ada: Holder, servers: Servers
) -> None:
    sent = {"Authorization": "Bearer fs_" + "x" * 43}
    guarded.test_client().post("/api/v1/register", json={}, headers=sent)  # loads everything
    with stalled(servers, "valkey"), stalled(servers, "postgres"):
        began = monotonic()
        answer = guarded.test_client().post("/api/v1/register", json={}, headers=sent)
        assert monotonic() - began < 1.5
    assert refused(answer)
    assert ada


# For each kind of response


def test_refusal_page_links_to_the_queue(ada: Holder, section: Any) -> None:
    text = ada.post(section, held=None).text
    assert REFUSED in text
    assert "Nothing was changed" in text
    assert "<html" in text


def test_refusal_is_shown_in_a_dialog(ada: Holder, section: Any) -> None:
    text = ada.post(section, held=None, headers=DIALOG).text
    assert REFUSED in text
    assert "<html" not in text


def test_refusal_of_a_button_is_a_toast(ada: Holder, section: Any) -> None:
    answer = ada.post(section, held=None, headers=HTMX)
    assert answer.headers["HX-Retarget"] == "#toasts"
    assert REFUSED in answer.text


# Programs


def bearer(account: int) -> dict[str, str]:
    return {
        "Authorization": f"Bearer {tokens.create(account, tokens.TokenRequest(f'of {account}'))}"
    }


def register(guarded: Flask, who: Any, section: Any, **headers: str) -> TestResponse:
    body = {"student_id": who.id, "semester_id": section.term_id, "section_ids": [section.id]}
    return guarded.test_client().post("/api/v1/register", json=body, headers=headers)


def test_program_sends_the_token_as_a_header(
    guarded: Flask, ada: Holder, section: Any, term: Any, cast: Cast
) -> None:
    sent = {**bearer(cast.ada.account_id), "Fairseat-Pass": written(guarded, ada.held)}
    assert register(guarded, cast.ada, section, **sent).status_code == 200
    assert held(term, cast.ada) == [section.id]


def test_program_without_a_token_gets_problem_details(
    guarded: Flask, section: Any, cast: Cast
) -> None:
    answer = register(guarded, cast.ada, section, **bearer(cast.ada.account_id))
    assert refused(answer)
    assert answer.mimetype == "application/problem+json"


def test_program_of_another_account_cannot_use_the_token(
    guarded: Flask, ada: Holder, section: Any, term: Any, cast: Cast
) -> None:
    sent = {**bearer(cast.ben.account_id), "Fairseat-Pass": written(guarded, ada.held)}
    before = journal(term)
    assert refused(register(guarded, cast.ben, section, **sent))
    assert journal(term) == before


def test_token_is_for_one_term(guarded: Flask, ada: Holder, section: Any, cast: Cast) -> None:
    other = replace(ada.held, term=ada.held.term + 1)
    sent = {**bearer(cast.ada.account_id), "Fairseat-Pass": written(guarded, other)}
    assert refused(register(guarded, cast.ada, section, **sent))
