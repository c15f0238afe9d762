"""A student may drop seats a few times a day while a window is open."""

from portal.ledger.types import Outcome
from tests.ledger.requests import DAY, MINUTE, TERM, Desk, codes, facts


def test_a_drop_frees_the_seat_and_the_student(desk: Desk) -> None:
    desk.section(1, capacity=1, course=30)
    desk.section(2, course=30)
    given = desk.claim(501, 1)
    answer = desk.drop(501, 1)
    assert answer.outcome == Outcome.DROPPED
    assert answer.registration == given.registration
    assert answer.seats
    assert answer.seats.taken == 0
    assert desk.claim(501, 2).outcome == Outcome.ENROLLED
    assert desk.claim(502, 1, wait=False).outcome == Outcome.ENROLLED


def test_drop_without_a_seat_is_refused(desk: Desk) -> None:
    desk.section(1, capacity=0)
    desk.claim(501, 1)
    assert codes(desk.drop(501, 1)) == ["not_enrolled"]
    assert codes(desk.drop(501, 99)) == ["not_enrolled"]


def test_a_drop_outside_the_window_is_refused(desk: Desk) -> None:
    desk.section(1)
    desk.claim(501, 1)
    desk.ledger.close_window(TERM, 1, "registrar")
    assert codes(desk.drop(501, 1)) == ["window_ended"]
    assert desk.roster(1) == [501]


def test_drop_beyond_the_daily_limit_is_refused_until_tomorrow(desk: Desk) -> None:
    days = desk.days()
    for section in range(1, 5):
        desk.section(section)
        desk.claim(501, section)
    for section in range(1, 4):
        assert desk.drop(501, section, days=days).outcome == Outcome.DROPPED
    refused = desk.drop(501, 4, days=days)
    assert facts(refused, "drop_limit") == {"limit": 3, "resets": days[2][0]}


def test_drops_are_possible_again_the_next_day(desk: Desk) -> None:
    for section in (1, 2):
        desk.section(section)
        desk.claim(501, section)
    desk.drop(501, 1, drop_limit=1)
    assert codes(desk.drop(501, 2, drop_limit=1)) == ["drop_limit"]
    now = desk.ledger.now()
    tomorrow = [(now - MINUTE - DAY, "today"), (now - MINUTE, "tomorrow"), (now + DAY, "then")]
    assert desk.drop(501, 2, drop_limit=1, days=tomorrow).outcome == Outcome.DROPPED


def test_refused_drops_are_not_counted(desk: Desk) -> None:
    desk.section(1)
    desk.claim(501, 1)
    for _ in range(5):
        desk.drop(501, 2)
        desk.drop(501, 1, windows=[])
    assert desk.drop(501, 1, drop_limit=1).outcome == Outcome.DROPPED


def test_refused_drop_has_every_reason(desk: Desk) -> None:
    assert codes(desk.drop(501, 1, windows=[], drop_limit=0)) == [
        "window_unscheduled",
        "not_enrolled",
        "drop_limit",
    ]


def test_unrelated_seats_dropped_together_count_separately(desk: Desk) -> None:
    for section in range(1, 5):
        desk.section(section)
        desk.claim(501, section)
    refused = desk.drop(501, 1, along=(2, 3, 4))
    days = desk.days()
    assert facts(refused, "drop_limit").items() >= {"limit": 3, "left": 3, "drops": 4}.items()
    assert facts(refused, "drop_limit")["resets"] > days[1][0]
    assert desk.ledger.drops(TERM, 501) == {}
    assert len(desk.ledger.registrations(TERM, 501).enrolled) == 4
    assert desk.drop(501, 1, along=(2, 3)).outcome == Outcome.DROPPED
    assert desk.ledger.drops(TERM, 501) == {"today": 3}


def test_refusal_to_drop_two_seats_tells_how_many_drops_are_left(desk: Desk) -> None:
    for section in (1, 2, 3):
        desk.section(section)
        desk.claim(501, section)
    desk.drop(501, 1, drop_limit=2)
    refused = desk.drop(501, 2, along=(3,), drop_limit=2)
    assert facts(refused, "drop_limit").items() >= {"left": 1, "drops": 2}.items()


def test_dependent_seat_is_dropped_too_and_not_counted(desk: Desk) -> None:
    for section in range(1, 6):
        desk.section(section)
    desk.claim(501, 1)
    desk.claim(501, 2, corequisites={"course": 1})
    desk.claim(501, 3, corequisites={"course": 2})  # through another section
    desk.claim(501, 4, corequisites={"any": [{"course": 1}, {"course": 5}]})
    desk.claim(501, 5)
    assert desk.drop(501, 3, along=(1, 2, 4)).outcome == Outcome.DROPPED
    assert desk.ledger.drops(TERM, 501) == {"today": 2}  # 4 could be held with 5
    events = {each["section"]: each for each in desk.events() if each["name"] == "dropped"}
    assert [number for number, each in events.items() if "day" in each] == [1, 4]
    assert (events[3]["along"], events[2]["along"]) == (1, 1)


def test_freed_seat_with_waiting_students_enqueues_the_promoter(desk: Desk) -> None:
    desk.section(1, capacity=1)
    desk.claim(501, 1)
    desk.claim(502, 1)
    desk.clear_woken()
    assert desk.drop(501, 1).wake == ("record", "promote")
    assert desk.ledger.vacant(TERM) == {1}


def test_freed_seat_without_waiting_students_enqueues_no_promoter(desk: Desk) -> None:
    desk.section(1, capacity=1)
    desk.claim(501, 1)
    desk.clear_woken()
    assert desk.drop(501, 1).wake == ("record",)
    assert desk.ledger.vacant(TERM) == set()
