"""How much each may ask for: by account where one is known, else by address."""

from collections import Counter
from math import ceil
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.backend import Backend, backend
from portal.ledger.function_library import prefix
from portal.people import tokens
from portal.protection import rate_limits
from portal.protection.rate_limits import Charge, RateLimit, rate_limiter
from portal.recorder.consistency.audit import audit_term
from portal.web.http import request_limits
from portal.web.http.request_limits import (
    COSTS,
    COSTS_WITHOUT_LOGIN,
    DECISIONS,
    FREE,
    LEAVES,
    PLANNING,
    REQUESTS,
)
from tests import cast as builders
from tests.cast import Cast
from tests.protection.used_up_limits import exhaust_decisions
from tests.waiting_room.token_holders import Holder, holder
from tests.web.pages import DIALOG, HTMX, address, held, hidden, words
from tests.web.visitors import browser_of

SLOWER = 100
SECONDS = 600
CAMPUS = {"REMOTE_ADDR": "192.0.2.7"}


@pytest.fixture
def section(term: Any) -> Any:
    builders.an_open_window(term)
    return builders.a_section(builders.a_course(), term, capacity=100)


@pytest.fixture
def ada(guarded: Flask, section: Any, term: Any, cast: Cast) -> Holder:  # noqa: ARG001
    (window,) = backend().ledger.windows(term.id)
    return holder(guarded, "ada", cast.ada, window, term.id)


