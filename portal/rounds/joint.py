"""Joint choices: two to four students rank the same sections together, agreed by each.

A joint choice counts once every student who was named has agreed, has a ballot, and ranks these
sections as a choice without alternatives. Until then it counts as a separate choice for each.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from portal.allocation.problem import GROUP
from portal.core.db import transaction
from portal.people.models import Student
from portal.registration.plans import Plan, unpack
from portal.registration.requests import Choice
from portal.rounds.ballots import BallotRefused, taking
from portal.rounds.models import BallotRow, JointChoice, JointMember

MOST_MADE = 4  # joint choices that a student may make in a round


@dataclass(frozen=True)
class JointView:
    """A joint choice as one of its students sees it.

    `others` are student numbers, each with whether it is agreed. `counts` means that all have
    agreed and rank it.
    """

    id: int
    sections: tuple[int, ...]
    others: tuple[tuple[str, bool], ...]
    agreed: bool
    ranked: bool
    counts: bool


def choices_alone(choices: Iterable[Choice]) -> list[Choice]:
    """Return the choices that may become joint: those without alternatives."""
    return [each for each in choices if len(each.alternatives) == 1]


def make(number: int, student: int, sections: Collection[int], names: Collection[str]) -> None:
    """Name one to three other students for a choice of the own ballot. Raise BallotRefused.

    `names` are student numbers. An unknown number is stored too, so that no one learns who is a
    student: the choice then never counts. Codes: those of ballots; no_ballot, others (how many are
    named), sections (no such choice), twice, many.
    """
    with transaction() as session:
        taking(session, number)
        row = session.get(BallotRow, (number, student), with_for_update=True)
        if row is None:
            raise BallotRefused("no_ballot")
        own = session.get_one(Student, student).number
        others = set(names) - {own}
        if not GROUP[0] <= len(others) + 1 <= GROUP[1]:
            raise BallotRefused("others")
        wanted = sorted(set(sections))
        if _ranks(unpack(row.lines), wanted) is None:
            raise BallotRefused("sections")
        if _has(session, number, student, wanted):
            raise BallotRefused("twice")
        mine = JointChoice.round_id == number, JointChoice.made_by == student
        if (session.scalar(select(func.count()).where(*mine)) or 0) >= MOST_MADE:
            raise BallotRefused("many")
        made = JointChoice(
            round_id=number, made_by=student, sections=wanted, numbers=sorted({own, *others})
        )
        session.add(made)
        session.flush()
        session.add(JointMember(joint_id=made.id, student_id=student, agreed=True))
        known = select(Student.id).where(Student.number.in_(others), Student.deleted_at.is_(None))
        session.add_all(
            JointMember(joint_id=made.id, student_id=each, agreed=False)
            for each in session.scalars(known)
        )


def agree(number: int, joint: int, student: int) -> None:
    """Agree to a joint choice that names the student. Raise BallotRefused (gone, twice)."""
    with transaction() as session:
        taking(session, number)
        found = _locked(session, number, joint, student)
        if _has(session, number, student, found.sections, but=joint):
            raise BallotRefused("twice")
        mine = JointMember.joint_id == joint, JointMember.student_id == student
        session.execute(update(JointMember).where(*mine).values(agreed=True))


def leave(number: int, joint: int, student: int) -> None:
    """End a joint choice for all who are in it. Raise BallotRefused (gone)."""
    with transaction() as session:
        taking(session, number)
        found = _locked(session, number, joint, student)
        session.execute(delete(JointMember).where(JointMember.joint_id == joint))
        session.delete(found)


def of_student(number: int, student: int) -> list[JointView]:
    """Return the joint choices that name a student, the oldest first."""
    with transaction() as session:
        mine = select(JointMember.joint_id).where(JointMember.student_id == student)
        found = session.scalars(
            select(JointChoice)
            .where(JointChoice.round_id == number, JointChoice.id.in_(mine))
            .order_by(JointChoice.id)
        ).all()
        members = _members(session, [each.id for each in found])
        numbers = _numbers(session, members)
        everyone = {each for agreed in members.values() for each in agreed}
        rows = session.scalars(
            select(BallotRow).where(
                BallotRow.round_id == number, BallotRow.student_id.in_(everyone)
            )
        )
        plans = {each.student_id: unpack(each.lines) for each in rows}
    return [_view(each, members[each.id], numbers, plans, student) for each in found]


def agreed_in(
    session: Session, number: int, plans: Mapping[int, Plan]
) -> list[tuple[int, list[int], dict[int, int]]]:
    """Return the joint choices that count: id, sections, and the place in each student's plan."""
    found = session.scalars(
        select(JointChoice).where(JointChoice.round_id == number).order_by(JointChoice.id)
    ).all()
    members = _members(session, [each.id for each in found])
    counting: list[tuple[int, list[int], dict[int, int]]] = []
    taken: set[tuple[int, int]] = set()  # no choice is part of two
    for each in found:
        places = _places(each, members[each.id], plans)
        if places and taken.isdisjoint(places.items()):
            taken |= places.items()
            counting.append((each.id, each.sections, places))
    return counting


