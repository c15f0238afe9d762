"""Promises for the time in which a store is away, checked from outside meanwhile."""

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
SETTLED = 20.0  # seconds after which requests of its first moment are answered


def claims_go_on(_trial: Trial, rush: Rush) -> Iterator[str]:
    """Yield what is wrong without PostgreSQL: all requests are decided and in the journal."""
    time.sleep(SETTLED)
    began, known = time.time(), last_seq(rush.term)
    numbers = {student.number for student in rush.students}
    until(lambda: rush.decided(began) >= numbers, "claims don't go on without PostgreSQL")
    if last_seq(rush.term) <= known:
        yield "nothing was journaled while PostgreSQL was away"
    refused = [
        request for request in list(rush.requests) for each in request.tries if _later(each, began)
    ]
    yield from (f"{request.key}: refused without PostgreSQL" for request in refused)


def pages_are_read(trial: Trial, rush: Rush) -> Iterator[str]:
    """Yield what is wrong without the ledger: pages show recorded data, claims are refused."""
    time.sleep(SETTLED)
    began = time.time()
    for student, page in product(rush.students, ("", "/mine", "/plan")):
        read = student.http.get(f"{trial.up.address}/terms/{rush.term}{page}", timeout=60)
        if read.status_code != 200 or SAID not in read.text:
            yield f"{student.name} could not read {page or 'the sections'}: {read.status_code}"
    until(lambda: _refused(rush, began), "claims are not clearly refused without the ledger")
    if rush.decided(began):
        yield "something was decided without the ledger"


def nothing_is_recorded(_trial: Trial, rush: Rush) -> Iterator[str]:
    """Yield what is wrong if no recorder reaches the ledger: all is decided, nothing recorded."""
    time.sleep(READ)
    began, known = time.time(), recorded(rush.term)
    numbers = {student.number for student in rush.students}
    until(lambda: rush.decided(began) >= numbers, "claims don't go on without recorders")
    if recorded(rush.term) > known:
        yield "a recorder still reached the ledger"


def _refused(rush: Rush, since: float) -> bool:
    return any(
        _later(each, since) for request in list(rush.requests) for each in list(request.tries)
    )


def _later(each: Try, since: float) -> bool:
    """Return whether it was sent after `since` and refused for now."""
    return each.said == AWAY and each.sent > since
