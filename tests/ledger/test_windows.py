"""A window's state decides about changes to it, and its times about claims."""

import json
import time

import pytest

from portal.ledger.errors import WindowRefused
from portal.ledger.types import Outcome, WindowView
from tests.ledger.requests import MINUTE, TERM, Desk, codes, facts

COMING, RUNNING, ENDED, CANCELED, MISSING = 11, 12, 13, 14, 99


@pytest.fixture
def start(desk: Desk) -> int:
    """Schedule one window in each state and return the ledger's time."""
    now = desk.ledger.now()
    desk.put_window(COMING, now + 10 * MINUTE, now + 20 * MINUTE)
    desk.put_window(RUNNING, now - MINUTE, now + 20 * MINUTE)
    desk.put_window(ENDED, now - MINUTE, now + 20 * MINUTE)
    desk.ledger.close_window(TERM, ENDED, "registrar")
    desk.put_window(CANCELED, now + 30 * MINUTE, now + 40 * MINUTE)
    desk.ledger.cancel_window(TERM, CANCELED, "registrar")
    return now


def refused(desk: Desk, op: str, window: int, *times: int) -> str:
    with pytest.raises(WindowRefused) as refusal:
        getattr(desk.ledger, op)(TERM, window, *times, "registrar")
    return refusal.value.code


def view(desk: Desk, window: int) -> WindowView:
    return next(each for each in desk.ledger.windows(TERM) if each.id == window)


def test_claim_without_a_window_is_refused_as_unscheduled(desk: Desk) -> None:
    desk.section(1)
    assert codes(desk.claim(501, 1, windows=[])) == ["window_unscheduled"]
    assert codes(desk.claim(501, 1, windows=[MISSING])) == ["window_unscheduled"]


def test_claim_before_the_window_is_refused_with_its_opening(desk: Desk, start: int) -> None:
    desk.section(1)
    opens = facts(desk.claim(501, 1, windows=[COMING]), "window_before")
    assert opens == {"opens": start + 10 * MINUTE}


def test_claim_after_the_window_is_refused_with_its_closing(desk: Desk, start: int) -> None:
    desk.section(1)
    closes = facts(desk.claim(501, 1, windows=[ENDED]), "window_ended")
    assert closes == {"closes": view(desk, ENDED).closes}
    assert closes["closes"] >= start


def test_canceled_window_counts_as_none(desk: Desk, start: int) -> None:  # noqa: ARG001
    desk.section(1)
    assert codes(desk.claim(501, 1, windows=[CANCELED])) == ["window_unscheduled"]


def test_refusal_names_the_window_that_opens_next(desk: Desk, start: int) -> None:
    desk.section(1)
    desk.put_window(15, start + 5 * MINUTE, start + 6 * MINUTE)
    opens = facts(desk.claim(501, 1, windows=[CANCELED, ENDED, COMING, 15]), "window_before")
    assert opens == {"opens": start + 5 * MINUTE}


def test_one_open_window_is_enough(desk: Desk, start: int) -> None:  # noqa: ARG001
    desk.section(1)
    answer = desk.claim(501, 1, windows=[CANCELED, ENDED, COMING, RUNNING])
    assert answer.outcome == Outcome.ENROLLED


def test_closed_window_stays_closed_when_the_clock_goes_back(desk: Desk, start: int) -> None:
    desk.section(1)
    later = {"name": "Selection", "opens": start, "closes": start + 9 * MINUTE, "cohort": {}}
    desk.redis.hset(f"{{t:{TERM}}}:windows", "16", json.dumps({**later, "state": "closed"}))
    assert codes(desk.claim(501, 1, windows=[16])) == ["window_ended"]


def test_windows_are_ordered_by_opening(desk: Desk, start: int) -> None:
    shown = [(each.id, each.state) for each in desk.ledger.windows(TERM)]
    assert shown[-2:] == [(COMING, "scheduled"), (CANCELED, "canceled")]
    assert view(desk, COMING) == WindowView(
        COMING, "Selection", start + 10 * MINUTE, start + 20 * MINUTE, "scheduled", {}
    )


def test_cohort_is_stored_unchanged(desk: Desk) -> None:
    now, cohort = desk.ledger.now(), {"years": [3, 4], "subjects": ["CSCI", 'Übung "x"']}
    desk.ledger.put_window(TERM, 20, "Seniors’ hour", now, now + MINUTE, cohort, "registrar")
    assert view(desk, 20).cohort == cohort
    assert view(desk, 20).name == "Seniors’ hour"
    assert desk.last_event()["cohort"] == cohort


def test_window_can_be_moved_before_it_opens(desk: Desk, start: int) -> None:
    desk.ledger.move_window(TERM, COMING, start + MINUTE, start + 2 * MINUTE, "registrar")
    assert (view(desk, COMING).opens, view(desk, COMING).closes) == (
        start + MINUTE,
        start + 2 * MINUTE,
    )


def test_open_window_can_be_extended(desk: Desk, start: int) -> None:
    desk.ledger.extend_window(TERM, RUNNING, start + 60 * MINUTE, "registrar")
    assert view(desk, RUNNING).closes == start + 60 * MINUTE


