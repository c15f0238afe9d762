"""Allocation rounds in the ledger: seats held back, given once, and let go."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from portal.allocation.mechanisms import allocate
from portal.allocation.problem import Problem, make
from portal.allocation.result import reserves as reserves_of
from portal.ledger.errors import LedgerBehind
from portal.ledger.types import Claim, Outcome, PoolSpec, ReserveSpec, RoundAnswer, RoundMove
from tests.allocation.rounds import COHORTS, SEED, problems
from tests.ledger.requests import TERM, Desk, codes
from tests.soak import rounds

ROUND = 5
RESERVE = {cohort: number for number, cohort in enumerate(COHORTS, 1)}


@pytest.fixture
def held(desk: Desk) -> Desk:
    """Two sections whose seats a round holds back, and a third one."""
    desk.section(1, capacity=1)
    desk.section(2)
    desk.section(3)
    desk.ledger.hold_for_round(TERM, ROUND, [1, 2])
    return desk


def a_move(student: int, *sections: int, **fields: Any) -> RoundMove:
    claims = tuple(Claim(each, 400) for each in sections)
    key = f"round-{'-'.join(map(str, sections))}"
    return RoundMove(
        **{
            "idempotency_key": key,
            "student": student,
            "claims": claims,
            "credit_limit": 2100,
            **fields,
        }
    )


def give(desk: Desk, *moves: RoundMove) -> list[RoundAnswer]:
    return desk.ledger.allocate(TERM, ROUND, moves, "system", "c")


def outcomes(desk: Desk, *moves: RoundMove) -> list[Outcome]:
    return [each.outcome for each in give(desk, *moves)]


def against(answer: RoundAnswer, section: int) -> list[str]:
    return [each.code for each in answer.against[section]]


def named(desk: Desk, *names: str) -> list[dict[str, Any]]:
    return [each for each in desk.events() if each["name"] in names]


def test_held_section_refuses_everyone_else(held: Desk) -> None:
    assert codes(held.claim(501, 1)) == ["in_round"]
    assert codes(held.adjust(501, add=2)) == ["in_round"]
    assert codes(held.adjust(501, add=2, overrides=["in_round"])) == ["in_round"]
    assert held.claim(501, 3).outcome is Outcome.ENROLLED
    assert held.queue(1) == []


def test_end_of_a_round_holds_back_its_term_until_the_sections_are_known(desk: Desk) -> None:
    for section in (1, 2, 3):
        desk.section(section, capacity=1)
    desk.claim(501, 1)
    desk.claim(502, 1)
    desk.ledger.put_round_end(TERM, ROUND, desk.ledger.now() + 60_000)
    assert desk.claim(503, 2).outcome is Outcome.ENROLLED
    desk.ledger.put_round_end(TERM, ROUND, desk.ledger.now())
    assert codes(desk.claim(504, 3)) == ["in_round"]
    assert desk.drop(501, 1).outcome is Outcome.DROPPED
    assert desk.promote(1).promoted == ()
    desk.ledger.hold_for_round(TERM, ROUND, [3])
    assert codes(desk.claim(504, 3)) == ["in_round"]
    assert desk.promote(1).promoted == (502,)


def test_end_that_is_known_changes_nothing(desk: Desk) -> None:
    ends = desk.ledger.now() + 60_000
    assert desk.ledger.put_round_end(TERM, ROUND, ends).seq
    assert not desk.ledger.put_round_end(TERM, ROUND, ends).seq
    assert desk.ledger.put_round_end(TERM, ROUND, ends + 1).seq


@pytest.mark.parametrize("lets_go", [True, False])
def test_end_of_a_round_is_forgotten(desk: Desk, *, lets_go: bool) -> None:
    """Once the round is canceled, or a quarter of an hour after it if nothing follows."""
    desk.section(1)
    ago = 0 if lets_go else 16 * 60_000
    desk.ledger.put_round_end(TERM, ROUND, desk.ledger.now() - ago)
    if lets_go:
        assert codes(desk.claim(501, 1)) == ["in_round"]
        desk.ledger.end_round(TERM, ROUND)
    assert desk.claim(501, 1).outcome is Outcome.ENROLLED


def test_end_of_another_round_does_not_stop_the_seats_of_this_one(held: Desk) -> None:
    held.ledger.put_round_end(TERM, ROUND + 1, held.ledger.now())
    assert outcomes(held, a_move(501, 1)) == [Outcome.ENROLLED]


def test_section_that_joins_a_held_pool_is_held_too(desk: Desk) -> None:
    pool = PoolSpec(1, 1, 1)
    desk.section(1, pool=pool)
    desk.section(2)
    desk.ledger.hold_for_round(TERM, ROUND, [1])
    assert desk.claim(501, 2).outcome is Outcome.ENROLLED
    desk.section(2, version=2, pool=PoolSpec(1, 9, 2))
    assert codes(desk.claim(502, 2)) == ["in_round"]
    assert [each["sections"] for each in named(desk, "round_held")] == [[1], [2]]
    desk.ledger.end_round(TERM, ROUND)
    assert desk.claim(502, 2).outcome is Outcome.ENROLLED


def test_swap_into_a_held_section_is_refused_and_a_drop_works(desk: Desk) -> None:
    desk.section(1)
    desk.claim(501, 1)
    desk.ledger.hold_for_round(TERM, ROUND, [1])
    assert desk.drop(501, 1).outcome is Outcome.DROPPED


def test_freed_seat_of_a_held_section_waits_until_it_is_released(desk: Desk) -> None:
    desk.section(1, capacity=1)
    for student in (501, 502):
        desk.claim(student, 1)
    desk.ledger.hold_for_round(TERM, ROUND, [1])
    desk.drop(501, 1)
    assert desk.ledger.vacant(TERM) == set()
    assert desk.promote(1).promoted == ()
    assert desk.queue(1) == [502]
    assert desk.ledger.end_round(TERM, ROUND).wake
    assert desk.ledger.vacant(TERM) == {1}
    assert desk.promote(1).promoted == (502,)


def test_seat_that_was_free_before_is_no_longer_promised(desk: Desk) -> None:
    desk.section(1, capacity=1)
    for student in (501, 502):
        desk.claim(student, 1)
    desk.drop(501, 1)
    assert desk.ledger.vacant(TERM) == {1}
    desk.ledger.hold_for_round(TERM, ROUND, [1])
    assert desk.ledger.vacant(TERM) == set()


def test_seats_are_given_without_a_window_and_say_so(held: Desk) -> None:
    assert outcomes(held, a_move(501, 1, turn=3)) == [Outcome.ENROLLED]
    (event,) = named(held, "enrolled")
    assert (event["student"], event["round"], event["turn"]) == (501, ROUND, 3)
    assert "during" not in event


def test_key_of_another_move_does_not_answer_this_one(held: Desk) -> None:
    assert outcomes(held, a_move(502, 1), a_move(501, 1)) == [Outcome.ENROLLED, Outcome.REFUSED]
    assert outcomes(held, a_move(501, 1, wait=True)) == [Outcome.WAITLISTED]


def test_move_sent_again_gives_the_same_answer_and_no_second_seat(held: Desk) -> None:
    first = give(held, a_move(501, 1), a_move(502, 1))
    assert [each.outcome for each in first] == [Outcome.ENROLLED, Outcome.REFUSED]
    assert against(first[1], 1) == ["full"]
    again = give(held, a_move(501, 1), a_move(502, 1))
    assert [each.outcome for each in again] == [each.outcome for each in first]
    assert len(named(held, "enrolled")) == 1


def test_move_is_answered_by_the_seat_if_its_key_is_forgotten(held: Desk) -> None:
    give(held, a_move(501, 1))
    assert outcomes(held, a_move(501, 1, idempotency_key="another-key")) == [Outcome.ENROLLED]
    assert len(named(held, "enrolled")) == 1


def test_key_that_was_used_for_something_else_stops_no_move(held: Desk) -> None:
    assert held.claim(501, 3, idempotency_key="a-key-of-mine").outcome is Outcome.ENROLLED
    moves = a_move(501, 2, idempotency_key="a-key-of-mine"), a_move(502, 2)
    assert outcomes(held, *moves) == [Outcome.ENROLLED, Outcome.ENROLLED]
    assert outcomes(held, *moves) == [Outcome.ENROLLED, Outcome.ENROLLED]
    assert len(named(held, "enrolled")) == 3


def test_alternative_is_given_whole_or_not_at_all(held: Desk) -> None:
    assert outcomes(held, a_move(501, 1)) == [Outcome.ENROLLED]
    (answer,) = give(held, a_move(502, 1, 2))
    assert answer.outcome is Outcome.REFUSED
    assert against(answer, 1) == ["full"]
    assert against(answer, 2) == []
    assert held.ledger.registrations(TERM, 502).enrolled == ()


def test_sections_of_an_alternative_count_as_corequisites(held: Desk) -> None:
    both = (
        Claim(1, 400, corequisites={"course": 2}),
        Claim(2, 400, corequisites={"course": 1}),
    )
    assert outcomes(held, a_move(501, 1, 2, claims=both)) == [Outcome.ENROLLED]
    assert [each.section for each in held.ledger.registrations(TERM, 501).enrolled] == [1, 2]


def test_seat_is_given_while_others_wait_for_the_seats_that_the_round_left(desk: Desk) -> None:
    desk.section(1, capacity=1)
    for student in (501, 502):
        desk.claim(student, 1)
    desk.ledger.hold_for_round(TERM, ROUND, [1])
    desk.section(1, capacity=3, version=2)
    assert outcomes(desk, a_move(503, 1)) == [Outcome.ENROLLED]
    assert desk.ledger.end_round(TERM, ROUND).wake
    assert desk.promote(1).promoted == (502,)


def test_seat_of_a_pool_is_given_while_others_wait_in_it(desk: Desk) -> None:
    pool = PoolSpec(1, 1, 1)
    desk.section(1, pool=pool)
    desk.section(2, pool=pool)
    for student in (501, 502):
        desk.claim(student, 1)
    desk.ledger.hold_for_round(TERM, ROUND, [1, 2])
    desk.section(1, version=2, pool=PoolSpec(1, 3, 2))
    assert outcomes(desk, a_move(503, 2)) == [Outcome.ENROLLED]
    assert desk.queue(1) == [502]


def test_those_who_wait_come_first_in_sections_that_the_round_does_not_hold(desk: Desk) -> None:
    desk.section(1, capacity=1)
    for student in (501, 502):
        desk.claim(student, 1)
    desk.section(1, capacity=3, version=2)
    (answer,) = give(desk, a_move(503, 1))
    assert against(answer, 1) == ["full"]


def without_permissions(problem: Problem) -> Problem:
    return make(problem.settings, [replace(each, own={}) for each in problem.ballots])


@given(problems(joint=False).map(without_permissions))
@settings(
    max_examples=rounds(30, soak=600),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_every_move_of_a_result_is_accepted(desk: Desk, problem: Problem) -> None:
    """Whatever the reserves, pools, limits and clashes: also in another order than the result."""
    known = problem.settings.by_id
    bundles = {
        each for one in problem.ballots for choice in one.choices for each in choice.alternatives
    }
    assume(all(len({known[name].course for name in each}) == len(each) for each in bundles))
    desk.redis.flushall()
    numbers = {each.id: at for at, each in enumerate(problem.settings.sections, 1)}
    courses = sorted({each.course for each in problem.settings.sections})
    for each in problem.settings.sections:
        pool = PoolSpec(1, problem.settings.pools[each.pool], 1) if each.pool else None
        reserves = (ReserveSpec(RESERVE[name], seats) for name, seats in each.reserves)
        desk.section(
            numbers[each.id],
            each.capacity,
            course=courses.index(each.course) + 1,
            credits_min=each.credits,
            credits_max=each.credits,
            times=each.meetings,
            pool=pool,
            reserves=tuple(reserves),
        )
    desk.ledger.hold_for_round(TERM, ROUND, list(numbers.values()))
    result, moves = allocate(problem, SEED), []
    under = reserves_of(result)
    for student, ballot in enumerate(problem.ballots):
        for (option, turn), cohorts in zip(
            result.seatings(student), under[ballot.pseudonym], strict=True
        ):
            names = ballot.choices[option.choice].alternatives[option.alternative]
            claims = tuple(
                Claim(
                    numbers[name],
                    known[name].credits,
                    reserves=(RESERVE[cohort],) if cohort else (),
                )
                for name, cohort in zip(names, cohorts, strict=True)
            )
            credit_limit = ballot.most_credits
            key = f"{option.choice}-{option.alternative}"
            moves.append(RoundMove(key, 501 + student, claims, credit_limit, turn))
    assert all(each is Outcome.ENROLLED for each in outcomes(desk, *moves))


def test_rules_of_the_moment_still_refuse(held: Desk) -> None:
    (answer,) = give(held, a_move(501, 1, credit_limit=300))
    assert against(answer, 1) == ["credit_limit"]


def test_waitlist_is_joined_in_the_order_of_the_moves(held: Desk) -> None:
    moves = [a_move(501, 1), *(a_move(each, 1, wait=True) for each in (504, 502, 503))]
    assert outcomes(held, *moves) == [Outcome.ENROLLED, *[Outcome.WAITLISTED] * 3]
    assert held.queue(1) == [504, 502, 503]
    assert outcomes(held, *moves)[1:] == [Outcome.WAITLISTED] * 3
    assert len(named(held, "waitlisted")) == 3


def test_full_waitlist_refuses(desk: Desk) -> None:
    desk.section(1, capacity=0, waitlist=1)
    desk.ledger.hold_for_round(TERM, ROUND, [1])
    first, second = give(desk, a_move(501, 1, wait=True), a_move(502, 1, wait=True))
    assert first.outcome is Outcome.WAITLISTED
    assert against(second, 1) == ["waitlist_full"]


def test_one_reason_says_that_a_student_waits_already(held: Desk) -> None:
    give(held, a_move(501, 1), a_move(502, 1, wait=True))
    (answer,) = give(held, a_move(502, 1, idempotency_key="another"))
    assert against(answer, 1) == ["already_waiting"]


def test_no_student_is_notified_before_all_is_given(held: Desk) -> None:
    with held.redis.pubsub() as live:
        live.subscribe("{t:7}:live")
        live.get_message(timeout=1)
        give(held, a_move(501, 1))
        message = live.get_message(timeout=1)
    assert message
    assert b'"taken":1' in message["data"]
    assert b'"student":501' not in message["data"]


def test_holding_and_letting_go_are_events_that_come_once(held: Desk) -> None:
    assert held.ledger.hold_for_round(TERM, ROUND, [2, 1]).seq == 0
    assert held.ledger.hold_for_round(TERM, 6, [1, 3]).seq
    (first, second) = named(held, "round_held")
    assert (first["sections"], second["sections"]) == ([1, 2], [3])
    assert held.ledger.end_round(TERM, ROUND).seq
    assert held.ledger.end_round(TERM, ROUND).seq == 0
    assert codes(held.claim(501, 3)) == ["in_round"]
    assert held.claim(501, 1).outcome is Outcome.ENROLLED


def test_ledger_that_lost_events_holds_nothing_back(desk: Desk) -> None:
    with pytest.raises(LedgerBehind):
        desk.ledger.hold_for_round(TERM, ROUND, [1], recorded=10_000)
