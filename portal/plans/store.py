"""Where plans are kept: each change is made to the version that was seen, or not at all."""

import logging
from collections.abc import Callable, Iterable
from threading import Lock

from cachetools import LRUCache
from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from portal.core.cache import AWAY
from portal.core.db import crowded, look, transaction
from portal.core.outage import postgresql
from portal.plans import pack
from portal.plans.models import PlanRow
from portal.plans.plan import Plan, without

log = logging.getLogger(__name__)

TRIES = 3


class StalePlan(Exception):  # noqa: N818  a fact, not a mistake
    """The plan has been changed since it was seen; `plan` is what it is now."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(f"The plan is at version {plan.version}.")
        self.plan = plan


def plan_of(term: int, student: int) -> Plan | None:
    """The plan as it is now; as last known, or None, while PostgreSQL is away."""
    with _lock:
        known = _known.get((term, student))
    if postgresql.spares():
        return known
    try:
        with look() as session:
            plan = _read(session, term, student)
    except AWAY as error:
        postgresql.begin(crowded=crowded(error))
        return known
    postgresql.end()
    return _keep(term, student, plan)


def change(term: int, student: int, version: int, make: Callable[[Plan], Plan]) -> Plan:
    """Make a change to the plan of that version; raises StalePlan where it is another by now.

    Raises whatever `make` raises, and those of AWAY while PostgreSQL is.
    """
    with transaction() as session:
        plan = _read(session, term, student)
        if plan.version != version:
            raise StalePlan(plan)
        changed = make(plan)
        stored = plan if changed == plan else _write(session, term, student, changed)
    if stored is None:
        return change(term, student, version, make)  # which finds the plan of whoever was first
    return _keep(term, student, stored)


def settle(term: int, student: int, sections: Iterable[int]) -> Plan | None:
    """The plan without the lines of these sections; None where PostgreSQL is away.

    What has been had is told as had when it is submitted again, so a line too many does no harm.
    """
    gone = tuple(sections)
    for _ in range(TRIES):
        plan = plan_of(term, student)
        if plan is None or postgresql.lasts:  # who has just been given seats is not kept waiting
            return None
        try:
            return change(term, student, plan.version, lambda found: without(found, gone))
        except StalePlan:
            continue
        except AWAY as error:
            log.warning("A plan keeps lines that were had: %s", error)
            return None
    return plan


def _read(session: Session, term: int, student: int) -> Plan:
    row = session.execute(
        select(PlanRow.lines, PlanRow.version).where(
            PlanRow.term_id == term, PlanRow.student_id == student
        )
    ).one_or_none()
    return pack.unpack(row.lines, row.version) if row else Plan()


def _write(session: Session, term: int, student: int, plan: Plan) -> Plan | None:
    """The plan at its next version; None where somebody else has just written that."""
    values = {"lines": pack.pack(plan), "version": plan.version + 1}
    whose = {"term_id": term, "student_id": student}
    first = insert(PlanRow).values(**whose, **values).on_conflict_do_nothing()
    next_one = (
        update(PlanRow)
        .filter_by(**whose, version=plan.version)
        .values(**values, updated_at=func.now())
    )
    statement = next_one if plan.version else first
    written = session.scalar(statement.returning(PlanRow.version))
    return Plan(plan.lines, written) if written else None


def _keep(term: int, student: int, plan: Plan) -> Plan:
    with _lock:
        _known[term, student] = plan
    return plan


_known: LRUCache[tuple[int, int], Plan] = LRUCache(20_000)
_lock = Lock()
