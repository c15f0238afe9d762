"""Many changes at once: an import does what the preview accepts, and moves no one else."""

from random import Random
from typing import Any

import pytest
from flask import Flask

from portal.exchange.importing.report import LATE
from tests.cast import Cast
from tests.exchange.enrolled import roster
from tests.exchange.makers import latest, press, sent
from tests.exchange.section_changes import having
from tests.web.visitors import browser_of

SECTIONS = "ABCD"


def a_term(chance: Random) -> tuple[dict[str, str], dict[str, Any]]:
    """Sections that are full or nearly so, perhaps two that share seats, and who is in them."""
    count = chance.randint(6, 12)
    places = {str(number): chance.choice(SECTIONS) for number in range(1, count + 1)}
    seats: dict[str, Any] = {
        each: list(places.values()).count(each) + chance.choice([0, 0, 0, 1]) for each in SECTIONS
    }
    if chance.random() < 0.5:
        size = sum(place in "CD" for place in places.values())
        seats["pool"] = ["shared", size, "CD"]
    return places, seats


def shuffled(places: dict[str, str], chance: Random) -> dict[str, str]:
    """Nearly everyone goes elsewhere, some leave, and one comes."""
    pupils = [*places, str(len(places) + 1)]
    chance.shuffle(pupils)
    wanted = {each: chance.choice([*SECTIONS, ""]) for each in pupils}
    if chance.random() < 0.5:  # all go on to the place of another: every seat is needed
        held = list(places.values())
        chance.shuffle(held)
        wanted = dict(zip(places, held, strict=True))
    return {each: place for each, place in wanted.items() if place}


def written(places: dict[str, str]) -> str:
    return " ".join(f"{number}{place}" for number, place in places.items())


@pytest.mark.parametrize("seed", range(8))
def test_what_the_preview_accepts_is_done(app: Flask, cast: Cast, seed: int) -> None:
    boss, chance = browser_of(app, cast.max.username), Random(seed)
    places, seats = a_term(chance)
    press(boss, sent(boss, having(written(places), **seats).zip(), layout="oneroster"), "apply")
    assert dict_of(roster()) == places
    after = shuffled(places, chance)
    import_id = sent(boss, having(written(after), **seats).zip(), layout="oneroster", remove="yes")
    refused = bool(latest().notes.get("seat"))
    press(boss, import_id, "rest" if refused else "apply")
    assert latest().notes.get(LATE, 0) == 0
    now = dict_of(roster())
    if not refused:
        assert now == after
    for number in {*places, *after}:
        assert now.get(number) in {places.get(number), after.get(number)}
        assert number in now or number not in after or number not in places  # nobody lost a seat


def dict_of(found: list[tuple[str, str]]) -> dict[str, str]:
    assert len({number for _, number in found}) == len(found)
    return {number[2:]: crn for crn, number in found}
