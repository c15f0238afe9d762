"""Rounds and ballots for tests."""

from datetime import timedelta
from secrets import token_hex
from typing import Any

from sqlalchemy import func, select, update

from portal.backend import backend
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.core.moments import milliseconds
from portal.ledger.types import Claim, LedgerChoice, RequestContext
from portal.people.models import Account, Permission, Student
from portal.registration.plan_store import change, plan_of
from portal.registration.plans import Plan
from portal.registration.requests import Choice, SectionRequest
from portal.rounds import ballots, steps
from portal.rounds.ballots import Ballot
from portal.windows import rounds
from portal.windows.models import Round
from portal.windows.rounds import RoundDetails
from tests.cast import MINUTE, added

DAY = 24 * 60 * MINUTE


def wanted(**fields: Any) -> RoundDetails:
    """Return the settings of a round that began a minute ago and ends in an hour."""
    now = backend().ledger.now()
    ends = fields.get("ends", now + 60 * MINUTE)
    usual: dict[str, Any] = {
        "name": "First round",
        "cohort": {},
        "begins": now - MINUTE,
        "ends": ends,
        "mechanism": "draft",
        "priorities": (),
        "reserves": "given",
        "tickets": 1,
        "most_courses": 6,
        "most_credits": 2000,
        "public_source": "Lottery 4711",
        "public_at": ends + 60 * DAY,
    }
    return RoundDetails(**usual | fields)


def a_draft(term: Term, by: int | None = None, **fields: Any) -> Round:
    """A round that only admins see."""
    who = by or an_admin()
    number = rounds.create(term.id, wanted(**fields), token_hex(8), who, "tests")
    return again(number)


def a_round(term: Term, by: int | None = None, **fields: Any) -> Round:
    """A round that is announced."""
    found = a_draft(term, by, **fields)
    rounds.announce(found.id, found.version, by or an_admin(), "tests")
    ballots.forget()
    return again(found.id)


def again(number: int) -> Round:
    """The round as it is now."""
    with transaction() as session:
        return session.get_one(Round, number)


def ended(found: Round) -> Round:
    """The round, its end moved into the past by hand, as the tests do not wait for it."""
    second = timedelta(seconds=1)
    with transaction() as session:
        session.execute(
            update(Round)
            .where(Round.id == found.id)
            .values(begins_at=func.clock_timestamp() - 2 * second, ends_at=func.clock_timestamp())
        )
    ballots.forget()
    after = again(found.id)
    backend().ledger.put_round_end(found.term_id, found.id, milliseconds(after.ends_at))
    return after


def choice(*alternatives: Any, wait: bool = True) -> Choice:
    """A choice of sections, or of bundles of sections, by rank."""
    bundles = [each if isinstance(each, tuple) else (each,) for each in alternatives]
    return Choice(tuple(tuple(SectionRequest(one.id) for one in each) for each in bundles), wait)


def ranks(found: Round, student: Student, *choices: Choice | Section, **limits: int) -> Ballot:
    """Plan these choices, the best first, and hand them in."""
    lines = tuple(each if isinstance(each, Choice) else choice(each) for each in choices)
    known = plan_of(found.term_id, student.id) or Plan()
    change(found.term_id, student.id, known.version, lambda _: Plan(lines, known.version))
    return ballots.hand_in(
        found,
        student.id,
        limits.get("most_courses", found.most_courses),
        limits.get("most_credits", found.most_credits),
    )


def an_admin() -> int:
    """The account of the first admin."""
    with transaction() as session:
        admins = select(Account.id).where(Account.is_admin).order_by(Account.id).limit(1)
        return session.scalars(admins).one()


def frozen(found: Round) -> Round:
    """The round after its end, its ballots frozen."""
    steps.close(ended(found).id)
    return again(found.id)


def known(found: Round) -> Round:
    """The round, the moment of its public value moved into the past by hand."""
    with transaction() as session:
        past = func.clock_timestamp()
        session.execute(update(Round).where(Round.id == found.id).values(public_at=past))
    ballots.forget()
    return again(found.id)


def computed(found: Round, value: str = "4711") -> Round:
    """The round, computed with a public value."""
    after = known(frozen(found))
    steps.enter_value(after.id, after.version, value, an_admin(), "tests")
    steps.work(after.term_id)
    return again(found.id)


def published(found: Round) -> Round:
    """The round, published; its seats are not given yet."""
    after = computed(found)
    steps.publish(after.id, after.version, an_admin(), "tests")
    ballots.forget()
    return again(found.id)


def applied(found: Round) -> Round:
    """The round, published and its seats given."""
    after = published(found)
    steps.work(after.term_id)
    ballots.forget()
    return again(found.id)


def claims(term: Term, section: Any, student: Any, window: int) -> None:
    """Claim a section in a window, or wait for it."""
    backend().ledger.submit(
        RequestContext(term.id, student.id, "tests", "tests"),
        credit_limit=2400,
        windows=[window],
        choices=[LedgerChoice(((Claim(section.id, 400),),), wait=True)],
        content=[],
    )


def permits(student: Student, section: Section, *rules: str) -> None:
    """Let a student pass rules of a section."""
    fields = {"student_id": student.id, "section_id": section.id, "waives": list(rules)}
    added(Permission(**fields, reason="tests"))