def _places(
    found: JointChoice, agreed: Mapping[int, bool], plans: Mapping[int, Plan]
) -> dict[int, int]:
    """Return where each student ranks a joint choice; empty unless all agreed and rank it."""
    if sum(agreed.values()) < len(found.numbers):
        return {}
    places = {
        student: place
        for student in agreed
        if (place := _ranks(plans.get(student, Plan()), found.sections)) is not None
    }
    return places if len(places) == len(found.numbers) else {}


def _ranks(plan: Plan, sections: Collection[int]) -> int | None:
    """Return the place of the choice of exactly these sections, without alternatives."""
    return next(
        (
            place
            for place, each in enumerate(plan.choices)
            if len(each.alternatives) == 1 and set(each.sections) == set(sections)
        ),
        None,
    )


def _has(
    session: Session, number: int, student: int, sections: Collection[int], but: int = 0
) -> bool:
    """Return whether a student has agreed to another joint choice of the same sections."""
    query = (
        select(JointChoice.id)
        .join(JointMember, JointMember.joint_id == JointChoice.id)
        .where(
            JointChoice.round_id == number,
            JointChoice.id != but,
            JointChoice.sections == sorted(sections),
            JointMember.student_id == student,
            JointMember.agreed,
        )
    )
    return session.scalar(query.limit(1)) is not None


def _locked(session: Session, number: int, joint: int, student: int) -> JointChoice:
    found = session.get(JointChoice, joint, with_for_update=True)
    if found is None or found.round_id != number:
        raise BallotRefused("gone")
    if session.get(JointMember, (joint, student)) is None:
        raise BallotRefused("gone")
    return found


def _members(session: Session, joint: Collection[int]) -> dict[int, dict[int, bool]]:
    """Return, for each joint choice, its known students and whether they have agreed."""
    found: dict[int, dict[int, bool]] = {each: {} for each in joint}
    for row in session.scalars(select(JointMember).where(JointMember.joint_id.in_(joint))):
        found[row.joint_id][row.student_id] = row.agreed
    return found


def _numbers(session: Session, members: Mapping[int, Mapping[int, bool]]) -> dict[str, int]:
    everyone = {student for agreed in members.values() for student in agreed}
    query = select(Student.number, Student.id).where(Student.id.in_(everyone))
    return {row[0]: row[1] for row in session.execute(query)}


def _view(
    found: JointChoice,
    agreed: Mapping[int, bool],
    numbers: Mapping[str, int],
    plans: Mapping[int, Plan],
    student: int,
) -> JointView:
    others = [each for each in found.numbers if numbers.get(each) != student]
    return JointView(
        id=found.id,
        sections=tuple(found.sections),
        others=tuple((each, agreed.get(numbers.get(each, 0), False)) for each in others),
        agreed=agreed[student],
        ranked=_ranks(plans.get(student, Plan()), found.sections) is not None,
        counts=bool(_places(found, agreed, plans)),
    )
