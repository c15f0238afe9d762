"""Deletion of ballots, and of everything that shows them, some time after the end of a round."""

from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, String, cast, delete, func, select, update

from portal.backend import backend
from portal.core.db import transaction
from portal.core.queue import attempt_each
from portal.rounds.models import BallotRow, JointChoice, JointMember, RoundFile
from portal.windows import rounds
from portal.windows.models import Round


def delete_old() -> list[int]:
    """Delete the ballots of rounds whose time is over; return the rounds that failed."""
    with transaction() as session:
        found = session.scalars(select(Round.id).where(*_old()).order_by(Round.id)).all()
    return attempt_each(found, _erase, "The ballots of round %s could not be deleted.")


def _old() -> tuple[ColumnElement[bool], ...]:
    """Return what holds for a round whose ballots are to be deleted."""
    kept = timedelta(days=backend().settings.ballot_days)
    return (
        Round.state.in_(("applied", "canceled")),
        Round.held.is_(False),
        Round.erased_at.is_(None),
        Round.ends_at < func.clock_timestamp() - kept,
    )


def _erase(number: int) -> None:
    """Delete the ballots, joint choices and files of a round.

    That a student missed a first choice counts in later rounds, so this alone stays of a ballot.
    """
    with transaction() as session:
        found = session.scalar(select(Round).where(Round.id == number, *_old()).with_for_update())
        if found is None:
            return
        mine = BallotRow.round_id == number
        if found.ballots is None:
            found.ballots = session.scalar(select(func.count()).where(mine))
        joint = select(JointChoice.id).where(JointChoice.round_id == number)
        session.execute(delete(JointMember).where(JointMember.joint_id.in_(joint)))
        session.execute(delete(JointChoice).where(JointChoice.round_id == number))
        session.execute(delete(RoundFile).where(RoundFile.round_id == number))
        session.execute(delete(BallotRow).where(mine, BallotRow.unmet_first.is_not(True)))
        code = func.concat(number, ":", cast(BallotRow.student_id, String))  # unique, and no secret
        nothing: dict[str, Any] = {"lines": [], "most_courses": 0, "most_credits": 0}
        nothing |= dict.fromkeys(("refused", "result", "given"))
        session.execute(update(BallotRow).where(mine).values(code=code, **nothing))
        found.erased_at = func.clock_timestamp()
        rounds.record(session, "round.erase", found, None, "", None, ballots=found.ballots or 0)
