"""Alarms: what an admin should check first."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from portal.catalog.local_time import local_clock
from portal.core.i18n import _, _n
from portal.core.queue import QUEUE_LABELS
from portal.operations.figures import Figures, Jobs, Stored, breakers, switches
from portal.waiting_room.admission_limits import Pause
from portal.waiting_room.wording import grouped

SLOW = 10  # seconds of lag
MANY = 1000  # unrecorded events


@dataclass(frozen=True)
class Alarm:
    """A sentence, and its severity."""

    text: str
    tone: Literal["few", "stop"] = "stop"


def alarms(figures: Figures) -> list[Alarm]:
    """Return the alarms, the worst first."""
    found = [
        *_of_stores(figures),
        *_of_consistency(figures),
        *_of_rooms(figures),
        *_of_jobs(figures.jobs),
        *_of_outbox(figures.stored),
        *_of_imports(figures.stored),
        *_of_record(figures),
        *_of_parts(figures),
    ]
    return sorted(found, key=lambda alarm: alarm.tone != "stop")


def _of_stores(figures: Figures) -> Iterator[Alarm]:
    if not figures.at:
        yield Alarm(
            _("Redis does not respond. Students can’t register, and most figures here are missing.")
        )
    if not figures.postgresql:
        yield Alarm(
            _(
                "PostgreSQL does not respond. Registration continues and is recorded when it"
                " is back."
            )
        )


def _of_consistency(figures: Figures) -> Iterator[Alarm]:
    for term in figures.fenced or ():
        yield Alarm(
            _(
                "%(term)s: the ledger has lost decisions. Students can’t register until you"
                " restore it with “%(command)s”.",
                term=term.name,
                command="fairseat rebuild ledger",
            )
        )
    differences = figures.stored.differences if figures.stored else {}
    for term in figures.all_terms:
        if count := differences.get(term.id):
            yield Alarm(
                _n(
                    "%(term)s: the audit found %(num)s difference between ledger and record.",
                    "%(term)s: the audit found %(num)s differences between ledger and record.",
                    count,
                    term=term.name,
                )
            )


def _of_rooms(figures: Figures) -> Iterator[Alarm]:
    """Yield an alarm for each waiting room that an admin has paused."""
    pauses = figures.stored.pauses if figures.stored else {}
    for term in figures.terms or ():
        for each in term.windows:
            if each.room and each.room.paused:
                name = each.window.name or _("Registration")
                open_now = each.room.phase == "open"
                text = _paused(pauses.get(each.window.id), f"{name}, {term.term.name}")
                waits = _n(
                    "%(num)s student is waiting.",
                    "%(num)s students are waiting.",
                    each.room.waiting,
                )
                yield Alarm(f"{text} {waits}" if open_now else text, "few")


def _paused(pause: Pause | None, window: str) -> str:
    if pause is None:
        return _("The waiting room of %(window)s is paused. No one is admitted.", window=window)
    return _(
        "%(name)s paused the waiting room of %(window)s at %(time)s. No one is admitted.",
        window=window,
        time=local_clock().short(pause.at),
        name=pause.by or "–",
    )


def _of_jobs(jobs: Jobs | None) -> Iterator[Alarm]:
    if jobs is None:
        return
    if not jobs.scheduler_runs:
        yield Alarm(
            _("No scheduler is running. Windows still open, but lost jobs are not retried.")
        )
    for queue in jobs.queues:
        if not queue.alive:
            named = QUEUE_LABELS[queue.name]
            yield Alarm(_("The queue “%(queue)s” has no worker.", queue=named))
        if queue.paused:
            named = QUEUE_LABELS[queue.name]
            yield Alarm(_("The queue “%(queue)s” is paused.", queue=named), "few")
    if jobs.dead:
        count = len(jobs.dead)
        yield Alarm(
            _n(
                "%(count)s job failed.",
                "%(count)s jobs failed.",
                count,
                count=count,
            ),
            "few",
        )


def _of_outbox(stored: Stored | None) -> Iterator[Alarm]:
    if stored and stored.mails_in_all:
        count = stored.mails_in_all
        text = _n("%(num)s email was not delivered.", "%(num)s emails were not delivered.", count)
        yield Alarm(text, "few")
    if stored and stored.applications_in_all:
        count = stored.applications_in_all
        text = _n(
            "%(num)s check or payment of an application failed.",
            "%(num)s checks or payments of applications failed.",
            count,
        )
        yield Alarm(text, "few")
    if stored and stored.undelivered:
        yield Alarm(
            _n(
                "%(num)s webhook delivery failed. See Webhooks.",
                "%(num)s webhook deliveries failed. See Webhooks.",
                stored.undelivered,
            ),
            "few",
        )


def _of_imports(stored: Stored | None) -> Iterator[Alarm]:
    if stored and stored.importing and stored.importing.state == "stopped":
        yield Alarm(
            _(
                "The import “%(name)s” has stopped. No other import can start until someone"
                " resolves it.",
                name=stored.importing.name,
            ),
            "few",
        )


def _of_record(figures: Figures) -> Iterator[Alarm]:
    unrecorded = figures.unrecorded or 0
    slowest = figures.stored and figures.stored.lag.p99
    if unrecorded > MANY:
        yield Alarm(
            _("%(count)s decisions are not recorded yet.", count=grouped(unrecorded)), "few"
        )
    if slowest and slowest > SLOW * 1000:
        yield Alarm(
            _(
                "Recording is slow: the 99th percentile delay is over %(count)s s.",
                count=round(slowest / 1000),
            ),
            "few",
        )


def _of_parts(figures: Figures) -> Iterator[Alarm]:
    for breaker in breakers(figures):
        if breaker.state == "open":
            yield Alarm(
                _(
                    "%(name)s: the circuit breaker is open because calls keep failing.",
                    name=breaker.name,
                ),
                "few",
            )
    for switch in switches(figures):
        if switch.in_use and not switch.on:
            yield Alarm(_("%(name)s: switched off.", name=switch.label), "few")
