"""An import from one end to the other: for a job in two steps, for a command in one go."""

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rq import Queue, Retry
from rq.serializers import JSONSerializer
from rq.timeouts import BaseTimeoutException

from portal.backend import backend
from portal.core.correlation import cause
from portal.core.db import transaction
from portal.core.i18n import _k
from portal.core.queue import KEPT, RETRY_AFTER, job_name, job_subject
from portal.exchange.importing import apply, book, mishap, news, uploads, work
from portal.exchange.importing.compare import Counts
from portal.exchange.importing.enrollments import apply_enrollments
from portal.exchange.importing.failure import ImportFailedError, SeatsLeftError
from portal.exchange.importing.models import Import
from portal.exchange.importing.options import Options
from portal.exchange.importing.progress import Teller
from portal.exchange.importing.report import Report
from portal.exchange.importing.reporting import notes_since
from portal.exchange.importing.semester.records import name_of
from portal.exchange.importing.sources import Source, source_of
from portal.exchange.importing.tables import Progress
from portal.ledger.errors import LedgerUnavailable
from portal.windows.warmup import warm_up

QUEUE, JOB = "errands", "jobs.errands.work_import"
LONGEST = 60 * 60  # seconds that a job may take
LOOK_AGAIN = 0.5  # seconds


@dataclass(frozen=True)
class Imported:
    """What an import changed, or would change."""

    id: int
    counts: Counts
    terms: list[int]
    news: int | None  # sections that the ledger has been told of; None = it was away
    listeners: int  # students who are told that their sections change


def call(import_id: int) -> None:
    """Call a worker to an import, to read it or to apply it, unless one is called already."""
    queue = Queue(QUEUE, connection=backend().redis, serializer=JSONSerializer)
    name = f"import-{import_id}"
    if any(job_subject(job) == name for job in queue.job_ids):
        return
    queue.enqueue(
        JOB,
        import_id,
        job_id=job_name(name),
        job_timeout=LONGEST,
        result_ttl=0,
        failure_ttl=KEPT,
        meta=cause(),
        retry=Retry(max=1, interval=RETRY_AFTER),
    )


def resume() -> None:
    """Call a worker to what another has left, who was killed or lost PostgreSQL or the ledger.

    Each time after twice as long; it is given up where nothing has come of it five times.
    """
    with transaction() as session:
        book.give_up_commands(session)
        found = book.left(session)
    if found is None:
        return
    if found.tries >= book.TRIES:
        work.give_up(found.id, ImportFailedError(mishap.NO_END, count=found.tries))
        return
    # Whoever has been called needs a moment to begin.
    once, pause = f"import:{found.id}:called", book.SETTLED * 2**found.tries
    if backend().redis.set(once, 1, nx=True, ex=pause):
        call(found.id)


def go_on(import_id: int) -> None:
    """Do what the import waits for, if it does, and nobody else is at it."""
    with transaction() as session:
        if not book.try_it(session, import_id):
            return
        state = session.get_one(Import, import_id).state
    with suppress(book.Busy, book.Gone):
        try:
            if state in {"waiting", "reading"}:
                with uploads.unpacked(import_id) as source:
                    work.read(import_id, source, Report(), Teller(import_id))
            elif state in {"approved", "applying"}:
                tell_ledger(work.carry_out(import_id, Teller(import_id)))
        except ImportFailedError as failure:
            work.fail(import_id, failure)
        except (*mishap.PASSING, book.Busy, book.Gone):
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, all would wait for it
            work.fail(import_id, mishap.failure_of(error))
        give_seats(import_id, Teller(import_id))


def import_files(
    path: Path, options: Options, report: Report, progress: Progress, *, dry: bool = False
) -> Imported:
    """Import the files at `path`, or only say what that would change; raises ImportFailed, Busy."""
    source = source_of(path)
    if options.layout == "semester":
        name_of(options)
    sent = book.Sent(None, path.name, uploads.digest_of(path), options)
    _finish_another(progress)
    with transaction() as session:
        import_id = book.begin(session, sent)
    try:
        return _import(import_id, source, report, progress, dry=dry)
    except BaseException as error:  # even an interrupt must not leave others waiting for it
        why = ImportFailedError(_k("It was broken off: %(error)s."), error=type(error).__name__)
        work.fail(import_id, why)
        raise


def _import(
    import_id: int, source: Source, report: Report, progress: Progress, *, dry: bool
) -> Imported:
    counts = work.read(import_id, source, report, progress)
    with transaction() as session:
        listeners = news.listeners(session, import_id, counts)
        book.move(session, import_id, "discarded" if dry else "approved", of=("ready",))
        if dry:
            book.clear(session, import_id, (*book.SENT, *book.FOUND))
    if dry:
        return Imported(import_id, counts, [], None, listeners)
    terms = work.carry_out(import_id, progress)
    done = Imported(import_id, counts, terms, tell_ledger(terms), listeners)
    _give_own_seats(import_id, progress)
    with transaction() as session:
        for note in notes_since(session, import_id, len(report.notes)):
            report.add(note)
    return done


def _finish_another(progress: Progress) -> None:
    """Do what is left of an import that was interrupted when only seats were left; raises Busy.

    One that was stopped by something unexpected waits for an admin.
    """
    with transaction() as session:
        found, told = book.busy(session), book.told(session)
    if found and found.state == "seating" and not found.error:
        try:
            give_seats(found.id, progress)
        except (
            SeatsLeftError,
            LedgerUnavailable,
        ) as error:  # which is not said of one's own import
            raise book.Busy(told) from error


def _give_own_seats(import_id: int, progress: Progress) -> None:
    """Give the seats, or wait for whoever the clock or another command has at it already."""
    while True:
        try:
            return give_seats(import_id, progress)
        except book.Busy:
            time.sleep(LOOK_AGAIN)


def give_seats(import_id: int, progress: Progress) -> None:
    """Have the ledger give and take the seats of an import of which all else is done.

    Raises LedgerUnavailable: then they are left for whoever goes on. SeatsLeft says what nobody
    foresaw: then they are left until an admin has them tried again, or ends it.
    """
    try:
        with work.alone() as session:
            if session.get_one(Import, import_id).state == "seating":
                for term in apply.terms(session, import_id):
                    warm_up(term)
                apply_enrollments(import_id, progress)
    except (*mishap.PASSING, BaseTimeoutException, book.Busy):
        raise
    except Exception as error:
        why = mishap.failure_of(error)
        work.stop(import_id, why)
        raise SeatsLeftError(why.text, **why.facts) from error


def tell_ledger(terms: list[int]) -> int | None:
    """Let the ledger know what is new, and give how many sections were.

    None while it is away: then the clock tells it later.
    """
    try:
        return sum(warm_up(term) for term in terms)
    except LedgerUnavailable:
        return None
