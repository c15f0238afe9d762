"""Terms in every phase and people in the middle of them: what a tour of all pages shows."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from e2e.courses import a_course
from portal.applications import service as applications
from portal.applications.kinds import KINDS
from portal.applications.models import OPEN, PAID, Application, Charge
from portal.backend import backend
from portal.catalog.models import Instructor, Section, Term
from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.instructor_requests import service
from portal.notifications.models import Notification
from portal.people import tokens
from portal.people.models import Account, CompletedCourse, Hold, Permission, Student
from portal.people.tokens import TokenRequest
from portal.recorder import receipts
from portal.registration import plan_store, plans
from portal.registration.plans import Plan
from portal.registration.requests import SectionRequest
from portal.reports.models import WindowReport
from portal.waiting_room import room
from portal.windows.warmup import spec
from tests import cast as builders
from tests.applications.stories import an_application
from tests.cast import Cast, Meets
from tests.exchange.makers import an_import
from tests.ledger_claims import claim
from tests.rounds.builders import a_round, applied, choice, ranks

MORNING = (Meets("MWF", "09:00", "10:50"),)
NOON = (Meets("TR", "12:00", "13:20"), Meets("F", "14:00", "16:50"))
NEEDS = {"prerequisites": {"course": "MAT-1010"}, "note": "Bring a coat."}
TIMEOUT = 30.0


@dataclass(frozen=True)
class Campus:
    """Ids by the names that addresses use: terms by phase, sections of the open term by case."""

    open: int
    before: int
    unscheduled: int
    ended: int
    busy: int  # open, and others come first
    free: int  # Ada may pick it
    full: int  # nobody can get in
    queued: int  # has a waitlist that Ada could join
    barred: int  # something stands in everyone's way
    held: int  # Ada has a seat
    waited: int  # Ada is on the waitlist
    canceled: int  # Cleo had a seat
    wanted: int  # in the busy term
    ballots: int  # a term with a round that takes ballots
    given: int  # a term with a round whose seats are given
    window: int  # of the open term
    coming: int  # window of the term before it opens
    past: int  # of the term that has ended, closed out
    taking: int  # the round of the term `ballots`, with a ballot of Ada
    applied: int  # the round of the term `given`, in which Ada got some of what she wanted
    paused: int  # of the busy term, with a paused waiting room
    unlimited: int  # of the busy term, with its waiting room switched off
    student: int  # Ada
    number: str  # hers
    hold: int  # of hers, to come
    permit: int  # of hers, for what is barred
    full_crn: str
    receipt: str  # of Ada's seat
    asked: int  # Iris wants more seats
    application: int  # Ada's, in review
    draft: int  # hers, not sent yet
    withdrawn: int  # hers, over
    visit: int  # Tessa's, a visiting student who is about to pay
    charge: int  # of that visit, at the test provider
    paid: int  # another of hers, in the term before it opens
    entry: int  # of the audit trail
    refusal: str  # of what Cleo could not have
    imported: int  # an import that Max may apply

    def find(self, address: str) -> str:
        """The address with its names turned into ids."""
        return address.format(**asdict(self))


def campus(cast: Cast) -> Campus:
    """Build it all; Iris teaches what is held."""
    terms = {name: builders.a_term(f"Term {name}") for name in PHASES}
    offer = _offer(terms["open"], cast)
    coming = builders.a_section(a_course("TOU"), terms["before"], meetings=MORNING)
    past = builders.a_section(a_course("TOU"), terms["ended"])
    wanted = builders.a_section(a_course("TOU"), terms["busy"], meetings=MORNING)
    window = builders.an_open_window(terms["open"], minutes=600)
    opening = builders.a_coming_window(terms["before"], minutes=600)
    room.enter(terms["before"].id, opening.id, cast.ada.id)
    rounds = _rounds(terms["ballots"], terms["given"], cast)
    paused, unlimited = _crowd(terms["busy"], cast.ada)
    ended = _end(terms["ended"], cast.ada, past)
    for name in ("full", "queued", "waited"):
        claim(cast.ben, offer[name])
    mine, _ = claim(cast.ada, offer["held"]), claim(cast.ada, offer["waited"])
    claim(cast.cleo, offer["canceled"])
    refused = claim(cast.cleo, offer["full"])
    planned(cast.ada, terms["open"], [offer["free"], offer["queued"]], [offer["barred"]])
    planned(cast.ada, terms["before"], [coming])
    planned(cast.ada, terms["busy"], [wanted])
    planned(cast.cleo, terms["open"], [offer["barred"]])
    cancel(offer["canceled"])
    asked = service.request_seats(
        offer["waited"].id, 3, "So many wait for it.", cast.iris.account_id or 0
    )
    tokens.create_for("cleo", TokenRequest("A script of hers", ["read"], days=90))
    _until(lambda session: session.scalar(select(Notification.id).limit(1)))
    _until(lambda session: session.get(WindowReport, ended))
    return Campus(
        **{name: term.id for name, term in terms.items()},
        **{name: section.id for name, section in offer.items()},
        wanted=wanted.id,
        window=window.id,
        coming=opening.id,
        asked=asked,
        application=an_application("credit_overload", cast.ada, offer["full"]),
        draft=_draft(cast.ada, offer["barred"]),
        withdrawn=_withdrawn(cast.ada, offer["held"]),
        **_visits(terms["open"], terms["before"]),
        entry=_entry(),
        past=ended,
        **rounds,
        paused=paused,
        unlimited=unlimited,
        **_record(cast.ada, offer["full"]),
        full_crn=offer["full"].crn,
        receipt=receipts.code(terms["open"].id, mine.seq or 0),
        refusal=receipts.code(terms["open"].id, refused.seq or 0),
        imported=an_import(cast.max),
    )


def _draft(student: Student, section: Section) -> int:
    """An application for a permission that has not been sent."""
    kind = KINDS["permission"]
    return applications.start(kind, student.account_id, section.term_id, section.id)


def _withdrawn(student: Student, section: Section) -> int:
    """An application for a late drop that the student has withdrawn."""
    made = an_application("late_drop", student, section)
    applications.withdraw(made, student.account_id or 0)
    return made


def _visits(unpaid: Term, paid: Term) -> dict[str, int]:
    """Tessa, who applies as a visiting student for two terms, and Cora, who decides for them."""
    tessa = builders.an_account("tessa", email="tessa@u.example")
    chair = builders.an_instructor("cora")
    department = builders.a_department().id
    right = {"department_id": department, "decides_for_id": department}
    with transaction() as session:
        session.execute(update(Instructor).where(Instructor.id == chair.id).values(right))
    visit, charge = _visit(tessa, unpaid, OPEN, due_at=datetime(2040, 1, 1, tzinfo=UTC))
    other, _ = _visit(tessa, paid, PAID, paid_at=func.now(), sent_at=func.now())
    return {"visit": visit, "charge": charge, "paid": other}


def _visit(account: Account, term: Term, state: str, **fields: Any) -> tuple[int, int]:
    """An application with a charge in that state; gives both ids."""
    made = applications.start(KINDS["visiting"], account.id, term.id)
    with transaction() as session:
        session.get_one(Application, made).fee = KINDS["visiting"].fee
    charge = builders.added(
        Charge(
            application_id=made,
            amount=KINDS["visiting"].fee,
            currency="USD",
            provider="test",
            state=state,
            reference=f"test_{made}",
            **fields,
        )
    )
    return made, charge.id


def _record(student: Student, section: Section) -> dict[str, Any]:
    """A hold that is to come, a permission and a completed course."""
    whose = {"student_id": student.id}
    starts, why = datetime(2040, 1, 1, tzinfo=UTC), "By the dean."
    why_held = {"kind": "Library", "reason": "A book is due", "adviser_lifts": True}
    hold = builders.added(Hold(**whose, **why_held, starts_at=starts))
    waives = ["prerequisite", "restriction"]
    permit = Permission(**whose, section_id=section.id, waives=waives, reason=why)
    builders.added(permit)
    builders.added(CompletedCourse(**whose, course_code="MAT-0900", grade="A-"))
    return {"student": student.id, "number": student.number, "hold": hold.id, "permit": permit.id}


PHASES = ("open", "before", "unscheduled", "ended", "busy", "ballots", "given")


def _offer(term: Term, cast: Cast) -> dict[str, Section]:
    a_section = builders.a_section
    return {
        "free": a_section(a_course("TOU"), term, capacity=30, meetings=MORNING),
        "full": a_section(a_course("TOU"), term, capacity=1, waitlist=0),
        "queued": a_section(a_course("TOU"), term, capacity=1),
        "barred": a_section(a_course("TOU"), term, meetings=NOON, **NEEDS),
        "held": a_section(a_course("TOU"), term, meetings=NOON, instructor=cast.iris),
        "waited": a_section(a_course("TOU"), term, capacity=1, instructor=cast.iris),
        "canceled": a_section(a_course("TOU"), term, meetings=MORNING),
    }


def _crowd(term: Term, student: Student) -> tuple[int, int]:
    """A window whose room lets no one in, with a line in which the student is the last.

    And a later one, whose room is switched off. Gives both.
    """
    window = builders.an_open_window(term, minutes=600)
    room.set_limits(term.id, window.id, 6000, 0, off=False)
    for each in (*range(900_000, 900_020), student.id):
        room.enter(term.id, window.id, each)
    later = builders.a_coming_window(term, minutes=700)
    room.set_limits(term.id, later.id, 6000, 100, off=True)
    return window.id, later.id


def _rounds(ballots: Term, given: Term, cast: Cast) -> dict[str, int]:
    """A round in which Ada has a ballot, and one that is over, in which not all got all."""
    scarce, lab = (
        builders.a_section(a_course("TOU"), given, capacity=1, meetings=MORNING) for _ in range(2)
    )
    wide = builders.a_section(a_course("TOU"), given, capacity=9)
    over = a_round(given)
    for student in (cast.ada, cast.ben, cast.cleo):
        ranks(over, student, choice(scarce), choice(lab, wide))
    applied(over)
    offered = [
        builders.a_section(a_course("TOU"), ballots, capacity=9, meetings=MORNING) for _ in range(2)
    ]
    taking = a_round(ballots)
    ranks(taking, cast.ada, *(choice(each) for each in offered))
    return {"taking": taking.id, "applied": over.id}


def _end(term: Term, student: Student, section: Section) -> int:
    """A window in which the student got a seat, and which is over."""
    window = builders.an_open_window(term)
    claim(student, section)
    backend().ledger.close_window(term.id, window.id, "tests")
    return window.id


def planned(student: Student, term: Term, *lines: Sequence[Section]) -> None:
    """A plan of these lines, each a section and what it falls back on."""

    def make(plan: Plan) -> Plan:
        for at, line in enumerate(lines):
            plan = plans.add(plan, (SectionRequest(line[0].id),))
            for each in line[1:]:
                plan = plans.add_alternative(plan, at, (SectionRequest(each.id),))
        return plan

    plan_store.change(term.id, student.id, 0, make)


def cancel(section: Section) -> None:
    """The registrar takes the section off the offer."""
    changed = {"status": "CANCELED", "version": section.version + 1}
    bump = {"catalog_version": Term.catalog_version + 1}
    with transaction() as session:
        session.execute(update(Section).where(Section.id == section.id).values(changed))
        session.execute(update(Term).where(Term.id == section.term_id).values(bump))
    known = spec(section, ())
    backend().ledger.put_section(section.term_id, replace(known, **changed))


def _entry() -> int:
    """The first of the audit trail."""
    with transaction() as session:
        return session.scalars(select(func.min(AuditEntry.id))).one()


def _until(found: Callable[[Session], object]) -> None:
    """Wait until the workers have made something."""
    deadline = time.monotonic() + TIMEOUT
    made = None
    while made is None:
        assert time.monotonic() < deadline
        time.sleep(0.1)
        with transaction() as session:
            made = found(session)
