"""What an admin should look at first, in words; none where all is well."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from portal.admin.operations.figures import Figures, Jobs
from portal.admin.operations.fuses import fuses, switches
from portal.admin.operations.remembered import Remembered
from portal.backend import backend
from portal.core.i18n import _, _n
from portal.ops.names import QUEUES
from portal.waiting_room.admission_limits import Pause
from portal.waiting_room.wording import grouped
from portal.windows.localtime import Clockface

SLOW = 10  # seconds of lag
MANY = 1000  # events that are not recorded


@dataclass(frozen=True)
class Alarm:
    """A sentence, and how bad it is."""

    text: str
    tone: Literal["few", "stop"] = "stop"


def alarms(figures: Figures) -> list[Alarm]:
    """The worst first."""
    found = [
        *_of_stores(figures),
        *_of_truth(figures),
        *_of_lines(figures),
        *_of_jobs(figures.jobs),
        *_of_outbox(figures.kept),
        *_of_imports(figures.kept),
        *_of_record(figures),
        *_of_parts(figures),
    ]
    return sorted(found, key=lambda alarm: alarm.tone != "stop")


def _of_stores(figures: Figures) -> Iterator[Alarm]:
    if not figures.at:
        yield Alarm(_("Redis does not answer: no seat can be claimed, and little is known here."))
    if not figures.postgresql:
        yield Alarm(
            _("PostgreSQL does not answer: claims go on, and are recorded once it is back.")
        )


def _of_truth(figures: Figures) -> Iterator[Alarm]:
    for term in figures.fenced or ():
        yield Alarm(
            _(
                "%(term)s: its ledger has lost decisions, so nothing can be claimed until it is"
                " restored by “%(command)s”.",
                term=term.name,
                command="fairseat rebuild ledger",
            )
        )
    unlike = figures.kept.unlike if figures.kept else {}
    for term in figures.all_terms:
        if count := unlike.get(term.id):
            yield Alarm(
                _n(
                    "%(term)s: ledger and record differ in %(num)s place; see its audit.",
                    "%(term)s: ledger and record differ in %(num)s places; see its audit.",
                    count,
                    term=term.name,
                )
            )


def _of_lines(figures: Figures) -> Iterator[Alarm]:
    """Waiting rooms whose line an admin has paused."""
    pauses = figures.kept.pauses if figures.kept else {}
    for term in figures.terms or ():
        for watched in term.windows:
            if watched.room and watched.room.paused:
                name = watched.window.name or _("Selection")
                open_now = watched.room.phase == "open"
                text = _paused(pauses.get(watched.window.id), f"{name}, {term.term.name}")
                waits = _n("%(num)s student waits.", "%(num)s students wait.", watched.room.waiting)
                yield Alarm(f"{text} {waits}" if open_now else text, "few")


def _paused(pause: Pause | None, window: str) -> str:
    if pause is None:
        return _("The line of %(window)s is paused: nobody is called.", window=window)
    return _(
        "The line of %(window)s is paused since %(time)s, by %(name)s: nobody is called.",
        window=window,
        time=Clockface(backend().settings.zone).short(pause.at),
        name=pause.by or "–",
    )


def _of_jobs(jobs: Jobs | None) -> Iterator[Alarm]:
    if jobs is None:
        return
    if not jobs.ticking:
        yield Alarm(_("No clock is running: windows open, but lost calls are not made good for."))
    for queue in jobs.queues:
        if not queue.served:
            yield Alarm(_("No worker listens to the queue “%(queue)s”.", queue=QUEUES[queue.name]))
    if jobs.letters:
        count = len(jobs.letters)
        yield Alarm(
            _n(
                "%(count)s job has been given up.",
                "%(count)s jobs have been given up.",
                count,
                count=count,
            ),
            "few",
        )


def _of_outbox(kept: Remembered | None) -> Iterator[Alarm]:
    if kept and kept.mails_in_all:
        count = kept.mails_in_all
        text = _n("%(num)s mail has been given up.", "%(num)s mails have been given up.", count)
        yield Alarm(text, "few")
    if kept and kept.untold:
        yield Alarm(
            _n(
                "%(num)s event could not be told to a webhook; see Webhooks.",
                "%(num)s events could not be told to a webhook; see Webhooks.",
                kept.untold,
            ),
            "few",
        )


def _of_imports(kept: Remembered | None) -> Iterator[Alarm]:
    if kept and kept.importing and kept.importing.state == "stopped":
        yield Alarm(
            _(
                "The import “%(name)s” has stopped: until somebody sees to it, no other can begin.",
                name=kept.importing.name,
            ),
            "few",
        )


def _of_record(figures: Figures) -> Iterator[Alarm]:
    unrecorded = figures.unrecorded or 0
    lag = figures.kept and figures.kept.lag
    if unrecorded > MANY:
        yield Alarm(_("%(count)s decisions wait to be recorded.", count=grouped(unrecorded)), "few")
    if lag and lag.p99 > SLOW:
        yield Alarm(
            _(
                "One decision in a hundred is recorded later than %(count)s s.",
                count=round(lag.p99),
            ),
            "few",
        )


def _of_parts(figures: Figures) -> Iterator[Alarm]:
    for fuse in fuses(figures):
        if fuse.state == "open":
            yield Alarm(_("%(name)s: left alone, as it keeps failing.", name=fuse.name), "few")
    for switch in switches(figures):
        if switch.in_use and not switch.on:
            yield Alarm(_("%(name)s: switched off.", name=switch.label), "few")
