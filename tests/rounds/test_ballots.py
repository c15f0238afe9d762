"""Ballots: in time or late by PostgreSQL's clock, following the plan, for the cohort alone."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import func, update

from portal.catalog.models import Term
from portal.core.db import transaction
from portal.registration.plan_store import change
from portal.registration.plans import Plan, move, remove
from portal.rounds import ballots
from portal.rounds.ballots import BallotRefused
from portal.windows import rounds
from portal.windows.models import Round
from tests.cast import Cast, a_course, a_section, a_student, a_term
from tests.rounds.builders import a_draft, a_round, again, choice, ended, ranks


@pytest.fixture
def fall(cast: Cast) -> Term:  # noqa: ARG001
    return a_term()


def named(found: Round, student: int) -> list[list[list[int]]]:
    ballot = ballots.ballot_of(found.id, student)
    lines = ballot.choices if ballot else ()
    return [[[one.section for one in each] for each in line.alternatives] for line in lines]


def test_plan_is_the_ballot_with_alternatives_and_bundles(fall: Term, cast: Cast) -> None:
    lecture, lab, other, art = (
        a_section(a_course(code), fall) for code in ("CSC-1", "CSC-2", "MTH-1", "ART-1")
    )
    found = a_round(fall)
    ranks(found, cast.ada, choice((lecture, lab), other), art)
    assert named(found, cast.ada.id) == [[[lecture.id, lab.id], [other.id]], [[art.id]]]


def test_ballot_follows_each_change_of_the_plan(fall: Term, cast: Cast) -> None:
    one, two = (a_section(a_course(code), fall) for code in ("CSC-1", "MTH-1"))
    found = a_round(fall)
    first = ranks(found, cast.ada, one, two)
    change(fall.id, cast.ada.id, 1, lambda plan: move(plan, 0, 1))
    assert named(found, cast.ada.id) == [[[two.id]], [[one.id]]]
    change(fall.id, cast.ada.id, 2, lambda plan: remove(plan, 0))
    after = ballots.ballot_of(found.id, cast.ada.id)
    assert after
    assert named(found, cast.ada.id) == [[[one.id]]]
    assert (after.code, after.changes) == (first.code, 3)
    assert after.changed_at > first.changed_at


def test_code_begins_with_the_student_number_and_is_secret(fall: Term, cast: Cast) -> None:
    one, found = a_section(a_course(), fall), a_round(fall)
    codes = {ranks(found, each, one).code for each in (cast.ada, cast.ben)}
    assert len(codes) == 2
    assert any(code.startswith(f"{cast.ada.number}-") for code in codes)


def test_plan_of_a_student_without_a_ballot_stays_private(fall: Term, cast: Cast) -> None:
    one, found = a_section(a_course(), fall), a_round(fall)
    change(fall.id, cast.ada.id, 0, lambda _: Plan((choice(one),)))
    assert ballots.ballot_of(found.id, cast.ada.id) is None
    assert ballots.turnout(found).ballots == 0


def test_late_ballot_is_refused_and_the_plan_changes_alone(fall: Term, cast: Cast) -> None:
    one, two = (a_section(a_course(code), fall) for code in ("CSC-1", "MTH-1"))
    found = a_round(fall)
    ranks(found, cast.ada, one, two)
    over = ended(found)
    with pytest.raises(BallotRefused, match="late"):
        ballots.hand_in(over, cast.ben.id, 1, 100)
    with pytest.raises(BallotRefused, match="late"):
        ballots.withdraw(over.id, cast.ada.id)
    change(fall.id, cast.ada.id, 1, lambda plan: move(plan, 0, 1))
    assert named(found, cast.ada.id) == [[[one.id]], [[two.id]]]


def test_ballot_before_the_begin_is_refused(fall: Term, cast: Cast) -> None:
    one = a_section(a_course(), fall)
    now = rounds.database_now()
    found = a_round(fall, begins=now + 60_000)
    with pytest.raises(BallotRefused, match="early"):
        ranks(found, cast.ada, one)


def test_draft_takes_no_ballots(fall: Term, cast: Cast) -> None:
    with pytest.raises(BallotRefused, match="early"):
        ranks(a_draft(fall), cast.ada, a_section(a_course(), fall))


def test_round_is_for_its_cohort(fall: Term, cast: Cast) -> None:
    senior, one = a_student("eli", year="Senior"), a_section(a_course(), fall)
    found = a_round(fall, cohort={"years": ["Senior"]})
    with pytest.raises(BallotRefused, match="not_yours"):
        ranks(found, cast.ada, one)
    assert ranks(found, senior, one).choices
    assert ballots.turnout(found) == ballots.Turnout(1, 1, 1.0)


def test_limits_are_those_of_the_round_at_most(fall: Term, cast: Cast) -> None:
    one, found = a_section(a_course(), fall), a_round(fall, most_courses=4, most_credits=1600)
    for limits in ({"most_courses": 5}, {"most_credits": 1700}, {"most_courses": 0}):
        with pytest.raises(BallotRefused, match="limits") as refusal:
            ranks(found, cast.ada, one, **limits)
        assert refusal.value.text == "Choose at most 4 courses and 16 credits."
    assert ranks(found, cast.ada, one, most_courses=2).most_courses == 2


def test_empty_plan_is_no_ballot(fall: Term, cast: Cast) -> None:
    with pytest.raises(BallotRefused, match="empty"):
        ranks(a_round(fall), cast.ada)


def test_withdrawn_ballot_is_gone_and_may_come_again(fall: Term, cast: Cast) -> None:
    one, found = a_section(a_course(), fall), a_round(fall)
    first = ranks(found, cast.ada, one)
    ballots.withdraw(found.id, cast.ada.id)
    assert ballots.ballot_of(found.id, cast.ada.id) is None
    after = ballots.hand_in(found, cast.ada.id, 1, 400)
    assert after.choices
    assert after.code == first.code  # or students could choose their ticket in the draw


def test_changes_in_the_last_moment_count_whole_or_not_at_all(fall: Term, cast: Cast) -> None:
    """Whoever is told that a change is in the ballot finds it there after the end."""
    some = [a_section(a_course(f"CSC-{number}"), fall) for number in range(6)]
    found = a_round(fall)
    ranks(found, cast.ada, *some)
    with transaction() as session:
        soon = func.clock_timestamp() + timedelta(seconds=1)
        session.execute(update(Round).where(Round.id == found.id).values(ends_at=soon))
    seen = []

    def shuffle() -> None:
        late = False
        while not late:
            plan = change(fall.id, cast.ada.id, None, lambda plan: move(plan, 0, 5))
            ballot = ballots.ballot_of(found.id, cast.ada.id)
            late = ballot is None or ballot.choices != plan.choices
            if ballot and not late:
                seen.append(ballot)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(shuffle).result(timeout=30)
    final = ballots.ballot_of(found.id, cast.ada.id)
    assert final == seen[-1]
    assert final.changed_at < again(found.id).ends_at
