"""Events name the window that they were decided in; by itself the time would not tell which."""

from tests.ledger.requests import MINUTE, OPEN, Desk

OLDER, NEWER, ENDED = 21, 22, 23


def during(desk: Desk, name: str) -> list[int | None]:
    """The windows that the events of that name tell of."""
    return [event.get("during") for event in desk.events() if event["name"] == name]


def test_seats_places_and_refusals_name_it(desk: Desk) -> None:
    desk.section(1, capacity=1, waitlist=1)
    for student in (501, 502, 503, 503):
        desk.claim(student, 1)
    desk.drop(501, 1)
    desk.promote(1)
    assert during(desk, "enrolled") == during(desk, "waitlisted") == [OPEN]
    assert during(desk, "refused") == [OPEN, OPEN]
    assert during(desk, "dropped") == during(desk, "promoted") == [OPEN]


def test_of_several_it_is_the_one_that_opened_last(desk: Desk) -> None:
    desk.section(1, capacity=9)
    now = desk.ledger.now()
    desk.put_window(NEWER, now - MINUTE, now + MINUTE)
    desk.put_window(OLDER, now - 2 * MINUTE, now + 2 * MINUTE)
    desk.claim(501, 1, windows=[OLDER, NEWER])
    desk.claim(502, 1, windows=[NEWER, OLDER])
    desk.claim(503, 1, windows=[OLDER])
    assert during(desk, "enrolled") == [NEWER, NEWER, OLDER]


def test_who_asks_again_for_what_is_held_is_refused_in_it_too(desk: Desk) -> None:
    desk.section(1)
    desk.claim(501, 1)
    desk.claim(501, 1)
    assert during(desk, "refused") == [OPEN]


def test_what_is_refused_by_the_clock_was_in_none(desk: Desk) -> None:
    desk.section(1)
    desk.claim(501, 1, windows=[])
    assert during(desk, "refused") == [None]


def test_what_the_registrar_sets_is_in_none(desk: Desk) -> None:
    desk.section(1)
    desk.adjust(501, add=1)
    desk.adjust(501, drop=1)
    assert during(desk, "enrolled") == during(desk, "dropped") == during(desk, "section_set")
    assert during(desk, "enrolled") == [None]