def test_open_window_can_be_closed_at_once(desk: Desk, start: int) -> None:
    change = desk.ledger.close_window(TERM, RUNNING, "registrar")
    assert start <= change.at == view(desk, RUNNING).closes
    desk.section(1)
    assert codes(desk.claim(501, 1, windows=[RUNNING])) == ["window_ended"]


@pytest.mark.parametrize(
    ("window", "code"),
    [
        (RUNNING, "already_open"),
        (ENDED, "already_ended"),
        (CANCELED, "canceled"),
        (MISSING, "unknown"),
    ],
)
def test_window_that_has_opened_cannot_be_moved_or_canceled(
    desk: Desk, start: int, window: int, code: str
) -> None:
    times = start + 30 * MINUTE, start + 31 * MINUTE
    assert refused(desk, "move_window", window, *times) == code
    assert refused(desk, "cancel_window", window) == code


@pytest.mark.parametrize(
    ("window", "code"),
    [
        (COMING, "not_open"),
        (ENDED, "already_ended"),
        (CANCELED, "canceled"),
        (MISSING, "unknown"),
    ],
)
def test_window_that_is_not_open_cannot_be_extended_or_closed(
    desk: Desk, start: int, window: int, code: str
) -> None:
    assert refused(desk, "extend_window", window, start + 90 * MINUTE) == code
    assert refused(desk, "close_window", window) == code


def test_times_of_a_window_must_be_valid(desk: Desk, start: int) -> None:
    def put(opens: int, closes: int) -> str:
        with pytest.raises(WindowRefused) as refusal:
            desk.put_window(30, opens, closes)
        return refusal.value.code

    assert put(start + MINUTE, start + MINUTE) == "times_crossed"
    assert put(start - 2 * MINUTE, start - MINUTE) == "in_the_past"
    assert refused(desk, "move_window", COMING, start + 2, start + 1) == "times_crossed"
    assert refused(desk, "move_window", COMING, start - 2, start - 1) == "in_the_past"
    assert refused(desk, "extend_window", RUNNING, start + 19 * MINUTE) == "times_crossed"
    assert view(desk, COMING).opens == start + 10 * MINUTE


def test_scheduling_the_same_window_twice_has_one_effect(desk: Desk, start: int) -> None:
    before = desk.events()
    again = desk.put_window(COMING, start + 10 * MINUTE, start + 20 * MINUTE)
    assert (again.seq, desk.events()) == (0, before)
    with pytest.raises(WindowRefused, match="exists"):
        desk.put_window(COMING, start + 10 * MINUTE, start + 21 * MINUTE)


def turns(desk: Desk) -> list[tuple[str, int]]:
    names = {"window_opened", "window_closed"}
    return [(each["name"], each["window"]) for each in desk.events() if each["name"] in names]


def test_openings_and_closings_are_reported_once_and_journaled(desk: Desk, start: int) -> None:  # noqa: ARG001
    desk.ledger.turn(TERM)
    result = [
        ("window_opened", 1),
        ("window_opened", RUNNING),
        ("window_opened", ENDED),
        ("window_closed", ENDED),
    ]
    assert sorted(turns(desk)) == sorted(result)
    assert desk.ledger.turn(TERM) == []
    desk.ledger.close_window(TERM, RUNNING, "registrar")
    assert desk.ledger.turn(TERM) == [(RUNNING, "closed")]
    assert sorted(turns(desk)) == sorted([*result, ("window_closed", RUNNING)])


def test_due_window_opens_before_the_next_decision(desk: Desk) -> None:
    desk.section(12, capacity=1)
    opens = desk.ledger.now() + 30
    desk.put_window(2, opens, opens + MINUTE)
    while desk.ledger.now() <= opens:
        time.sleep(0.01)
    desk.claim(501, 12, windows=[2])
    assert [each["name"] for each in desk.events()[-2:]] == ["window_opened", "enrolled"]


def test_new_claims_at_the_opening_do_not_overtake_skipped_students(desk: Desk) -> None:
    desk.section(12, capacity=1)
    desk.claim(501, 12)
    desk.claim(601, 12)
    desk.drop(501, 12)
    desk.promote(12, 601, windows=())
    opens = desk.ledger.now() + 30
    desk.put_window(2, opens, opens + MINUTE)
    while desk.ledger.now() <= opens:
        time.sleep(0.01)
    assert codes(desk.claim(502, 12, wait=False)) == ["full"]
    assert desk.promote(12, 601, windows=(2,)).promoted == (601,)


def test_opening_gives_skipped_students_another_chance(desk: Desk, start: int) -> None:
    desk.ledger.turn(TERM)
    desk.section(1, capacity=1)
    desk.claim(501, 1)
    desk.claim(502, 1)
    desk.drop(501, 1)
    desk.promote(1, 502, windows=(COMING,))
    assert desk.ledger.vacant(TERM) == set()
    desk.ledger.move_window(TERM, COMING, start, start + 30 * MINUTE, "registrar")
    assert desk.ledger.turn(TERM) == [(COMING, "opened")]
    assert desk.ledger.vacant(TERM) == {1}
    assert desk.promote(1, 502, windows=(COMING,)).promoted == (502,)
