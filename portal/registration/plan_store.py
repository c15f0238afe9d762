"""Plans in PostgreSQL: a change is made to the version that was seen, or not at all."""

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

from cachetools import LRUCache
from sqlalchemy import Connection, ForeignKey, func, select, update
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.orm import Mapped, Session, mapped_column

from portal.backend import backend
from portal.core import flags
from portal.core.cache import AWAY
from portal.core.db import Base, crowded, read_only, transaction
from portal.core.outage import postgresql
from portal.ledger.errors import LedgerUnavailable
from portal.registration.plans import Plan, pack, unpack, without
from portal.registration.signals import plan_changed

log = logging.getLogger(__name__)

TRIES = 3
OLDEST = 60.0  # seconds


class PlanRow(Base):
    """A student's plan of a term; `lines` are its packed choices."""

    __tablename__ = "plans"

    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), primary_key=True)
    student_id: Mapped[int] = mapped_column(ForeignKey("students.id"), primary_key=True)
    lines: Mapped[list[Any]] = mapped_column(JSONB)
    version: Mapped[int]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class StalePlan(Exception):
    """The plan has changed since it was seen; `plan` is the current one."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(f"The plan is at version {plan.version}.")
        self.plan = plan


def plan_of(term: int, student: int, changes: int | None = None) -> Plan | None:
    """Return the current plan; while PostgreSQL is away the last known one, or None.

    With the number of its `changes` that the ledger has counted, it may come from memory: that of a
    plan is read before the plan. If a change could not be counted, it is old for OLDEST seconds;
    so it may be after the ledger has lost its data, as the count starts again and may meet an old
    one. Neither does harm: a change names the version that was seen.
    """
    with _lock:
        entry = _known.get((term, student), UNKNOWN)
    if postgresql.spares() or (entry.changes == changes and entry.is_fresh()):
        return entry.plan
    try:
        with read_only() as session:
            plan = read_plan(session, term, student)
    except AWAY as error:
        postgresql.begin(crowded=crowded(error))
        return entry.plan
    postgresql.end()
    return _keep(term, student, plan, changes)


def change(term: int, student: int, version: int | None, make: Callable[[Plan], Plan]) -> Plan:
    """Change the plan of that version. Raise StalePlan if its version is another by now.

    `None` stands for any version, for a change that can't disturb what it has not seen. Raises what
    `make` raises, and the errors of AWAY while PostgreSQL is away.
    """
    with transaction() as session:
        plan = read_plan(session, term, student)
        if version not in {None, plan.version}:
            raise StalePlan(plan)
        changed = make(plan)
        stored = plan if changed == plan else _write(session, term, student, changed)
        if stored and stored is not plan:
            plan_changed.send(session, term, student, stored)
    if stored is None:
        return change(term, student, version, make)  # a retry finds the plan that was written first
    kept = _keep(term, student, stored)
    if stored is not plan:
        with suppress(LedgerUnavailable):
            backend().ledger.count_plan_change(term, student)
    return kept


def settle(term: int, student: int, sections: Iterable[int]) -> Plan | None:
    """Remove the choices of these sections; return the plan, or None while PostgreSQL is away.

    A choice that stays does no harm: submitted again, it counts as already fulfilled.
    """
    gone = tuple(sections)
    for _ in range(TRIES):
        plan = plan_of(term, student)
        if plan is None or postgresql.lasts:  # a student with new seats must not wait
            return None
        try:
            return change(term, student, plan.version, lambda found: without(found, gone))
        except StalePlan:
            continue
        except AWAY as error:
            log.warning("A plan keeps choices that were had: %s", error)
            return None
    return plan


def read_plan(
    session: Session | Connection, term: int, student: int, *, lock: bool = False
) -> Plan:
    """Return the stored plan; with `lock`, no one changes it until the transaction ends."""
    query = select(PlanRow.lines, PlanRow.version).where(
        PlanRow.term_id == term, PlanRow.student_id == student
    )
    row = session.execute(query.with_for_update() if lock else query).one_or_none()
    return unpack(row.lines, row.version) if row else Plan()


def _write(session: Session, term: int, student: int, plan: Plan) -> Plan | None:
    """Write the plan as its next version; return None if that version exists by now."""
    values = {"lines": pack(plan), "version": plan.version + 1}
    whose = {"term_id": term, "student_id": student}
    first = insert(PlanRow).values(**whose, **values).on_conflict_do_nothing()
    next_one = (
        update(PlanRow)
        .filter_by(**whose, version=plan.version)
        .values(**values, updated_at=func.now())
    )
    statement = next_one if plan.version else first
    written = session.scalar(statement.returning(PlanRow.version))
    return Plan(plan.choices, written) if written else None


class Known(NamedTuple):
    """A plan in memory, and its changes as counted before it was read, if they were asked for."""

    plan: Plan | None
    changes: int | None = None
    read_at: float = 0.0

    def is_fresh(self) -> bool:
        """Return whether the plan is the current one if the ledger has counted no change."""
        recent = monotonic() - self.read_at < OLDEST
        return self.changes is not None and recent and not flags.known_off("caches")


UNKNOWN = Known(None)


def _keep(term: int, student: int, plan: Plan, changes: int | None = None) -> Plan:
    with _lock:
        _known[term, student] = Known(plan, changes, monotonic())
    return plan


_known: LRUCache[tuple[int, int], Known] = LRUCache(20_000)
_lock = Lock()