@pytest.fixture(autouse=True)
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Minutes last for so long that a test's pace does not matter."""
    monkeypatch.setattr(rate_limits, "MINUTE", SLOWER * rate_limits.MINUTE)


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few strangers share an address."""
    for name in ("REQUESTS_WITHOUT_LOGIN", "REFUSALS_WITHOUT_LOGIN", "GUESSES"):
        monkeypatch.setattr(request_limits, name, RateLimit(name, at_once=12, a_minute=12))


def spend(limit: RateLimit, who: object, left: int = 0) -> None:
    """Let somebody have used a limit up, but for so many."""
    rate_limiter().take_rest(Charge(limit, str(who), limit.at_once - left))


def drop(who: Holder, section: Any, **sent: Any) -> TestResponse:
    return who.post(section, "drop", **sent)


def test_every_endpoint_that_is_counted_apart_is_there(app: Flask) -> None:
    assert {*FREE, *COSTS, *COSTS_WITHOUT_LOGIN} <= set(app.view_functions)


def test_every_view_that_needs_an_access_token_is_a_decision(app: Flask) -> None:
    marked = {
        name for name, view in app.view_functions.items() if hasattr(view, "needs_access_token")
    }
    assert marked
    assert {COSTS.get(name, (None, 0))[0] for name in marked} == {DECISIONS}


def test_decisions_are_limited_together(ada: Holder, section: Any, cast: Cast) -> None:
    exhaust_decisions(section.term_id, cast.ada.id, SECONDS, left=2)
    statuses = [ada.post(section, act).status_code for act in ("pick", "drop", "leave", "pick")]
    assert statuses[2:] == [429, 429]
    assert 429 not in statuses[:2]


def test_sixty_at_once_and_ten_a_minute_are_let_through(ada: Holder, section: Any) -> None:
    answers = [drop(ada, section) for _ in range(62)]
    assert Counter(each.status_code for each in answers[:60]) == {422: 60}
    assert answers[61].status_code == 429
    assert 0 < int(answers[61].headers["Retry-After"]) <= 6 * SLOWER


def test_a_form_with_an_error_counts_like_a_page(ada: Holder, section: Any, cast: Cast) -> None:
    spend(REQUESTS, cast.ada.account_id, left=1)
    assert ada.post(section, request="short").status_code == 400
    assert ada.client.get("/account").status_code == 429


def test_the_audit_knows_the_counts_of_decisions(ada: Holder, section: Any) -> None:
    assert ada.post(section).status_code == 303
    report = audit_term(section.term_id)
    assert (report["differences"], report["clean"]) == ([], True)


def test_leaving_a_waiting_room_has_a_limit_of_its_own(
    ada: Holder, section: Any, cast: Cast
) -> None:
    spend(LEAVES, cast.ada.account_id, left=1)
    leave = f"/terms/{section.term_id}/room/leave"
    assert [ada.client.post(leave).status_code for _ in range(2)] == [303, 429]


def test_a_refused_claim_is_not_journaled(
    ada: Holder, section: Any, cast: Cast, backend: Backend
) -> None:
    exhaust_decisions(section.term_id, cast.ada.id, SECONDS)
    before = backend.redis.xlen(f"{{t:{section.term_id}}}:journal")
    assert ada.post(section).status_code == 429
    assert backend.redis.xlen(f"{{t:{section.term_id}}}:journal") == before


def test_pressing_again_later_counts_once(ada: Holder, section: Any, term: Any, cast: Cast) -> None:
    exhaust_decisions(section.term_id, cast.ada.id, SECONDS)
    assert ada.post(section, request="the-same-key").status_code == 429
    waited(section.term_id, cast.ada.id)
    answers = [ada.post(section, request="the-same-key").status_code for _ in range(2)]
    assert (answers, held(term, cast.ada)) == ([303, 303], [section.id])


def waited(term: int, student: int) -> None:
    """Let the student have been patient."""
    backend().redis.delete(f"{prefix(term)}:rate:{student}")
    rate_limiter().own.clear()


def test_a_page_says_what_to_do_and_has_the_form_to_send_again(
    ada: Holder, section: Any, cast: Cast
) -> None:
    exhaust_decisions(section.term_id, cast.ada.id, SECONDS)
    answer = ada.post(section, request="the-same-key", back='/terms/1?q=a&b="c"', wait="1")
    text = words(answer.text)
    assert "Too many attempts" in text
    assert "Your seats and waitlist positions are safe" in text
    minutes = ceil(int(answer.headers["Retry-After"]) / 60)
    assert f"Wait {minutes} minutes, then try again." in text
    assert f'action="{address(section, "pick")}"' in answer.text
    sent = hidden(answer.text[answer.text.index("<h1>") :])
    assert sent["request"] == "the-same-key"
    assert sent["wait"] == "1"
    waited(section.term_id, cast.ada.id)
    assert ada.client.post(address(section, "pick"), data=sent).status_code == 303


def test_a_dialog_has_the_form_to_send_again(ada: Holder, section: Any, cast: Cast) -> None:
    exhaust_decisions(section.term_id, cast.ada.id, SECONDS)
    answer = ada.post(section, request="the-same-key", headers=DIALOG)
    assert answer.status_code == 429
    assert 'id="dialog-title"' in answer.text
    assert f'hx-post="{address(section, "pick")}"' in answer.text
    assert 'name="request" value="the-same-key"' in answer.text
    assert "Send again" in answer.text


def test_a_button_is_answered_with_a_toast(ada: Holder, section: Any, cast: Cast) -> None:
    spend(PLANNING, cast.ada.account_id)
    answer = ada.client.post(
        f"/terms/{section.term_id}/plan/change", data={"do": "up", "version": "0"}, headers=HTMX
    )
    assert (answer.status_code, answer.headers["HX-Retarget"]) == (429, "#toasts")
    assert "Too many attempts" in answer.text


def test_a_program_gets_problem_details(guarded: Flask, cast: Cast) -> None:
    spend(REQUESTS, cast.ada.account_id)
    token = tokens.create(cast.ada.account_id, tokens.TokenRequest("a program"))
    sent = {"Authorization": f"Bearer {token}"}
    answer = guarded.test_client().get("/api/v1/me", headers=sent)
    assert (answer.status_code, answer.mimetype) == (429, "application/problem+json")
    assert answer.json
    assert f"Wait {answer.headers['Retry-After']} seconds" in answer.json["detail"]


def test_an_account_is_one_however_it_comes(ada: Holder, guarded: Flask, cast: Cast) -> None:
    token = tokens.create(cast.ada.account_id, tokens.TokenRequest("a program"))
    phone = browser_of(guarded, "ada")
    spend(REQUESTS, cast.ada.account_id, left=2)
    assert ada.client.get("/inbox").status_code == 200
    assert phone.get("/inbox").status_code == 200
    program = guarded.test_client().get("/api/v1/me", headers={"Authorization": f"Bearer {token}"})
    assert [program.status_code, phone.get("/inbox").status_code] == [429, 429]


def test_who_reads_too_much_may_still_claim(ada: Holder, section: Any, cast: Cast) -> None:
    spend(REQUESTS, cast.ada.account_id)
    assert ada.client.get("/inbox").status_code == 429
    assert ada.post(section).status_code == 303


def test_no_one_pays_for_others_behind_the_same_address(
    guarded: Flask, cast: Cast, ada: Holder, section: Any
) -> None:
    ben = browser_of(guarded, "ben")
    spend(REQUESTS, cast.ben.account_id)
    spend(request_limits.REQUESTS_WITHOUT_LOGIN, "127.0.0.1")
    assert ben.get("/inbox").status_code == 429
    assert guarded.test_client().get("/login").status_code == 429
    assert ada.client.get("/inbox").status_code == 200
    assert ada.post(section).status_code == 303


@pytest.mark.usefixtures("strict")
def test_strangers_are_counted_by_address(guarded: Flask) -> None:
    spend(request_limits.REQUESTS_WITHOUT_LOGIN, "192.0.2.7", left=1)
    client = guarded.test_client()
    answers = [client.get("/login", environ_base=CAMPUS).status_code for _ in range(2)]
    assert answers == [200, 429]
    assert client.get("/login", environ_base={"REMOTE_ADDR": "192.0.2.8"}).status_code == 200


@pytest.mark.usefixtures("strict")
def test_a_login_costs_more_than_a_page(guarded: Flask) -> None:
    client = guarded.test_client()
    sent = {"username": "nobody", "password": "sesame"}
    answers = [client.post("/login", data=sent, environ_base=CAMPUS).status_code for _ in range(2)]
    assert answers == [422, 429]
    assert "sesame" not in client.post("/login", data=sent, environ_base=CAMPUS).text


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("page", ["/live", "/ready", "/clock", "/static/build/style.css"])
def test_what_every_page_needs_is_free(guarded: Flask, page: str) -> None:
    spend(request_limits.REQUESTS_WITHOUT_LOGIN, "127.0.0.1")
    with guarded.test_client().get(page) as answer:
        assert answer.status_code in {200, 503}


def test_whoever_is_refused_all_the_time_gets_a_brief_answer(ada: Holder, section: Any) -> None:
    answers = [ada.post(section, held=None) for _ in range(62)]
    assert Counter(each.status_code for each in answers[:60]) == {403: 60}
    assert (answers[-1].status_code, answers[-1].mimetype) == (429, "text/plain")
    assert int(answers[-1].headers["Retry-After"]) <= SLOWER
    assert len(answers[-1].data) < 200
    assert ada.post(section).status_code == 303  # what is good is not hindered by it


@pytest.mark.usefixtures("strict")
def test_refusals_of_strangers_are_bounded_too(guarded: Flask, section: Any) -> None:
    anyone = guarded.test_client()
    claim = address(section, "pick")
    answers = [anyone.post(claim, environ_base=CAMPUS).status_code for _ in range(14)]
    assert answers == [303] * 12 + [429] * 2


@pytest.mark.usefixtures("strict")
def test_tokens_are_not_guessed_for_long_and_known_ones_go_on(guarded: Flask, cast: Cast) -> None:
    token = tokens.create(cast.ada.account_id, tokens.TokenRequest("a program"))
    program = guarded.test_client()

    def asks(text: str) -> int:
        sent = {"Authorization": f"Bearer {text}"}
        return program.get("/api/v1/me", headers=sent).status_code

    assert asks(token) == 200
    guesses = [asks(f"fs_{number:043}") for number in range(20)]
    assert guesses == [401] * 11 + [429] * 9
    assert asks(token) == 200


def test_a_limited_page_is_read_in_spanish_too(ada: Holder, section: Any, cast: Cast) -> None:
    exhaust_decisions(section.term_id, cast.ada.id, SECONDS)
    answer = ada.post(section, headers={"Accept-Language": "es"})
    assert answer.status_code == 429
    assert "Too many" not in answer.text


def test_without_the_gate_nothing_is_limited(app: Flask, client: FlaskClient) -> None:
    assert app.config["GATE"] is False
    spend(request_limits.REQUESTS_WITHOUT_LOGIN, "127.0.0.1")
    assert client.get("/login").status_code == 200
