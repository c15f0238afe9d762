"""The work behind each queue: how much there is, how old it is, and how many workers can share it.

A job only says that a term, or an outbox, has work, so the number of jobs says little. The work
itself is in the journal, in the ledger and in outboxes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Any

from sqlalchemy import Connection, Select, func, select

from portal.applications import documents, fees
from portal.applications.models import ApplicationDocument, Charge
from portal.backend import backend
from portal.core import breakers, flags
from portal.core.db import read_only
from portal.core.moments import milliseconds
from portal.notifications import outbox
from portal.notifications.models import OutboxEntry, Outgoing
from portal.notifications.webhooks import outbox as webhooks
from portal.notifications.webhooks.models import Delivery
from portal.recorder import journal
from portal.recorder.sweep import LedgerState, LiveTerm, ledger_states

MAILS = 20
# The outbox of a queue, and how many entries are worth a worker.
OUTBOXES: dict[str, tuple[type[Outgoing], int]] = {
    "notify": (OutboxEntry, MAILS),
    "documents": (ApplicationDocument, documents.AT_ONCE),
    "charges": (Charge, fees.AT_A_TIME),
    "background": (Delivery, webhooks.BATCH),
}


# Workers can't help while these are off or open.
FLAGS = {"notify": "mail", "background": "webhooks"}
BREAKERS = {"notify": "mail", "charges": "payments"}


@dataclass(frozen=True)
class Backlog:
    """What waits for a queue's workers.

    `depth` counts events, sections or messages, `age` is that of the oldest (s), and `shares` is
    how many workers can work on it at the same time.
    """

    depth: int = 0
    age: float = 0.0
    shares: int = 0


def read(terms: Sequence[LiveTerm]) -> dict[str, Backlog]:
    """Return the backlog of each queue whose work can be counted; raise what stores raise."""
    live = list(terms)
    states = ledger_states(live)
    blocked = _blocked()
    with read_only() as look:
        found = {
            name: Backlog() if name in blocked else _of_outbox(look, *which)
            for name, which in OUTBOXES.items()
        }
    return found | {"record": _of_journals(states), "promote": _of_vacancies(states)}


def _blocked() -> set[str]:
    """Return the queues whose outbox waits for a switch or for an outside service."""
    now = backend().ledger.now()
    states = breakers.breaker_states(backend().redis)
    open_now = {each.part for each in states if each.state(now) == "open"}
    off = {queue for queue, flag in FLAGS.items() if not flags.on(flag)}
    return off | {queue for queue, part in BREAKERS.items() if part in open_now}


def _of_journals(states: Sequence[tuple[LiveTerm, LedgerState]]) -> Backlog:
    """Return the unrecorded events; a term has one recorder at a time."""
    behind = [(term, state) for term, state in states if state.seq > term.recorded]
    ages = [_age(term) for term, _ in behind]
    depth = sum(state.seq - term.recorded for term, state in behind)
    return Backlog(depth, max(ages, default=0.0), len(behind))


def _age(term: LiveTerm) -> float:
    first = journal.first_after(term.id, term.recorded)
    return (backend().ledger.now() - milliseconds(first.at)) / 1000 if first else 0.0


def _of_vacancies(states: Sequence[tuple[LiveTerm, LedgerState]]) -> Backlog:
    """Return the sections with work for the promoter; a term has one promoter at a time."""
    vacant = [state.vacant for _, state in states if state.vacant]
    return Backlog(sum(vacant), shares=len(vacant))


def _of_outbox(look: Connection, model: type[Outgoing], at_once: int) -> Backlog:
    """Return the entries that are due; workers take them in batches."""
    count, oldest = look.execute(_due(model)).one()
    return Backlog(count, float(oldest or 0), ceil(count / at_once))


@cache
def _due(model: type[Outgoing]) -> Select[int, Any]:
    """Return the query for the number of due entries and the age (s) of the oldest."""
    age = func.extract("epoch", func.now() - func.min(model.due_at))
    return select(func.count(), age).select_from(model).where(*outbox.due(model))
