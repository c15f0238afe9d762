"""Each flag acts in processes other than the one that switched it, and both ways."""

import re
from typing import Any

import pytest
from flask import Flask
from simple_websocket import Client

from portal.backend import Backend
from portal.core import breakers, flags
from portal.core.breakers import FAILURES
from portal.core.outage import postgresql
from portal.core.queue import enqueue
from portal.core.settings import ROOT
from portal.live.page import LATER
from portal.operations import workers
from portal.protection.rate_limits import Charge
from portal.waiting_room import room
from portal.web.http.request_limits import REQUESTS
from tests import cast as builders
from tests.cast import Cast
from tests.live.nodes import Node
from tests.live.tabs import Tab, cookie, knock
from tests.notifications.mail_server import a_postman
from tests.notifications.stories import a_story, outbox
from tests.operations.conftest import Meet, Switch
from tests.protection.captcha.elsewhere import Elsewhere
from tests.protection.used_up_limits import exhaust
from tests.recorder.processes import ready, running, wait_for


@pytest.fixture
def term(cast: Cast) -> Any:  # noqa: ARG001
    """One whose window is open."""
    made = builders.a_term()
    builders.an_open_window(made)
    return made


def test_guide_lists_every_switch_by_its_name_on_the_page() -> None:
    guide = (ROOT / "docs/registrars-guide.md").read_text(encoding="utf-8")
    table = guide.partition("| part | switched off |")[2].partition("\n\n")[0]
    names = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", table, re.MULTILINE)
    assert sorted(names) == sorted(map(str, flags.LABELS.values()))


def window_of(backend: Backend, term: Any) -> int:
    (window,) = backend.ledger.windows(term.id)
    return window.id


def test_without_waiting_rooms_whoever_comes_and_whoever_waits_is_let_in(
    meet: Meet, switch: Switch, cast: Cast, term: Any, backend: Backend
) -> None:
    window = window_of(backend, term)
    room.set_limits(term.id, window, 600, 0, off=False)
    ada, ben = meet(cast.ada.account_id), meet(cast.ben.account_id)
    assert ada.come(term) == "waiting"
    switch("waiting_room", on=False)
    wait_for(lambda: ada.come(term) == "in")
    assert ben.come(term) == "in"
    switch("waiting_room", on=True)
    figures = f"/admin/terms/{term.id}/windows/{window}/room/figures"
    wait_for(lambda: "Switched off" not in meet(cast.max.id).get(figures).text)
    assert meet(cast.cleo.account_id).come(term) == "waiting"


def test_who_waits_is_called_by_the_clock_too(backend: Backend, switch: Switch, term: Any) -> None:
    window = window_of(backend, term)
    builders.a_section(builders.a_course(), term)
    room.set_limits(term.id, window, 600, 0, off=False)
    for student in (900_001, 900_002):
        room.enter(term.id, window, student)
    switch("waiting_room", on=False)
    with running(("scheduler",)):
        wait_for(lambda: waiting(backend, term, window) == 0)


def waiting(backend: Backend, term: Any, window: int) -> int:
    """How many stand in line; asked in a way that moves nobody."""
    base = f"{{t:{term.id}}}:room:{window}"
    line: Any = backend.redis.zcard(f"{base}:line")
    called: Any = backend.redis.hget(base, "called")
    return int(line) - int(called or 0)


def test_without_captcha_no_one_is_asked_for_a_proof(
    meet: Meet, switch: Switch, cast: Cast, term: Any
) -> None:
    ada = meet(cast.ada.account_id, proven=False)
    assert ada.come(term) == "unproven"
    switch("captcha", on=False)
    wait_for(lambda: ada.come(term) == "in")
    switch("captcha", on=True)
    # Anew each time: who was let in meanwhile has a pass.
    wait_for(lambda: meet(cast.ben.account_id, proven=False).come(term) == "unproven")


def test_without_the_captcha_server_ours_is_used(
    meet: Meet, switch: Switch, cast: Cast, elsewhere: Elsewhere
) -> None:
    ada = meet(cast.ada.account_id)

    def theirs() -> bool:
        return "remote" in ada.get("/captcha/challenge").json()["parameters"]["data"]

    elsewhere.mood = "well"
    wait_for(theirs)
    switch("captcha_server", on=False)
    wait_for(lambda: not theirs())
    switch("captcha_server", on=True)
    wait_for(theirs)


