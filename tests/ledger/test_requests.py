"""The same request key has the same answer for a day, and stands for one request."""

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from portal.seats.ledger import Answer, KeyReused, Outcome
from tests.ledger.desk import DAY, TERM, Desk, codes

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = "from the form"


@pytest.fixture
def section(desk: Desk) -> int:
    """A section of one seat."""
    desk.section(12, capacity=1)
    desk.section(13, credits_min=100)
    return 12


def test_a_claim_sent_again_has_the_same_answer_and_is_done_once(desk: Desk, section: int) -> None:
    first = desk.claim(501, section, request=KEY)
    second = desk.claim(501, section, request=KEY)
    assert not first.replayed
    assert second.replayed
    assert replace(second, replayed=False) == first
    assert len(desk.events()) == first.seq


def test_a_waitlist_place_a_drop_and_a_leaving_are_replayed_too(desk: Desk, section: int) -> None:
    desk.claim(500, section)
    asks: list[Callable[[], Answer]] = [
        lambda: desk.claim(501, section, request="a"),
        lambda: desk.leave(501, section, request="b"),
        lambda: desk.drop(500, section, request="c"),
    ]
    for ask in asks:
        first, second = ask(), ask()
        assert (first.outcome, first.at) == (second.outcome, second.at)
        assert second.replayed
    assert [event["name"] for event in desk.events()[-3:]] == ["waitlisted", "left", "dropped"]


def test_a_replay_says_what_was_true_then(desk: Desk, section: int) -> None:
    desk.claim(501, section, request=KEY)
    desk.drop(501, section)
    again = desk.claim(501, section, request=KEY)
    assert (again.outcome, again.replayed) == (Outcome.ENROLLED, True)
    assert desk.roster(section) == []


def test_a_replay_costs_one_look(desk: Desk, section: int) -> None:
    desk.claim(501, section, request=KEY)
    desk.redis.config_resetstat()
    desk.claim(501, section, request=KEY)
    commands = set(desk.redis.info("commandstats"))
    assert commands == {
        "cmdstat_fcall",
        "cmdstat_time",
        "cmdstat_exists",  # whether the term is fenced
        "cmdstat_get",
        "cmdstat_config|resetstat",
    }


def test_the_same_key_for_something_else_is_an_error(desk: Desk, section: int) -> None:
    desk.claim(501, section, request=KEY)
    others: list[Callable[[], Answer]] = [
        lambda: desk.claim(501, 13, request=KEY),
        lambda: desk.claim(501, section, request=KEY, wait=False),
        lambda: desk.claim(501, section, request=KEY, credits=300),
        lambda: desk.drop(501, section, request=KEY),
        lambda: desk.leave(501, section, request=KEY),
    ]
    for other in others:
        with pytest.raises(KeyReused):
            other()
    assert desk.roster(section) == [501]


def test_keys_are_each_students_own(desk: Desk, section: int) -> None:
    desk.claim(501, section, request=KEY)
    assert desk.claim(502, section, request=KEY).outcome == Outcome.WAITLISTED


def test_after_a_refusal_the_same_form_may_be_sent_again(desk: Desk, section: int) -> None:
    assert codes(desk.claim(501, section, request=KEY, windows=[])) == ["window_unscheduled"]
    assert desk.claim(501, section, request=KEY).outcome == Outcome.ENROLLED


def test_answers_are_kept_for_a_day(desk: Desk, section: int) -> None:
    desk.claim(501, section, request=KEY)
    left = desk.redis.pttl(f"{{t:{TERM}}}:request:501:{KEY}")
    assert DAY - 10_000 < left <= DAY


def test_nothing_else_ever_expires(desk: Desk, section: int) -> None:
    desk.claim(501, section, request=KEY)
    desk.claim(502, section)
    desk.drop(501, section)
    passing = (b":request:", b":tally:")
    lasting = [key for key in desk.redis.keys("*") if not any(each in key for each in passing)]
    assert len(lasting) > 8
    assert all(desk.redis.ttl(key) == -1 for key in lasting)


@pytest.mark.parametrize("request_key", [None, ""])
def test_without_a_key_nothing_is_kept(desk: Desk, section: int, request_key: str | None) -> None:
    desk.claim(501, section, request=request_key)
    assert codes(desk.claim(501, section, request=request_key)) == ["already_enrolled"]
    assert desk.redis.keys("*request*") == []
