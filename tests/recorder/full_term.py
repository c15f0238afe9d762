"""A term that uses every kind of key in the ledger."""

from dataclasses import asdict, dataclass

from portal.backend import backend
from portal.ledger.types import Candidate, PoolSpec, Reason, ReserveSpec, SkipRule
from portal.recorder.recorder import drain
from tests.recorder.rush import Rush, a_rush, claim, drop, spec

HOUR = 3_600_000


@dataclass(frozen=True)
class Answered:
    """A claim with its idempotency key."""

    student: int
    section: int
    key: str


def a_term_with_everything() -> tuple[Rush, Answered]:
    """Return a recorded term, and a claim that may be repeated."""
    rush = a_rush(sections=8, students=8, capacity=2, waitlist=4)
    _a_waitlist_with_a_skipped_head(rush)
    _a_pool(rush)
    _reserves(rush)
    _a_canceled_section_that_is_not_empty_yet(rush)
    student, first, second = rush.students[6], *rush.sections[5:7]
    claim(rush, student, first, "a-key")
    claim(rush, student, second, corequisites={"course": first})
    deadlines = {"add_deadline": backend().ledger.now() + HOUR, "drop_deadline": HOUR}
    backend().ledger.put_deadlines(rush.term, deadlines, version=3)
    backend().ledger.hold_for_round(rush.term, 1, rush.sections[6:7])
    backend().ledger.put_round_end(rush.term, 2, backend().ledger.now() + HOUR)
    drain(rush.term)
    return rush, Answered(student, first, "a-key")


def _a_waitlist_with_a_skipped_head(rush: Rush) -> None:
    section, head = rush.sections[0], rush.students[2]
    for student in rush.students[:4]:
        claim(rush, student, section, band=2 if student == rush.students[3] else None)
    drop(rush, rush.students[0], section)
    hold = Candidate(head, (rush.window,), 100_000, rules=(Reason("hold"),))
    backend().ledger.promote(rush.term, section, [hold], "a test", SkipRule(5))


def _a_pool(rush: Rush) -> None:
    for section in rush.sections[1:3]:
        result = spec(section, capacity=2, version=2, pool=PoolSpec(1, 3, 1))
        backend().ledger.put_section(rush.term, result)
    claim(rush, rush.students[0], rush.sections[1])


def _reserves(rush: Rush) -> None:
    """Give a seat under a reserve and leave one; the waiting student is not in its cohort."""
    section, until = rush.sections[3], backend().ledger.now() + HOUR
    reserve = ReserveSpec(1, 2, until)
    result = spec(section, capacity=3, version=2, reserves=(reserve,))
    backend().ledger.put_section(rush.term, result)
    claim(rush, rush.students[0], section, reserves=(1,))
    for student in rush.students[1:3]:
        claim(rush, student, section)


def _a_canceled_section_that_is_not_empty_yet(rush: Rush) -> None:
    section = rush.sections[4]
    for student in rush.students[:3]:
        claim(rush, student, section)
    result = asdict(spec(section, version=2, status="CANCELED"))
    backend().ledger.library.ask("put_section", rush.term, result | {"batch": 1})
