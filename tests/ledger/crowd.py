"""A crowd of clients in processes of their own, each client with its own connection."""

import json
import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from redis import Redis
from redis.connection import Connection

from portal.ledger.types import Decision
from tests.ledger.requests import OPEN, TERM, Desk, codes

Reply = dict[str, Any]


def together(shares: Sequence[tuple[Any, ...]]) -> list[Any]:
    """What each (task, argument, …) gives, each in its own process.

    A task is given a barrier before its arguments, by which all wait for each other.
    """
    spawning = multiprocessing.get_context("spawn")
    with spawning.Manager() as manager:
        barrier = manager.Barrier(len(shares), timeout=60)
        with ProcessPoolExecutor(len(shares), mp_context=spawning) as pool:
            running = [pool.submit(task, barrier, *arguments) for task, *arguments in shares]
            return [each.result() for each in running]


def storm(
    all_here: Any, address: str, seed: int, size: int, sections: list[int]
) -> list[list[Reply]]:
    """Let a crowd of that size, each with a connection, claim one section after the other.

    Each section has a crowd of its own, whose requests are all sent before an answer is read.
    Gives the answers by section.
    """
    redis = Redis.from_url(address, max_connections=size)
    clients = [redis.connection_pool.make_connection() for _ in range(size)]
    for client in clients:
        client.connect()
    answers = []
    for section in sections:
        all_here.wait()
        crowd = [section * 1000 + seed * size + each for each in range(size)]
        answers.append(rush(clients, crowd, section))
    for client in clients:
        client.disconnect()
    return answers


def rush(clients: Iterable[Connection], students: Iterable[int], section: int) -> list[Reply]:
    """The answers to one claim of each client, sent at the same time."""
    pairs = list(zip(clients, students, strict=True))
    for client, student in pairs:
        client.send_command(
            "FCALL", "fairseat_submit", 1, f"{{t:{TERM}}}", request(student, section)
        )
    return [{"student": student, **said(client.read_response())} for client, student in pairs]


def said(reply: bytes) -> Reply:
    """The answer to the one section of the one line."""
    [line] = json.loads(reply)["lines"]
    [[answer]] = [line["taken"]] if "taken" in line else line["refused"]
    return answer


def request(student: int, section: int) -> str:
    """A claim as the Python face sends it."""
    return json.dumps(
        {
            "student": student,
            "request": f"{student}-{section}",
            "limit": 2100,
            "windows": [OPEN],
            "lines": [{"options": [[{"section": section, "credits": 0}]], "wait": True}],
            "actor": f"student:{student}",
            "correlation": "c",
        }
    )


def schedule(all_here: Any, address: str, window: int) -> None:
    """Put a window that opens, for less than half a second, once the others are pressing."""
    desk = Desk(address)
    all_here.wait()
    now = desk.ledger.now()
    desk.put_window(window, now + 400, now + 800)
    desk.redis.connection_pool.disconnect()


def hammer(all_here: Any, address: str, student: int, window: int) -> list[Decision]:
    """Claim and drop section 12 without pause until the window has ended; all answers."""
    desk = Desk(address)
    answers: list[Decision] = []
    all_here.wait()
    while not answers or "window_ended" not in codes(answers[-1]):
        answers.append(desk.claim(student, 12, windows=[window]))
        answers.append(desk.drop(student, 12, windows=[window], drop_limit=1_000_000))
    desk.redis.connection_pool.disconnect()
    return answers


def throng(all_here: Any, address: str, seed: int, students: list[int]) -> dict[str, int]:
    """Let students claim, be moved by hand and drop in sections 1 to 3, as fast as can be.

    Gives how many seats came and went.
    """
    desk, dice, done = Desk(address), random.Random(seed), Counter[str]()
    all_here.wait()
    for _ in range(4):
        for student in students:
            section, other = dice.sample((1, 2, 3), 2)
            done[desk.claim(student, section).outcome] += 1
            done[desk.adjust(student, add=other, drop=section).outcome] += 1
            for promoted in (1, 2, 3):
                done["promoted"] += len(desk.promote(promoted).promoted)
            if dice.random() < 0.5:
                done[desk.drop(student, dice.choice((section, other)), drop_limit=99).outcome] += 1
    desk.redis.connection_pool.disconnect()
    return done


def drop_all(all_here: Any, address: str, students: list[int]) -> None:
    """Drop section 12 for each of the students, one right after the other."""
    desk = Desk(address)
    all_here.wait()
    for student in students:
        desk.drop(student, 12)
    desk.redis.connection_pool.disconnect()


def promote_until(all_here: Any, address: str, waiting: int) -> list[int]:
    """Promote for section 12 until no more than so many wait; those whom this promoter placed."""
    desk, placed = Desk(address), list[int]()
    all_here.wait()
    deadline = time.monotonic() + 30
    while desk.ledger.seats(TERM)[12].waiting > waiting and time.monotonic() < deadline:
        placed += desk.promote(12).promoted
    desk.redis.connection_pool.disconnect()
    return placed
