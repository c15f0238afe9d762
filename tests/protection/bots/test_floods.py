"""Floods: only their sender is stopped, and no one else who comes the same way."""

import secrets
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import requests
from simple_websocket import Client

from portal.protection.rate_limits import Charge
from portal.waiting_room import room
from portal.web.account import login_limits
from portal.web.http.request_limits import REQUESTS
from tests import cast as builders
from tests.cast import PASSWORD, Cast
from tests.live.nodes import Node
from tests.live.tabs import knock
from tests.protection.bots.bot import Bot
from tests.protection.bots.conftest import Meet
from tests.protection.bots.test_scripts import decisions
from tests.protection.used_up_limits import exhaust
from tests.recorder.processes import wait_for

HONEST = 200
SAME = "127.0.0.1"  # the address of everyone here


@contextmanager
def flooding(*acts: Callable[[], requests.Response]) -> Any:
    """A block in which each act is done as fast as it goes; gives the answers' numbers."""
    over, seen = Event(), Counter[int]()

    def flood(act: Callable[[], requests.Response]) -> None:
        while not over.is_set():
            seen[act().status_code] += 1

    threads = [Thread(target=flood, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    try:
        yield seen
    finally:
        over.set()
        for thread in threads:
            thread.join()


def take_a_seat(bot: Bot, term: Any, section: Any) -> int:
    """All that a student does; gives the number of the last answer."""
    assert bot.come(term) == "in"
    return bot.claim(section).status_code


def test_two_hundred_behind_the_same_address_claim_in_peace(
    meet: Meet, cast: Cast, term: Any, section: Any
) -> None:
    students = [builders.a_student(f"honest{number}") for number in range(HONEST)]
    bots = [meet(student) for student in students]
    script, stranger = meet(cast.ada, proven=False), meet()
    acts = lambda: script.claim(section), lambda: stranger.post("/login", username="ada")
    with flooding(*acts) as seen, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda bot: take_a_seat(bot, term, section), bots))
    assert Counter(answers) == {303: HONEST}
    assert decisions(term) == HONEST
    assert set(seen) <= {400, 403, 429}
    assert seen[429]


def test_one_who_reads_all_the_time_is_stopped_and_is_let_in_again(meet: Meet, cast: Cast) -> None:
    bot = meet(cast.ada)
    exhaust(Charge(REQUESTS, str(cast.ada.account_id)), seconds=5)
    answer = bot.get("/inbox")
    assert answer.status_code == 429
    assert 0 < int(answer.headers["Retry-After"]) <= 5
    assert meet(cast.ben).get("/inbox").status_code == 200
    wait_for(lambda: bot.get("/inbox").status_code == 200)


def test_thousands_of_names_are_not_tried_and_students_get_in_by_a_captcha(
    meet: Meet, cast: Cast
) -> None:
    assert cast
    exhaust(Charge(login_limits.OF_ADDRESS, SAME), seconds=600)
    bot, ada = meet(), meet()
    bot.token, ada.token = bot.read_token("/login"), ada.read_token("/login")
    answers = [
        bot.post("/login", username=secrets.token_hex(4), password="a guess") for _ in range(50)
    ]
    assert {answer.status_code for answer in answers} == {429}
    assert all(int(answer.headers["Retry-After"]) > 0 for answer in answers)
    ada.post("/login/challenge", payload=ada.solve("/login/challenge"))
    assert ada.post("/login", username="ada", password=PASSWORD).status_code == 302


def test_one_account_has_one_place_however_many_ask_for_it(
    meet: Meet, cast: Cast, term: Any, window: Any
) -> None:
    room.set_limits(term.id, window.id, 6000, 0, off=False)
    swarm = [meet(cast.ada) for _ in range(20)]
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda bot: bot.come(term), swarm)) == {"waiting"}
    assert room.state(term.id, window.id).line == 1


def test_a_swarm_of_accounts_has_a_place_for_each_and_no_better_ones(
    meet: Meet, cast: Cast, term: Any, window: Any
) -> None:
    """More accounts are more lots in the draw; the university gives them out."""
    room.set_limits(term.id, window.id, 6000, 0, off=False)
    swarm = [meet(builders.a_student(f"swarm{number}")) for number in range(10)]
    ada = meet(cast.ada)
    assert ada.come(term) == "waiting"
    assert {bot.come(term) for bot in swarm} == {"waiting"}
    assert room.queue_entry(term.id, window.id, cast.ada.id).ahead == 0
    assert room.state(term.id, window.id).line == 11


def test_one_account_keeps_only_so_many_sockets_open(
    meet: Meet, cast: Cast, node: Node, term: Any
) -> None:
    ada, ben = (cookies(meet(student)) for student in (cast.ada, cast.ben))
    opened = [Client.connect(f"ws://{node.host}/ws", headers=ada) for _ in range(20)]
    try:
        assert knock(node.port, {**ada, "Origin": node.origin}).status == 429
        opened.append(Client.connect(f"ws://{node.host}/ws", headers=ben))
    finally:
        for socket in opened:
            socket.close()
            socket.thread.join(5)
    assert term


def cookies(bot: Bot) -> dict[str, str]:
    sent = "; ".join(f"{each.name}={each.value}" for each in bot.http.cookies)
    return {"Cookie": sent, "Origin": "http://127.0.0.1"}
