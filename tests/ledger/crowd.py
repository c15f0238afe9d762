"""A crowd of clients in separate processes, each client with its own connection."""

import json
import multiprocessing
import os
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
    """Run each (task, argument, …) in its own process and return the results.

    A task gets a barrier before its arguments, at which all wait for each other.
    """
    forking = multiprocessing.get_context("forkserver")
    forking.set_forkserver_preload([__name__])  # so that not each process imports it
    with forking.Manager() as manager:
        barrier = manager.Barrier(len(shares), timeout=60)
        with ProcessPoolExecutor(len(shares), forking, _use, [dict(os.environ)]) as pool:
            running = [pool.submit(task, barrier, *arguments) for task, *arguments in shares]
            return [each.result() for each in running]


def _use(environment: dict[str, str]) -> None:
    """Take the environment of the test: that of the process that forks may be older."""
    os.environ.clear()
    os.environ.update(environment)


def storm(
    all_here: Any, address: str, seed: int, size: int, sections: list[int]
) -> list[list[Reply]]:
    """Let a crowd of that size claim one section after the other; return the answers by section.

    Each section has its own crowd. All its requests are sent before an answer is read.
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
    """Send one claim of each client at the same time and return the answers."""
    pairs = list(zip(clients, students, strict=True))
    for client, student in pairs:
        client.send_command(
            "FCALL", "fairseat_submit", 1, f"{{t:{TERM}}}", request(student, section)
        )
    return [{"student": student, **decision(client.read_response())} for client, student in pairs]


def decision(reply: bytes) -> Reply:
    """Return the decision on the only section of the only choice."""
    [line] = json.loads(reply)["results"]
    [[answer]] = [line["taken"]] if "taken" in line else line["refused"]
    return answer


def request(student: int, section: int) -> str:
    """Return a claim as the Python client sends it."""
    return json.dumps(
        {
            "student": student,
            "idempotency_key": f"{student}-{section}",
            "credit_limit": 2100,
            "windows": [OPEN],
            "choices": [{"alternatives": [[{"section": section, "credits": 0}]], "wait": True}],
            "actor": f"student:{student}",
            "correlation": "c",
        }
    )


def schedule(all_here: Any, address: str, window: int) -> None:
    """Schedule a window that opens for less than half a second while the others send claims."""
    desk = Desk(address)
    all_here.wait()
    now = desk.ledger.now()
    desk.put_window(window, now + 400, now + 800)
    desk.redis.connection_pool.disconnect()


def hammer(all_here: Any, address: str, student: int, window: int) -> list[Decision]:
    """Claim and drop section 12 without pause until the window has ended; return all answers."""
    desk = Desk(address)
    answers: list[Decision] = []
    all_here.wait()
    while not answers or "window_ended" not in codes(answers[-1]):
        answers.append(desk.claim(student, 12, windows=[window]))
        answers.append(desk.drop(student, 12, windows=[window], drop_limit=1_000_000))
    desk.redis.connection_pool.disconnect()
    return answers


def throng(all_here: Any, address: str, seed: int, students: list[int]) -> dict[str, int]:
    """Claim, move and drop students in sections 1 to 3 without pause.

    Return how many seats were given and freed.
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
    """Drop section 12 for each of the students in turn."""
    desk = Desk(address)
    all_here.wait()
    for student in students:
        desk.drop(student, 12)
    desk.redis.connection_pool.disconnect()


def promote_until(all_here: Any, address: str, waiting: int) -> list[int]:
    """Promote in section 12 until at most so many wait; return the students promoted here."""
    desk, placed = Desk(address), list[int]()
    all_here.wait()
    deadline = time.monotonic() + 30
    while desk.ledger.seats(TERM)[12].waiting > waiting and time.monotonic() < deadline:
        placed += desk.promote(12).promoted
    desk.redis.connection_pool.disconnect()
    return placed
