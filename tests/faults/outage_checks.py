"""What is promised while one of the stores is away: looked at from outside, in the midst of it."""

import time
from collections.abc import Iterator
from itertools import product

from portal.recorder.journal import last_seq
from tests.faults.client import Rush
from tests.faults.history import AWAY, Try
from tests.faults.trial import Trial, until
from tests.recorder.processes import recorded
from tests.web.ledger_outage import SAID

READ = 5.0  # seconds after which what the recorders had read is in PostgreSQL
SETTLED = 20.0  # seconds after which whoever was asked in its first moment has been answered


def claims_go_on(_trial: Trial, rush: Rush) -> Iterator[str]:
    """While PostgreSQL is away everyone is answered, and the journal keeps what it can't record."""
    time.sleep(SETTLED)
    began, known = time.time(), last_seq(rush.term)
    numbers = {student.number for student in rush.students}
    until(lambda: rush.decided(began) >= numbers, "claims don't go on without PostgreSQL")
    if last_seq(rush.term) <= known:
        yield "nothing was journaled while PostgreSQL was away"
    refused = [deed for deed in list(rush.deeds) for each in deed.tries if _later(each, began)]
    yield from (f"{deed.key}: refused without PostgreSQL" for deed in refused)


def pages_are_read(trial: Trial, rush: Rush) -> Iterator[str]:
    """While the ledger is away pages say so and show what is recorded; claims are refused."""
    time.sleep(SETTLED)
    began = time.time()
    for student, page in product(rush.students, ("", "/mine", "/plan")):
        read = student.http.get(f"{trial.up.address}/terms/{rush.term}{page}", timeout=60)
        if read.status_code != 200 or SAID not in read.text:
            yield f"{student.name} could not read {page or 'the sections'}: {read.status_code}"
    until(lambda: _refused(rush, began), "claims are not refused in words without the ledger")
    if rush.decided(began):
        yield "something was decided without the ledger"


def nothing_is_recorded(_trial: Trial, rush: Rush) -> Iterator[str]:
    """While no recorder reaches the ledger all are answered, and nothing comes to PostgreSQL."""
    time.sleep(READ)
    began, known = time.time(), recorded(rush.term)
    numbers = {student.number for student in rush.students}
    until(lambda: rush.decided(began) >= numbers, "claims don't go on without recorders")
    if recorded(rush.term) > known:
        yield "a recorder still reached the ledger"


def _refused(rush: Rush, since: float) -> bool:
    return any(_later(each, since) for deed in list(rush.deeds) for each in list(deed.tries))


def _later(each: Try, since: float) -> bool:
    """Return whether it is a refusal for now of later than that."""
    return each.said == AWAY and each.sent > since
