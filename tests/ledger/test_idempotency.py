"""A key has the same answer for a day, and is for one request."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from portal.ledger.errors import KeyReused
from portal.ledger.types import Claim, Decision, LedgerChoice, Outcome
from tests.ledger.requests import DAY, TERM, Desk, codes

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = "from the form"


@pytest.fixture
def section(desk: Desk) -> int:
    """Store a section of one seat."""
    desk.section(12, capacity=1)
    desk.section(13, credits_min=100)
    return 12


def test_repeated_claim_has_the_same_answer_and_one_effect(desk: Desk, section: int) -> None:
    first = desk.claim(501, section, idempotency_key=KEY)
    second = desk.claim(501, section, idempotency_key=KEY)
    assert not first.replayed
    assert second.replayed
    assert replace(second, replayed=False) == first
    assert len(desk.events()) == first.seq


def test_waitlist_position_drop_and_leave_are_replayed(desk: Desk, section: int) -> None:
    desk.claim(500, section)
    asks: list[Callable[[], Decision]] = [
        lambda: desk.claim(501, section, idempotency_key="a"),
        lambda: desk.leave(501, section, idempotency_key="b"),
        lambda: desk.drop(500, section, idempotency_key="c"),
    ]
    for ask in asks:
        first, second = ask(), ask()
        assert (first.outcome, first.at) == (second.outcome, second.at)
        assert second.replayed
    assert [event["name"] for event in desk.events()[-3:]] == ["waitlisted", "left", "dropped"]


def test_replay_has_the_original_answer(desk: Desk, section: int) -> None:
    desk.claim(501, section, idempotency_key=KEY)
    desk.drop(501, section)
    again = desk.claim(501, section, idempotency_key=KEY)
    assert (again.outcome, again.replayed) == (Outcome.ENROLLED, True)
    assert desk.roster(section) == []


def test_replay_costs_one_lookup(desk: Desk, section: int) -> None:
    desk.claim(501, section, idempotency_key=KEY)
    desk.redis.config_resetstat()
    desk.claim(501, section, idempotency_key=KEY)
    commands = set(desk.redis.info("commandstats"))
    assert commands == {
        "cmdstat_fcall",
        "cmdstat_time",
        "cmdstat_mget",  # whether the term is fenced, and when a window turns next
        "cmdstat_get",
        "cmdstat_config|resetstat",
    }


def test_same_key_with_other_content_is_an_error(desk: Desk, section: int) -> None:
    desk.claim(501, section, idempotency_key=KEY)
    others: list[Callable[[], Decision]] = [
        lambda: desk.claim(501, 13, idempotency_key=KEY),
        lambda: desk.claim(501, section, idempotency_key=KEY, wait=False),
        lambda: desk.claim(501, section, idempotency_key=KEY, credits=300),
        lambda: desk.drop(501, section, idempotency_key=KEY),
        lambda: desk.leave(501, section, idempotency_key=KEY),
    ]
    for other in others:
        with pytest.raises(KeyReused):
            other()
    assert desk.roster(section) == [501]


def test_keys_belong_to_one_student(desk: Desk, section: int) -> None:
    desk.claim(501, section, idempotency_key=KEY)
    assert desk.claim(502, section, idempotency_key=KEY).outcome == Outcome.WAITLISTED


def test_refusal_is_replayed_after_its_reasons_are_gone(desk: Desk, section: int) -> None:
    first = desk.claim(501, section, idempotency_key=KEY, windows=[])
    assert codes(first) == ["window_unscheduled"]
    again = desk.claim(501, section, idempotency_key=KEY)
    assert again.replayed
    assert replace(again, replayed=False) == first
    assert desk.roster(section) == []
    assert desk.claim(501, section, idempotency_key="another key").outcome == Outcome.ENROLLED


def test_key_of_a_refusal_does_not_enroll_in_another_section(desk: Desk, section: int) -> None:
    assert desk.claim(501, section, idempotency_key=KEY, windows=[]).reasons
    with pytest.raises(KeyReused):
        desk.claim(501, 13, idempotency_key=KEY)
    assert desk.roster(13) == []


def test_a_refused_drop_and_a_refused_leave_are_replayed(desk: Desk, section: int) -> None:
    assert codes(desk.drop(501, section, idempotency_key="a")) == ["not_enrolled"]
    assert codes(desk.leave(501, 13, idempotency_key="b")) == ["not_waiting"]
    desk.section(13, capacity=0, version=2)
    desk.claim(501, section)
    desk.claim(501, 13)
    assert codes(desk.drop(501, section, idempotency_key="a")) == ["not_enrolled"]
    assert codes(desk.leave(501, 13, idempotency_key="b")) == ["not_waiting"]
    assert (desk.roster(section), desk.queue(13)) == ([501], [501])


def test_repeated_waitlist_position_is_replayed(desk: Desk, section: int) -> None:
    desk.claim(500, section)
    desk.claim(501, section)
    assert codes(desk.claim(501, section, idempotency_key=KEY)) == ["already_waiting"]
    desk.leave(501, section)
    assert codes(desk.claim(501, section, idempotency_key=KEY)) == ["already_waiting"]
    assert desk.queue(section) == []


def test_partly_refused_submission_is_replayed_completely(desk: Desk, section: int) -> None:
    lines = [LedgerChoice(((Claim(each, 400),),)) for each in (section, 13)]
    desk.claim(500, section)
    first = desk.submit(501, *lines, idempotency_key=KEY)
    assert [each.outcome for each in first.results] == [Outcome.REFUSED, Outcome.ENROLLED]
    desk.drop(500, section)
    desk.drop(501, 13)
    again = desk.submit(501, *lines, idempotency_key=KEY)
    assert replace(again, replayed=False) == first
    assert desk.roster(section) == desk.roster(13) == []


def test_replay_ignores_values_that_the_portal_fills_in(desk: Desk, section: int) -> None:
    requested = {"idempotency_key": KEY, "content": [section]}
    lines = [LedgerChoice(((Claim(each, 400),),)) for each in (13, section)]
    first = desk.submit(501, *lines, order=[2, 1], **requested)
    again = desk.submit(501, *reversed(lines), credit_limit=0, windows=[], **requested)
    assert replace(again, replayed=False) == first
    assert [each.taken[0].section for each in first.results] == [13, section]
    assert desk.last_event()["section"] == 13


def test_simultaneous_requests_with_one_key_get_one_decision(desk: Desk, address: str) -> None:
    desk.section(12, capacity=0)
    desks = [Desk(address) for _ in range(8)]
    together = Barrier(len(desks))

    def ask(each: Desk) -> Decision:
        together.wait()
        return each.claim(501, 12, idempotency_key=KEY, wait=False)

    with ThreadPoolExecutor(len(desks)) as pool:
        answers = list(pool.map(ask, desks))
    assert sorted(each.replayed for each in answers) == [False] + [True] * 7
    assert len({each.seq for each in answers}) == 1
    assert [each["name"] for each in desk.events()].count("refused") == 1


def test_refused_adjustment_is_replayed(desk: Desk, section: int) -> None:
    desk.claim(500, section)
    assert codes(desk.adjust(501, section, idempotency_key=KEY)) == ["full"]
    desk.drop(500, section)
    again = desk.adjust(501, section, idempotency_key=KEY)
    assert (codes(again), again.replayed) == (["full"], True)
    assert desk.roster(section) == []


def test_refused_import_adjustment_may_be_retried_until_it_succeeds(
    desk: Desk, section: int
) -> None:
    def ask() -> Decision:
        [answer] = desk.adjust_batch(desk.adjustment(501, section), keys=KEY)
        return answer

    desk.claim(500, section)
    assert codes(ask()) == ["full"]
    desk.drop(500, section)
    assert ask().outcome == Outcome.ENROLLED
    assert ask().replayed


def test_a_stored_answer_takes_few_bytes(desk: Desk) -> None:
    """`-s` prints the bytes that the server uses for the key and its answer."""
    desk.section(1, capacity=1)
    key = "0123456789abcdef" * 2  # as long as those of forms
    for student, kind in ((30_501, "a seat"), (30_502, "a refusal")):
        desk.claim(student, 1, idempotency_key=key, wait=False)
        taken = desk.redis.memory_usage(f"{{t:{TERM}}}:request:{student}:{key}")
        print(f"{kind}: {taken} bytes")
        assert taken < 800


def test_answers_are_stored_for_a_day(desk: Desk, section: int) -> None:
    desk.claim(501, section, idempotency_key=KEY)
    left = desk.redis.pttl(f"{{t:{TERM}}}:request:501:{KEY}")
    assert DAY - 10_000 < left <= DAY


def test_nothing_else_ever_expires(desk: Desk, section: int) -> None:
    desk.claim(501, section, idempotency_key=KEY)
    desk.claim(502, section)
    desk.drop(501, section)
    passing = (b":request:", b":tally:")
    lasting = [key for key in desk.redis.keys("*") if not any(each in key for each in passing)]
    assert len(lasting) > 8
    assert all(desk.redis.ttl(key) == -1 for key in lasting)


@pytest.mark.parametrize("key", [None, ""])
def test_no_answer_is_stored_without_a_key(desk: Desk, section: int, key: str | None) -> None:
    desk.claim(501, section, idempotency_key=key)
    assert codes(desk.claim(501, section, idempotency_key=key)) == ["already_enrolled"]
    assert desk.redis.keys("*request*") == []
