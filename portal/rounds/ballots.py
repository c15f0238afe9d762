"""Ballots: submitted, following the plan, withdrawn.

PostgreSQL's clock decides whether a ballot is in time, under a shared lock of the round. Freezing
takes the lock alone, so a ballot that was acknowledged is counted.
"""

from dataclasses import dataclass
from datetime import datetime
from threading import Lock

from cachetools import TTLCache, cached
from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from portal.allocation.proof import code_of, sha256
from portal.catalog.local_time import local_clock
from portal.core.db import transaction
from portal.core.errors import Refused
from portal.core.i18n import _l
from portal.people.student_profile import StudentProfile, profile
from portal.registration.credits import points
from portal.registration.plan_store import read_plan
from portal.registration.plans import Plan, pack, unpack
from portal.registration.requests import Choice
from portal.rounds.models import BallotRow
from portal.windows import rounds
from portal.windows.cohorts import count_students, in_cohort
from portal.windows.models import Round

FRESH_SECONDS = 1


REFUSED = {
    "early": _l("You can’t submit a ballot yet. The round has not started."),
    "late": _l("Too late: the round ended on %(end)s. Your ballot stays as it was then."),
    "canceled": _l("This round was canceled. No one got a seat from it."),
    "not_yours": _l("This round is for other students."),
    "limits": _l("Choose at most %(courses)s courses and %(credits)s credits."),
    "empty": _l("Your plan is empty. Plan sections first: your plan is your ballot."),
    "no_ballot": _l("Submit your ballot first."),
    "others": _l("Enter the numbers of one to three other students."),
    "sections": _l("Choose one of your choices. It must have no backup."),
    "twice": _l("You already share this choice with others. End that first."),
    "many": _l("You can share at most four choices."),
    "gone": _l("This joint choice has ended."),
}


class BallotRefused(Refused):
    """A ballot or a joint choice that was not taken."""

    texts = REFUSED


@dataclass(frozen=True)
class Ballot:
    """A student's ballot; `most_credits` is in hundredths."""

    round_id: int
    student: int
    code: str
    choices: tuple[Choice, ...]
    most_courses: int
    most_credits: int
    changes: int
    changed_at: datetime

    @property
    def pseudonym(self) -> str:
        """Return the name of the ballot in the published file."""
        return sha256(self.code)


@dataclass(frozen=True)
class Turnout:
    """Ballots submitted, students who may take part, and the average number of choices."""

    ballots: int
    students: int
    choices: float


def rounds_for(who: StudentProfile, term: int) -> list[Round]:
    """Return the rounds that a student sees, at most a second old.

    They are those of the student's cohorts, and those with a ballot of the student: a record that
    changes takes no ballot or result away.
    """
    found = _announced(term)
    if all(in_cohort(who, each.cohort) for each in found):
        return found
    with transaction() as session:
        query = select(BallotRow.round_id).where(BallotRow.student_id == who.student)
        mine = set(session.scalars(query))
    return [each for each in found if in_cohort(who, each.cohort) or each.id in mine]


@cached(TTLCache(maxsize=64, ttl=FRESH_SECONDS), lock=Lock())
def _announced(term: int) -> list[Round]:
    return [each for each in rounds.of_term(term) if each.announced]


def forget() -> None:
    """Make the next request read the rounds again."""
    _announced.cache_clear()


def ballot_of(number: int, student: int) -> Ballot | None:
    with transaction() as session:
        row = session.get(BallotRow, (number, student))
    return _ballot(row) if row else None


def hand_in(found: Round, student: int, most_courses: int, most_credits: int) -> Ballot:
    """Take part with the current plan, or set other limits. Raise BallotRefused.

    The code stays the same, also after the ballot was withdrawn.
    """
    number, who = found.id, profile(student)
    with transaction() as session:
        # The plan before the round, as a change of the plan locks them.
        plan = read_plan(session, found.term_id, student, lock=True)
        found, now = taking(session, number)
        if not plan.choices:
            raise BallotRefused("empty")
        has_one = session.get(BallotRow, (number, student)) is not None
        if not (has_one or in_cohort(who, found.cohort)):
            raise BallotRefused("not_yours")
        if not (0 < most_courses <= found.most_courses and 0 < most_credits <= found.most_credits):
            most = {"courses": found.most_courses, "credits": points(found.most_credits)}
            raise BallotRefused("limits", **most)
        values = {
            "lines": pack(plan),
            "most_courses": most_courses,
            "most_credits": most_credits,
            "changed_at": now,
        }
        code = code_of(found.code_key, student, who.number)
        whose = {"round_id": number, "student_id": student, "code": code}
        statement = (
            insert(BallotRow)
            .values(**whose, **values, changes=1)
            .on_conflict_do_update(
                index_elements=["round_id", "student_id"],
                set_={**values, "changes": BallotRow.changes + 1},
            )
            .returning(BallotRow)
        )
        row = session.scalars(statement, execution_options={"populate_existing": True}).one()
        return _ballot(row)


def withdraw(number: int, student: int) -> None:
    """Take a ballot back; nothing happens if there is none. Raise BallotRefused."""
    with transaction() as session:
        taking(session, number)
        session.execute(
            delete(BallotRow).where(BallotRow.round_id == number, BallotRow.student_id == student)
        )


def follow_plan(session: Session, term: int, student: int, plan: Plan) -> None:
    """Change the student's ballots with the plan, in rounds that take ballots at this moment."""
    mine = (
        select(Round)
        .join(BallotRow, BallotRow.round_id == Round.id)
        .where(Round.term_id == term, Round.state == "open", BallotRow.student_id == student)
        .with_for_update(read=True, of=Round)
    )
    for found in session.scalars(mine).all():
        code, now = _in_time(session, found)
        if not code:
            session.execute(
                update(BallotRow)
                .where(BallotRow.round_id == found.id, BallotRow.student_id == student)
                .values(
                    lines=pack(plan),
                    changes=BallotRow.changes + 1,
                    changed_at=now,
                )
            )


def turnout(found: Round) -> Turnout:
    """Return how many students take part."""
    with transaction() as session:
        number, choices = session.execute(
            select(func.count(), func.avg(func.jsonb_array_length(BallotRow.lines))).where(
                BallotRow.round_id == found.id
            )
        ).one()
        return Turnout(number, count_students(session, found.cohort), round(float(choices or 0), 1))


def taking(session: Session, number: int) -> tuple[Round, datetime]:
    """Return the round, locked against its end, and when it was found to take ballots.

    Raise BallotRefused unless it does.
    """
    query = select(Round).where(Round.id == number).with_for_update(read=True)
    found = session.scalars(query, execution_options={"populate_existing": True}).one()
    code, now = _in_time(session, found)
    if code:
        raise BallotRefused(code, end=local_clock().exact(found.ends_at))
    return found, now


def _in_time(session: Session, found: Round) -> tuple[str, datetime]:
    """Return why a locked round takes no ballots, blank if it does, and the moment of it."""
    now: datetime = session.scalars(select(func.clock_timestamp())).one()
    if found.state == "canceled":
        return "canceled", now
    if not found.announced or now < found.begins_at:
        return "early", now
    return "" if found.state == "open" and now < found.ends_at else "late", now


def _ballot(row: BallotRow) -> Ballot:
    return Ballot(
        round_id=row.round_id,
        student=row.student_id,
        code=row.code,
        choices=unpack(row.lines).choices,
        most_courses=row.most_courses,
        most_credits=row.most_credits,
        changes=row.changes,
        changed_at=row.changed_at,
    )
