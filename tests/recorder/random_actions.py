"""Random actions in a term, by a seed."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from threading import Event
from typing import Any

from portal.backend import backend
from portal.ledger.types import DEADLINES, Candidate, PoolSpec, Reason, ReserveSpec
from tests.recorder.rush import Rush, adjust, claim, drop, leave, spec


def storm(rush: Rush, seed: int, steps: int = 400) -> None:
    """Run so many random steps on the ledger without recording them."""
    dice = random.Random(seed)
    for version in range(2, steps + 2):
        student, section = dice.choice(rush.students), dice.choice(rush.sections)
        ledger = backend().ledger
        match dice.choices(
            ("claim", "swap", "drop", "leave", "promote", "set", "turn", "again", "adjust", "late"),
            WEIGHTS,
        )[0]:
            case "claim":
                band = dice.choice((None, None, 2, 3))
                claim(rush, student, section, reserves=dice.choice(((), (1,))), band=band)
            case "swap" | "adjust" as how:
                _exchange(rush, student, section, how, dice)
            case "drop":
                drop(rush, student, section)
            case "leave":
                leave(rush, student, section)
            case "promote":
                heads = ledger.head(rush.term, section, 3)
                candidates = [_candidate(rush, head, dice) for head in heads]
                ledger.promote(rush.term, section, candidates, "storm")
            case "set":
                capacity, status = dice.randint(0, 6), dice.choice(STATUSES)
                pool = dice.choice((None, PoolSpec(1, capacity * 2, version), PoolSpec(2, 9, 1)))
                result = spec(section, capacity=capacity, status=status, version=version, pool=pool)
                result = replace(result, reserves=(ReserveSpec(1, dice.randint(0, 3)),))
                ledger.put_section(rush.term, result)
            case "turn" | "late" as how:
                _let_time_pass(rush, how, seed * 10_000 + version, dice)
            case "again":
                ledger.reconsider(rush.term, section)


@contextmanager
def storming(rush: Rush) -> Iterator[None]:
    """Let two threads act at random while the body runs; neither may fail."""
    enough = Event()

    def act(seed: int) -> None:
        for each in count(seed, 2):
            storm(rush, each, 50)
            if enough.is_set():
                return

    with ThreadPoolExecutor(2) as pool:
        storms = [pool.submit(act, seed) for seed in (1, 2)]
        try:
            yield
        finally:
            enough.set()
    assert [each.exception() for each in storms] == [None, None]


WEIGHTS = (12, 6, 5, 2, 4, 2, 1, 1, 2, 1)
STATUSES = ("OPEN", "OPEN", "OPEN", "CONFIRMED", "CANCELED")


def _let_time_pass(rush: Rush, how: str, number: int, dice: random.Random) -> None:
    """Open a window, or set a deadline that may have passed."""
    ledger = backend().ledger
    now = ledger.now()
    if how == "turn":
        ledger.put_window(rush.term, number, "More", now - 1000, now + 59_000, {}, "")
        ledger.turn(rush.term)
    else:
        ends = now + dice.choice((-1, 60_000))
        ledger.put_deadlines(rush.term, {dice.choice(DEADLINES): ends}, number)


def _exchange(rush: Rush, student: int, section: int, how: str, dice: random.Random) -> None:
    """Return a held seat to swap, if there is one."""
    held = [each.section for each in backend().ledger.registrations(rush.term, student).enrolled]
    gone = dice.choice(held) if held else None
    if how == "swap":
        needs, band = _needs(held, dice), dice.choice((None, 2))
        claim(rush, student, section, swap_out=gone, corequisites=needs, band=band)
    else:
        adjust(rush, student, None if gone == section else section, gone)


def _needs(held: list[int], dice: random.Random) -> dict[str, Any] | None:
    """Return a held course as a corequisite, which must then stay."""
    return {"course": dice.choice(held)} if held and dice.random() < 0.3 else None


def _candidate(rush: Rush, student: int, dice: random.Random) -> Candidate:
    rules = () if dice.random() < 0.6 else (Reason("hold", {"office": "Bursar"}),)
    cohorts = dice.choice(((), (1,)))
    return Candidate(student, (rush.window,), 100_000, rules=rules, reserves=cohorts)
