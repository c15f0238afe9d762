"""A script that does not wait its turn: what it gets."""

import json
from collections import Counter
from typing import Any

import requests

from portal.backend import backend
from portal.people import tokens
from portal.recorder.events import QUEUE
from portal.waiting_room import room
from tests.cast import Cast
from tests.protection.bots.bot import Bot, pick
from tests.protection.bots.conftest import Meet
from tests.web.pages import held


def decisions(term: Any) -> int:
    """How many claims have been decided, whichever way."""
    entries: Any = backend().redis.xrange(f"{{t:{term.id}}}:journal")
    events = [json.loads(fields[b"event"]) for _, fields in entries]
    return sum("student" in each and not each["aggregate"].startswith(QUEUE) for each in events)


def statuses(answers: list[requests.Response]) -> Counter[int]:
    return Counter(answer.status_code for answer in answers)


def inside(bot: Bot, term: Any) -> None:
    """Let it have its turn as everyone has it."""
    assert bot.come(term) == "in"


def test_claims_without_a_turn_are_refused_and_soon_not_even_put_into_words(
    meet: Meet, cast: Cast, term: Any, section: Any
) -> None:
    bot = meet(cast.ada, proven=False)
    answers = [bot.claim(section) for _ in range(100)]
    assert set(statuses(answers)) == {403, 429}
    assert len(answers[-1].content) < 200
    assert decisions(term) == 0


def test_without_the_captcha_there_is_no_turn(
    meet: Meet, cast: Cast, term: Any, window: Any, section: Any
) -> None:
    bot = meet(cast.ada, proven=False)
    assert bot.come(term) == "unproven"
    assert 'name="request"' not in bot.get(pick(section)).text
    assert room.state(term.id, window.id).line == 0
    assert bot.claim(section).status_code == 403


def test_with_the_captcha_it_waits_like_everyone(
    meet: Meet, cast: Cast, term: Any, window: Any, section: Any
) -> None:
    room.set_limits(term.id, window.id, 6000, 0, off=False)
    bot = meet(cast.ada, proven=False)
    assert bot.post("/captcha", payload=bot.solve()).status_code in {204, 302, 303}
    assert [bot.come(term) for _ in range(20)] == ["waiting"] * 20
    assert set(statuses([bot.claim(section) for _ in range(20)])) == {403}
    assert decisions(term) == 0
    assert room.state(term.id, window.id).line == 1


def test_in_its_turn_it_is_as_fast_as_anyone_may_be(
    meet: Meet, cast: Cast, term: Any, section: Any
) -> None:
    bot = meet(cast.ada)
    inside(bot, term)
    answers = [bot.claim(section) for _ in range(120)]
    # 60 at once, and one each 6 seconds.
    assert 60 <= decisions(term) < 80
    assert statuses(answers)[429] == 120 - decisions(term)
    assert 0 < int(answers[-1].headers["Retry-After"]) <= 6
    assert held(term, cast.ada) == [section.id]


def test_one_key_is_one_decision_however_often_it_is_sent(
    meet: Meet, cast: Cast, term: Any, section: Any
) -> None:
    bot = meet(cast.ada)
    inside(bot, term)
    answers = [bot.claim(section, request="one-key-for-all") for _ in range(40)]
    assert set(statuses(answers)) == {303}
    assert decisions(term) == 1


def test_another_students_access_token_is_of_no_use(
    meet: Meet, cast: Cast, term: Any, section: Any
) -> None:
    ada, ben = meet(cast.ada), meet(cast.ben)
    inside(ada, term)
    ben.keep("pass", ada.http.cookies["pass"], f"/terms/{term.id}")
    assert ben.claim(section).status_code == 403
    assert decisions(term) == 0


def test_altered_access_tokens_are_of_no_use(
    meet: Meet, cast: Cast, term: Any, section: Any
) -> None:
    bot = meet(cast.ada)
    inside(bot, term)
    good = bot.http.cookies["pass"]
    for at in range(0, len(good) - 1, 2):
        changed = good[:at] + ("A" if good[at] != "A" else "B") + good[at + 1 :]
        bot.keep("pass", changed, f"/terms/{term.id}")
        assert bot.claim(section).status_code in {403, 429}
    assert decisions(term) == 0


def test_without_a_form_token_nothing_is_taken(
    meet: Meet, cast: Cast, term: Any, section: Any
) -> None:
    bot = meet(cast.ada)
    inside(bot, term)
    answers = [bot.claim(section, csrf_token=token) for token in ["", "x", "a.b.c"] * 30]
    assert set(statuses(answers)) == {400, 429}
    assert decisions(term) == 0


def test_a_program_with_a_token_needs_a_turn_as_well(
    meet: Meet, cast: Cast, term: Any, section: Any
) -> None:
    token = tokens.create(cast.ada.account_id, tokens.TokenRequest("a bot"))
    bot, body = meet(), {"student_id": cast.ada.id, "semester_id": term.id}
    bot.http.headers["Authorization"] = f"Bearer {token}"
    asked = {**body, "section_ids": [section.id]}
    address = f"{bot.node.origin}/api/v1/register"
    assert {bot.http.post(address, json=asked).status_code for _ in range(20)} == {403}
    assert decisions(term) == 0
