"""Alarms: what an admin should check first, and what to do about it."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from portal.catalog.local_time import local_clock
from portal.core.i18n import _, _n
from portal.core.latency import LATE, Percentiles
from portal.core.moments import milliseconds
from portal.core.queue import QUEUE_LABELS
from portal.operations.figures import (
    Figures,
    Jobs,
    Ready,
    Stored,
    WindowNow,
    breakers,
    late_draws,
    switches,
)
from portal.waiting_room import wait_estimates
from portal.waiting_room.admission_limits import Pause
from portal.waiting_room.room import RoomState
from portal.waiting_room.wording import grouped

SLOW = 10  # seconds of lag
MANY = 1000  # unrecorded events
FEWEST = 50  # answers in a minute that are judged
MINUTE = 60_000  # ms
SOON, NOW = 15 * MINUTE, 5 * MINUTE  # before an opening
DECIDING = {"record", "promote"}  # queues that an opening needs


@dataclass(frozen=True)
class Alarm:
    """A sentence, what to do about it, and its severity; some ring."""

    text: str
    advice: str
    tone: Literal["few", "stop"] = "stop"
    rings: bool = False


def alarms(figures: Figures) -> list[Alarm]:
    """Return the alarms of the whole portal, the worst first."""
    return _sorted(
        [
            *_of_decisions(figures),
            *_of_jobs(figures.jobs),
            *_of_failed_jobs(figures.jobs),
            *_of_outbox(figures.stored),
            *_of_imports(figures.stored),
            *_of_record(figures),
            *_of_parts(figures),
        ]
    )


def opening_alarms(
    figures: Figures, now: WindowNow, ready: Ready | None, answers: Percentiles | None
) -> list[Alarm]:
    """Return the alarms that matter to the opening of a window, the worst first."""
    return _sorted(
        [
            *_of_decisions(figures),
            *_of_jobs(figures.jobs, DECIDING),
            *_of_record(figures),
            *_of_readiness(now, ready),
            *_of_queue(now.room),
            *_of_answers(answers, now.room),
        ]
    )


def _sorted(found: list[Alarm]) -> list[Alarm]:
    return sorted(found, key=lambda alarm: alarm.tone != "stop")


def _of_decisions(figures: Figures) -> Iterator[Alarm]:
    """Yield the alarms about what decides on seats."""
    for found in (_of_stores, _of_consistency, _of_rooms, _of_rounds, _of_draws):
        yield from found(figures)


def _of_stores(figures: Figures) -> Iterator[Alarm]:
    if not figures.at:
        yield Alarm(
            _("Redis does not respond. Students can’t register, and most figures are missing."),
            _("Tell the operators at once. Students keep their seats and positions."),
        )
    if not figures.postgresql:
        yield Alarm(
            _(
                "PostgreSQL does not respond. Registration continues and is recorded when it"
                " is back."
            ),
            _("Tell the operators. You don’t have to close the window."),
        )


def _of_consistency(figures: Figures) -> Iterator[Alarm]:
    for term in figures.fenced or ():
        yield Alarm(
            _(
                "%(term)s: the ledger has lost decisions. Students can’t register until you"
                " restore it with “%(command)s”.",
                term=term.name,
                command="fairseat rebuild ledger",
            ),
            _("Tell the operators at once."),
        )
    differences = figures.stored.differences if figures.stored else {}
    for term in figures.all_terms:
        if count := differences.get(term.id):
            text = _n(
                "%(term)s: the audit found %(num)s difference between ledger and record.",
                "%(term)s: the audit found %(num)s differences between ledger and record.",
                count,
                term=term.name,
            )
            repair = _("The operators can repair it: see “%(command)s”.", command="fairseat repair")
            yield Alarm(text, repair)


def _of_rooms(figures: Figures) -> Iterator[Alarm]:
    """Yield an alarm for each waiting room that an admin has paused.

    It rings while the window is open: before, no one would be admitted anyway.
    """
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
                yield Alarm(
                    f"{text} {waits}" if open_now else text,
                    _("Resume it on the page of its opening."),
                    "stop" if open_now else "few",
                    rings=open_now,
                )


def _of_rounds(figures: Figures) -> Iterator[Alarm]:
    names = {term.id: term.name for term in figures.all_terms}
    for each in figures.stored.rounds if figures.stored else ():
        facts = {"round": each.name, "term": names.get(each.term_id, "–")}
        if each.altered:
            text = _(
                "The stored ballots of the round “%(round)s”, %(term)s, are not those that were"
                " fixed at its end.",
                **facts,
            )
            advice = _(
                "No result can be computed, and its seats are held back. Tell the operators to"
                " restore the ballots, or cancel the round on its page."
            )
        else:
            text = _(
                "The ballots of the round “%(round)s”, %(term)s, were not fixed in time.", **facts
            )
            advice = _("Its seats are held back until you cancel it on its page.")
        yield Alarm(text, advice)


def _of_draws(figures: Figures) -> Iterator[Alarm]:
    """Yield an alarm for each draw whose codes are late; it rings while they can be fixed."""
    for term, window, draw in late_draws(figures):
        facts = {"window": f"{window.name or _('Registration')}, {term.name}"}
        if figures.at < milliseconds(draw.public_at):
            text = _(
                "The codes for the draw of %(window)s are not fixed yet. After %(time)s it is too"
                " late.",
                time=local_clock().short(draw.public_at),
                **facts,
            )
            advice = _(
                "Tell the operators at once: a job of the queue “%(queue)s” fixes them.",
                queue=QUEUE_LABELS["background"],
            )
            yield Alarm(text, advice, rings=True)
        else:
            text = _("The codes for the draw of %(window)s were not fixed in time.", **facts)
            advice = _(
                "Name a public value that is known later, on the page of the opening. Otherwise"
                " the draw uses the secret seed alone."
            )
            yield Alarm(text, advice, "few")


def _paused(pause: Pause | None, window: str) -> str:
    if pause is None:
        return _("The waiting room of %(window)s is paused. No one is admitted.", window=window)
    return _(
        "%(name)s paused the waiting room of %(window)s at %(time)s. No one is admitted.",
        window=window,
        time=local_clock().short(pause.at),
        name=pause.by or "–",
    )


def _of_jobs(jobs: Jobs | None, only: Collection[str] = QUEUE_LABELS) -> Iterator[Alarm]:
    """Yield the alarms of the scheduler and of these queues."""
    if jobs is None:
        return
    if not jobs.scheduler_runs:
        yield Alarm(
            _("No scheduler is running. Windows still open, but lost jobs are not retried."),
            _("Tell the operators to start one."),
        )
    for queue in jobs.queues:
        if queue.name not in only:
            continue
        named = QUEUE_LABELS[queue.name]
        if not queue.alive:
            yield Alarm(
                _("The queue “%(queue)s” has no worker.", queue=named),
                _("Tell the operators to start one."),
            )
        if queue.paused:
            yield Alarm(
                _("The queue “%(queue)s” is paused.", queue=named),
                _("Resume it in Operations when the cause is gone."),
                "few",
            )


def _of_failed_jobs(jobs: Jobs | None) -> Iterator[Alarm]:
    if jobs and jobs.dead:
        count = len(jobs.dead)
        yield Alarm(
            _n("%(count)s job failed.", "%(count)s jobs failed.", count, count=count),
            _("Retry or discard failed jobs below."),
            "few",
        )


def _of_outbox(stored: Stored | None) -> Iterator[Alarm]:
    if stored and stored.mails_in_all:
        count = stored.mails_in_all
        text = _n("%(num)s email was not delivered.", "%(num)s emails were not delivered.", count)
        yield Alarm(text, _("Send or discard undelivered email below."), "few")
    if stored and stored.applications_in_all:
        count = stored.applications_in_all
        text = _n(
            "%(num)s document check or payment failed.",
            "%(num)s document checks or payments failed.",
            count,
        )
        yield Alarm(text, _("Retry failed checks and payments below."), "few")
    if stored and stored.undelivered:
        text = _n(
            "%(num)s webhook delivery failed.",
            "%(num)s webhook deliveries failed.",
            stored.undelivered,
        )
        yield Alarm(text, _("Retry or discard it on the page Webhooks."), "few")


def _of_imports(stored: Stored | None) -> Iterator[Alarm]:
    if stored and stored.importing and stored.importing.state == "stopped":
        yield Alarm(
            _(
                "The import “%(name)s” has stopped. No other import can start until someone"
                " resolves it.",
                name=stored.importing.name,
            ),
            _("Open it below, under “In progress”."),
            "few",
        )


def _of_record(figures: Figures) -> Iterator[Alarm]:
    unrecorded = figures.unrecorded or 0
    slowest = figures.stored and figures.stored.lag.p99
    if unrecorded > MANY:
        yield Alarm(
            _("%(count)s decisions are waiting to be saved.", count=grouped(unrecorded)),
            _("They are valid. If the number still grows in five minutes, tell the operators."),
            "few",
        )
    if slowest and slowest > SLOW * 1000:
        yield Alarm(
            _(
                "Saving decisions is slow: the 99th percentile is over %(count)s s.",
                count=round(slowest / 1000),
            ),
            _("Decisions stay valid. If this continues, tell the operators."),
            "few",
        )


def _of_parts(figures: Figures) -> Iterator[Alarm]:
    for breaker in breakers(figures):
        if breaker.state == "open":
            yield Alarm(
                _(
                    "%(name)s: calls keep failing, so the portal waits before it calls again.",
                    name=breaker.name,
                ),
                _("The portal retries automatically. If this continues, tell the operators."),
                "few",
            )
    for switch in switches(figures):
        if switch.in_use and not switch.on:
            yield Alarm(
                _("%(name)s: switched off.", name=switch.label),
                _("Switch it on below when the cause is gone."),
                "few",
            )


def _of_readiness(now: WindowNow, ready: Ready | None) -> Iterator[Alarm]:
    """Yield an alarm if the window opens soon and its term is not ready."""
    if now.phase.kind != "before":
        return
    left = now.window.opens - now.phase.now
    if ready and ready.since and not ready.sections:
        yield Alarm(
            _("This term has no sections yet, so students can’t register."),
            _("Import or create sections, or move the window."),
        )
    elif left < SOON and not (ready and ready.since):
        yield Alarm(
            _("The term is not ready for its opening yet."),
            _("If it is still not ready five minutes before the opening, tell the operators."),
            "stop" if left < NOW else "few",
        )


def _of_queue(room: RoomState | None) -> Iterator[Alarm]:
    """Yield an alarm if students wait although there is room for them."""
    if room is None or room.paused or room.off or room.slowed or room.phase != "open":
        return
    stands = (
        room.waiting and room.inside < room.at_once and not wait_estimates.admitted_per_minute(room)
    )
    if stands and room.at > room.opens + MINUTE:
        yield Alarm(
            _("Students wait, but no one was admitted in the last minute."),
            _("Raise the admissions per minute. If that does not help, tell the operators."),
        )


def _of_answers(answers: Percentiles | None, room: RoomState | None) -> Iterator[Alarm]:
    if answers and answers.answers >= FEWEST and answers.p95 > LATE:
        if room and room.slowed:
            advice = _(
                "Fewer students are admitted until pages are fast again, and those in the queue"
                " keep their positions. If this lasts, tell the operators."
            )
        else:
            advice = _(
                "Lower the admissions per minute. Students in the queue keep their positions."
            )
        yield Alarm(
            _("Pages are slow: the 95th percentile of the response time is over 1 s."),
            advice,
            "few",
        )
