"""Ballots are kept for some days after the end of a round, then deleted."""

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select, update

from jobs.background import delete_expired
from portal.catalog.models import Term
from portal.core.db import transaction
from portal.people.models import Student
from portal.rounds import ballots, problem, steps, store
from portal.rounds.models import BallotRow, JointChoice, RoundFile
from portal.windows.models import Round
from tests.audit_trail import entries
from tests.cast import Cast, a_course, a_section, a_term
from tests.rounds.builders import a_round, again, an_admin, applied, choice, ended, frozen, ranks
from tests.web.visitors import browser_of

DAYS = 400


@pytest.fixture
def fall(app: Flask, cast: Cast) -> Term:  # noqa: ARG001
    return a_term()


@pytest.fixture
def found(fall: Term, cast: Cast) -> Round:
    """A round in which two students rank one seat first, and a free one after it."""
    one, two = (
        a_section(a_course(code), fall, capacity=seats)
        for code, seats in (("CSC-1", 1), ("ART-1", 9))
    )
    made = a_round(fall, tickets=3)
    for student in (cast.ada, cast.ben):
        ranks(made, student, choice(one), choice(two))
    return made


def aged(of: Round, days: float) -> Round:
    """The round, its end moved into the past by hand."""
    with transaction() as session:
        ends = func.clock_timestamp() - timedelta(days=days)
        session.execute(update(Round).where(Round.id == of.id).values(ends_at=ends, begins_at=ends))
    ballots.forget()
    return again(of.id)


def left(of: Round) -> tuple[int, ...]:
    """Return how many ballots, files and joint choices are left."""
    with transaction() as session:
        return tuple(
            session.scalar(select(func.count()).where(each.round_id == of.id)) or 0
            for each in (BallotRow, RoundFile, JointChoice)
        )


def rows(of: Round) -> list[Any]:
    with transaction() as session:
        return list(session.scalars(select(BallotRow).where(BallotRow.round_id == of.id)))


def test_ballots_of_an_old_round_are_deleted_with_its_files(
    app: Flask, found: Round, cast: Cast
) -> None:
    aged(applied(found), DAYS - 1)
    delete_expired()
    assert left(found) == (2, 4, 0)
    missed = [each.student_id for each in rows(found) if each.unmet_first]
    old = aged(found, DAYS + 1)
    delete_expired()
    after = again(found.id)
    assert left(found) == (1, 0, 0)
    assert after.erased_at
    assert after.root == old.root
    (kept,) = rows(found)
    assert kept.student_id == missed[0]
    assert (kept.lines, kept.refused, kept.result, kept.given) == ([], None, None, None)
    assert cast.ada.number not in kept.code
    assert cast.ben.number not in kept.code
    [entry] = entries("round.erase")
    assert entry.after
    assert entry.after["ballots"] == 2
    delete_expired()  # nothing more to do
    assert again(found.id).erased_at == after.erased_at
    page = f"/terms/{found.term_id}/rounds/{found.id}"
    for username in ("ada", "ben"):
        student = browser_of(app, username)
        text = student.get(page).text
        assert "All ballots of this round were deleted on" in text
        assert "Your result" not in text
        assert old.root is not None
        assert old.root in text
        for file in ("published.json", "verify.py", "proof.json"):
            assert student.get(f"{page}/{file}").status_code == 404
    admin = browser_of(app, "max").get(f"/admin{page}").text
    assert "The ballots and the file with the result were deleted on" in admin


def test_a_missed_first_choice_still_counts_in_later_rounds(found: Round, cast: Cast) -> None:
    aged(applied(found), DAYS + 1)
    later = a_round(a_term("Spring"), tickets=3)
    before = [problem.tickets_of(later, each.id) for each in (cast.ada, cast.ben)]
    assert sorted(before) == [1, 2]
    delete_expired()
    assert [problem.tickets_of(later, each.id) for each in (cast.ada, cast.ben)] == before


def test_ballots_of_a_canceled_round_are_deleted(found: Round) -> None:
    steps.cancel(found.id, found.version, an_admin(), "tests")
    steps.work(found.term_id)
    aged(found, DAYS + 1)
    delete_expired()
    assert left(found) == (0, 0, 0)
    assert again(found.id).ballots == 2


def test_ballots_of_a_round_that_is_not_done_stay(found: Round) -> None:
    aged(frozen(found), DAYS + 1)
    delete_expired()
    assert left(found)[0] == 2
    assert store.frozen_problem(found.id).ballots


def test_the_ballot_of_a_deleted_student_does_not_count(found: Round, cast: Cast) -> None:
    with transaction() as session:
        session.execute(
            update(Student).where(Student.id == cast.ben.id).values(deleted_at=func.now())
        )
    after = frozen(ended(found))
    assert after.ballots == 1
    assert len(store.frozen_problem(found.id).ballots) == 1