def test_without_its_breaker_the_captcha_server_is_asked_every_time(
    meet: Meet, switch: Switch, cast: Cast, elsewhere: Elsewhere, backend: Backend
) -> None:
    ada = meet(cast.ada.account_id)
    switch("captcha_breaker", on=False)
    elsewhere.mood = "broken"
    wait_for(lambda: ada.get("/captcha/challenge").ok and asked_though_open(backend, "captcha"))
    elsewhere.mood = "well"
    wait_for(lambda: ada.get("/captcha/challenge").ok and closed(backend, "captcha"))


def test_without_its_breaker_the_login_provider_is_asked_every_time(
    meet: Meet, switch: Switch, cast: Cast, backend: Backend
) -> None:
    ada = meet(cast.ada.account_id)
    switch("provider_breaker", on=False)
    wait_for(
        lambda: ada.get("/login/oidc").status_code and asked_though_open(backend, "provider"),
    )


def asked_though_open(backend: Backend, part: str) -> bool:
    """Whether a call has failed after the breaker had opened; on trial, it would open anew."""
    said = [each for each in breakers.breaker_states(backend.redis) if each.part == part]
    return any(each.rest_ends and 0 < each.failures < FAILURES for each in said)


def closed(backend: Backend, part: str) -> bool:
    said = [each for each in breakers.breaker_states(backend.redis) if each.part == part]
    return bool(said) and all(each.rest_ends is None for each in said)


def test_without_limits_no_one_has_used_them_up(meet: Meet, switch: Switch, cast: Cast) -> None:
    ada = meet(cast.ada.account_id)
    exhaust(Charge(REQUESTS, str(cast.ada.account_id)), seconds=600)
    assert ada.get("/account").status_code == 429
    switch("rate_limits", on=False)
    wait_for(lambda: ada.get("/account").status_code == 200)
    switch("rate_limits", on=True)
    exhaust(Charge(REQUESTS, str(cast.ada.account_id)), seconds=600)
    wait_for(lambda: ada.get("/account").status_code == 429)


def test_without_live_push_pages_are_sent_away_until_it_is_back(
    application: Flask, node: Node, switch: Switch, cast: Cast, term: Any
) -> None:
    headers = {"Origin": "http://127.0.0.1", "Cookie": cookie(application, cast.ada.account_id)}
    tab = Tab(Client.connect(f"ws://{node.host}/ws", headers=headers))
    tab.ask(term.id, [])
    switch("live_push", on=False)
    assert tab.closed() == LATER
    assert knock(node.port, headers).status == 503
    switch("live_push", on=True)
    headers["Origin"] = node.origin
    headers["Host"] = node.host
    wait_for(lambda: knock(node.port, headers).status == 101)


def test_without_mail_letters_wait_and_leave_once_it_is_back(
    switch: Switch, cast: Cast, monkeypatch: pytest.MonkeyPatch, backend: Backend
) -> None:
    switch("mail", on=False)
    with a_postman() as postman:
        monkeypatch.setenv("FAIRSEAT_SMTP", f"smtp://127.0.0.1:{postman.port}")
        story = a_story(cast)
        with running(("worker", "notify")):
            ready("notify")
            story.hand_over(cast.ada, cast.ben)
            wait_for(lambda: finished(backend))
            assert [letter.sent_at for letter in outbox()] == [None]
            assert postman.asked == 0
            switch("mail", on=True)
            wait_for(lambda: enqueue(story.term.id, ["notify"]) or postman.mails)


def finished(backend: Backend) -> bool:
    """Return whether the worker has done what it was called to."""
    (worker,) = workers.workers(backend.redis)
    return worker.successful_job_count > 0 and worker.get_state() == "idle"


def test_without_its_breaker_the_mail_server_is_asked_every_time(
    switch: Switch, cast: Cast, monkeypatch: pytest.MonkeyPatch, backend: Backend
) -> None:
    switch("mail_breaker", on=False)
    monkeypatch.setenv("FAIRSEAT_SMTP", "smtp://127.0.0.1:1")
    story = a_story(cast)
    with running(("worker", "notify")):
        story.hand_over(cast.ada, cast.ben)
        wait_for(
            lambda: enqueue(story.term.id, ["notify"]) or asked_though_open(backend, "mail"),
        )


def test_who_reads_them_learns_that_postgresql_is_back(backend: Backend) -> None:  # noqa: ARG001
    postgresql.begin()
    flags.read()
    assert not postgresql.lasts
