"""Events name the window of their decision: the time alone would not identify it."""

from tests.ledger.requests import MINUTE, OPEN, Desk

OLDER, NEWER, ENDED = 21, 22, 23


def during(desk: Desk, name: str) -> list[int | None]:
    """Return the windows in the events of that name."""
    return [event.get("during") for event in desk.events() if event["name"] == name]


def test_events_name_the_open_window(desk: Desk) -> None:
    desk.section(1, capacity=1, waitlist=1)
    for student in (501, 502, 503, 503):
        desk.claim(student, 1)
    desk.drop(501, 1)
    desk.promote(1)
    assert during(desk, "enrolled") == during(desk, "waitlisted") == [OPEN]
    assert during(desk, "refused") == [OPEN, OPEN]
    assert during(desk, "dropped") == during(desk, "promoted") == [OPEN]


def test_events_name_the_window_that_opened_last(desk: Desk) -> None:
    desk.section(1, capacity=9)
    now = desk.ledger.now()
    desk.put_window(NEWER, now - MINUTE, now + MINUTE)
    desk.put_window(OLDER, now - 2 * MINUTE, now + 2 * MINUTE)
    desk.claim(501, 1, windows=[OLDER, NEWER])
    desk.claim(502, 1, windows=[NEWER, OLDER])
    desk.claim(503, 1, windows=[OLDER])
    assert during(desk, "enrolled") == [NEWER, NEWER, OLDER]


def test_refused_repeat_names_the_window_too(desk: Desk) -> None:
    desk.section(1)
    desk.claim(501, 1)
    desk.claim(501, 1)
    assert during(desk, "refused") == [OPEN]


def test_refusal_outside_any_window_names_none(desk: Desk) -> None:
    desk.section(1)
    desk.claim(501, 1, windows=[])
    assert during(desk, "refused") == [None]


def test_registrars_changes_name_no_window(desk: Desk) -> None:
    desk.section(1)
    desk.adjust(501, add=1)
    desk.adjust(501, drop=1)
    assert during(desk, "enrolled") == during(desk, "dropped") == during(desk, "section_set")
    assert during(desk, "enrolled") == [None]
