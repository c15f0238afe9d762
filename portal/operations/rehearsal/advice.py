"""The advice of the last rehearsal for the limits of waiting rooms, and what to doubt about it.

The audit trail keeps the result of each rehearsal, so the advice needs no table of its own.
"""

import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.core.audit_trail import AuditEntry
from portal.core.i18n import _, _n
from portal.waiting_room.admission_limits import AdmissionLimits

ENDED = "rehearsal.end"
OLD = timedelta(days=30)


@dataclass(frozen=True)
class Rehearsal:
    """A rehearsal: when it ended, on which machine, and its advice, which may be missing."""

    at: datetime
    machine: dict[str, Any]  # host and cores; empty for rehearsals of earlier versions
    stopped: bool
    advice: dict[str, Any] | None  # of report.advise

    @property
    def limits(self) -> AdmissionLimits | None:
        """Return the limits that it advises."""
        if self.advice is None:
            return None
        return AdmissionLimits(self.advice["per_minute"], self.advice["at_once"])

    def doubts(self, processes: int) -> list[str]:
        """Return in sentences why its advice may not fit a portal with so many web processes."""
        return list(self._doubts(processes))

    def _doubts(self, processes: int) -> Iterator[str]:
        days = (datetime.now(UTC) - self.at) // timedelta(days=1)
        if days >= OLD // timedelta(days=1):
            yield _n(
                "It is %(count)s day old. Rehearse again before the opening.",
                "It is %(count)s days old. Rehearse again before the opening.",
                days,
                count=days,
            )
        if self.stopped:
            yield _("Someone stopped it early.")
        if self.advice is None:
            return
        if processes and processes != self.advice["processes_now"]:
            yield _(
                "It was measured with another number of web processes: %(then)s, now %(now)s.",
                then=self.advice["processes_now"],
                now=processes,
            )
        if self.advice["limit"] == "none":
            yield _("It is an estimate: the portal was not at its limit. Use more students.")
        if self.advice["limit"] == "crowd":
            yield _("The portal may be faster: the rehearsal itself was at its limit.")


def machine() -> dict[str, Any]:
    """Return the name and the cores of this machine."""
    return {"host": socket.gethostname(), "cores": len(os.sched_getaffinity(0))}


def last_rehearsal(session: Session) -> Rehearsal | None:
    """Return the last rehearsal that was played on this portal."""
    ended = select(AuditEntry).where(AuditEntry.action == ENDED)
    entry = session.scalar(ended.order_by(AuditEntry.id.desc()).limit(1))
    if entry is None or entry.after is None:
        return None
    found = entry.after
    return Rehearsal(
        at=entry.at,
        machine=found.get("machine", {}),
        stopped=bool(found.get("stopped")),
        advice=found.get("advice"),
    )
