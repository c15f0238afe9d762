"""Reading what was sent into a preview, and applying it: each whole, or not at all."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from psycopg2.errors import SerializationFailure
from rq import Queue, Retry
from rq.serializers import JSONSerializer
from rq.timeouts import BaseTimeoutException
from sqlalchemy import delete, select, text
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.core.correlation import cause
from portal.core.db import Sessions, transaction
from portal.core.i18n import _k
from portal.core.queue import KEPT, RETRY_AFTER, job_name, job_subject
from portal.exchange.importing import failures, import_jobs, staging, upserts
from portal.exchange.importing.diff import (
    Counts,
    compare,
    current_digest,
    drop_repeated,
    read_current,
)
from portal.exchange.importing.enrollments import apply_enrollments, pair_moves
from portal.exchange.importing.failures import ImportFailedError, SeatsLeftError, failure_of
from portal.exchange.importing.import_jobs import ProgressReport
from portal.exchange.importing.models import Import, ImportPart, ImportRow, Options
from portal.exchange.importing.oneroster.reader import stage_oneroster
from portal.exchange.importing.rehearsal import Refused, refused, rehearse
from portal.exchange.importing.report import Report, notes_since, store_notes
from portal.exchange.importing.semester.records import name_of, stage_semester
from portal.exchange.importing.sources import Source, source_of
from portal.exchange.importing.staging import Stage, open_classes, resolve
from portal.exchange.importing.tables import Progress
from portal.exchange.importing.upserts import count_changes
from portal.ledger.errors import LedgerUnavailable
from portal.people.models import AuditEntry
from portal.windows.warmup import warm_up

LAYOUTS = {"semester": stage_semester, "oneroster": stage_oneroster}
# A large import takes longer than any statement of a page may.
NO_TIMEOUTS = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"

ROWS = 5000  # rows a statement
ENROLLMENT = "enrollment"
# What is left to be done once all else is.
DELETE_ALL_BUT_ENROLLMENTS = text("""
    DELETE FROM import_rows AS rows WHERE import_id = :id AND NOT (kind = 'enrollment' AND EXISTS (
        SELECT FROM import_changes AS changes WHERE changes.import_id = :id
        AND changes.kind = rows.kind AND changes.key = rows.key
    ))
""")


class StaleError(ImportFailedError):
    """What the import would change is not what was shown: something else has changed it since."""


def read(import_id: int, source: Source, report: Report, progress: Progress) -> Counts:
    """What the import would change, kept until it is applied; raises ImportFailed and Busy."""
    try:
        _claim(import_id, "reading", of="waiting")
        with alone() as session:
            return _read(session, import_id, source, report, progress)
    except ImportFailedError as failure:
        fail(import_id, failure, report)
        raise


def _read(
    session: Session, import_id: int, source: Source, report: Report, progress: Progress
) -> Counts:
    options = Options.read(session.get_one(Import, import_id).options)
    import_jobs.clear(session, import_id, import_jobs.RESULT_TABLES)
    stage = Stage(session, import_id)
    LAYOUTS[options.layout](stage, source, options, report, progress)
    stage.finish()
    progress("comparing", 0, 1)
    read_current(session)
    resolve(session, import_id, report)
    staging.remove_unnamed(session, import_id, stage.unnamed)
    drop_repeated(session, import_id, report)
    staging.keep_taken(session, import_id, report)
    if options.past:
        open_classes(session, import_id)
    counts, same = compare(session, import_id)
    pair_moves(session, import_id, counts)
    if count_changes(counts.get(ENROLLMENT, {})) and _leave_out(
        session, rehearse(session, import_id, counts, past=options.past), report
    ):
        counts, same = compare(session, import_id)
    store_notes(session, import_id, report.notes)
    found = {"counts": counts, "digest": same, "notes": dict(report.found)}
    _hand_on(session, import_id, "ready", of="reading", **found)
    progress("comparing", 1, 1)
    return counts


def _leave_out(session: Session, found: Refused, report: Report) -> bool:
    """Take the rows of refused seats out of the import; whether there were any."""
    for _row, note in found:
        report.add(note)
    rows = [row for row, _note in found]
    for start in range(0, len(rows), ROWS):
        session.execute(delete(ImportRow).where(ImportRow.id.in_(rows[start : start + ROWS])))
    return bool(rows)


def carry_out(import_id: int, progress: Progress) -> list[int]:
    """Apply the import but for students' seats, and give the terms that it is about.

    Raises Stale where what it would change is not what was shown, ImportFailed and Busy.
    """
    try:
        _claim(import_id, "applying", of="approved")
        with alone("REPEATABLE READ") as session:
            return _carry_out(session, import_id, progress)
    except ImportFailedError as failure:
        fail(import_id, failure)
        raise


def _carry_out(session: Session, import_id: int, progress: Progress) -> list[int]:
    found = session.get_one(Import, import_id)
    shown, counts, options = found.digest, found.counts, Options.read(found.options)
    if is_blocked(found):
        raise ImportFailedError(
            _k("Students would be refused their seats: nothing can be applied so.")
        )
    read_current(session)
    staging.keep_taken(session, import_id, Report())
    if current_digest(session, import_id) != shown:
        raise StaleError(_k("What is here has changed since the preview was made."))
    with upserts.recording_section_changes(session, import_id, counts):
        upserts.write_changes(session, import_id, counts, progress)
    seats = count_changes(counts.get(ENROLLMENT, {}))
    if seats and refused(session, import_id, past=options.past):
        raise StaleError(_k("Seats have been taken since the preview was made."))
    session.add(
        AuditEntry(
            account_id=found.account_id,
            action="import.apply",
            subject=f"import:{import_id}",
            after={"file": found.name, "sha256": found.sha256, "counts": counts}
            | {"options": found.options},
            reason="" if found.account_id else "command line",
        )
    )
    _hand_on(session, import_id, "seating" if seats else "done", of="applying")
    terms = upserts.changed_terms(session, import_id)
    import_jobs.clear(session, import_id, (ImportPart,) if seats else import_jobs.INPUT_TABLES)
    session.execute(DELETE_ALL_BUT_ENROLLMENTS, {"id": import_id})
    return terms


def is_blocked(found: Import) -> bool:
    """Whether refused seats keep the import from being applied."""
    return bool(found.notes.get("seat")) and not Options.read(found.options).leave_out


@contextmanager
def alone(isolation: str = "READ COMMITTED") -> Iterator[Session]:
    """A long transaction in which no other import is read or applied; raises Busy.

    One that met a change of somebody else is Stale.
    """
    try:
        with Sessions.begin() as session:
            session.connection(execution_options={"isolation_level": isolation})
            session.execute(text(NO_TIMEOUTS))
            if not import_jobs.lock(session):
                raise import_jobs.Busy(import_jobs.describe_busy(session))
            yield session
    except DBAPIError as error:
        if isinstance(error.orig, SerializationFailure):
            raise StaleError(
                _k("Something was changed by somebody else at this very moment.")
            ) from error
        if isinstance(error, DataError | IntegrityError):
            raise failure_of(error) from error
        raise


def _hand_on(session: Session, import_id: int, state: str, *, of: str, **facts: object) -> None:
    """Say what has come of it, unless it was given up meanwhile: then nothing has."""
    if not import_jobs.change_state(session, import_id, state, of=(of,), **facts):
        raise import_jobs.NoLongerPossible


def _claim(import_id: int, state: str, *, of: str) -> None:
    """Say that we are at it, for all to see; who was at it before us may have been killed."""
    with transaction() as session:
        if not import_jobs.change_state(session, import_id, state, of=(of,)):
            now = session.scalar(select(Import.state).where(Import.id == import_id))
            if now != state:
                raise import_jobs.NoLongerPossible


def stop(import_id: int, why: ImportFailedError) -> None:
    """Write down why the seats that are left are not given."""
    with transaction() as session:
        import_jobs.change_state(session, import_id, "seating", of=("seating",), error=why.stored)


def give_up(import_id: int, why: ImportFailedError) -> None:
    """Let nobody be called to it any more: where only seats are left, until an admin says so."""
    fail(import_id, why)
    stop(import_id, why)


def fail(import_id: int, why: ImportFailedError, report: Report | None = None) -> None:
    """Write down that nothing came of an import that was under way, and why."""
    with transaction() as session:
        if report:
            store_notes(session, import_id, report.notes)
        notes = {"notes": dict(report.found)} if report else {}
        of = ("waiting", "reading", "approved", "applying")
        import_jobs.change_state(session, import_id, "failed", of=of, error=why.stored, **notes)


# An import from one end to the other: for a job in two steps, for a command in one go.

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


def enqueue(import_id: int) -> None:
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
        import_jobs.fail_killed_commands(session)
        found = import_jobs.abandoned(session)
    if found is None:
        return
    if found.tries >= import_jobs.TRIES:
        give_up(found.id, ImportFailedError(failures.TOO_MANY_TRIES, count=found.tries))
        return
    # Whoever has been called needs a moment to begin.
    once, pause = f"import:{found.id}:called", import_jobs.SETTLED * 2**found.tries
    if backend().redis.set(once, 1, nx=True, ex=pause):
        enqueue(found.id)


def continue_import(import_id: int) -> None:
    """Do what the import waits for, if it does, and nobody else is at it."""
    with transaction() as session:
        if not import_jobs.count_try(session, import_id):
            return
        state = session.get_one(Import, import_id).state
    with suppress(import_jobs.Busy, import_jobs.NoLongerPossible):
        try:
            if state in {"waiting", "reading"}:
                with import_jobs.unpacked(import_id) as source:
                    read(import_id, source, Report(), ProgressReport(import_id))
            elif state in {"approved", "applying"}:
                update_ledger(carry_out(import_id, ProgressReport(import_id)))
        except ImportFailedError as failure:
            fail(import_id, failure)
        except (*failures.TRANSIENT, import_jobs.Busy, import_jobs.NoLongerPossible):
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, all would wait for it
            fail(import_id, failures.failure_of(error))
        give_seats(import_id, ProgressReport(import_id))


def import_files(
    path: Path, options: Options, report: Report, progress: Progress, *, dry: bool = False
) -> Imported:
    """Import the files at `path`, or only say what that would change; raises ImportFailed, Busy."""
    source = source_of(path)
    if options.layout == "semester":
        name_of(options)
    sent = import_jobs.NewImport(None, path.name, import_jobs.digest_of_path(path), options)
    _finish_another(progress)
    with transaction() as session:
        import_id = import_jobs.begin(session, sent)
    try:
        return _import(import_id, source, report, progress, dry=dry)
    except BaseException as error:  # even an interrupt must not leave others waiting for it
        why = ImportFailedError(_k("It was broken off: %(error)s."), error=type(error).__name__)
        fail(import_id, why)
        raise


def _import(
    import_id: int, source: Source, report: Report, progress: Progress, *, dry: bool
) -> Imported:
    counts = read(import_id, source, report, progress)
    with transaction() as session:
        listeners = upserts.count_notified(session, import_id, counts)
        import_jobs.change_state(
            session, import_id, "discarded" if dry else "approved", of=("ready",)
        )
        if dry:
            import_jobs.clear(
                session, import_id, (*import_jobs.INPUT_TABLES, *import_jobs.RESULT_TABLES)
            )
    if dry:
        return Imported(import_id, counts, [], None, listeners)
    terms = carry_out(import_id, progress)
    done = Imported(import_id, counts, terms, update_ledger(terms), listeners)
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
        found, told = import_jobs.busy(session), import_jobs.describe_busy(session)
    if found and found.state == "seating" and not found.error:
        try:
            give_seats(found.id, progress)
        except (
            SeatsLeftError,
            LedgerUnavailable,
        ) as error:  # which is not said of one's own import
            raise import_jobs.Busy(told) from error


def _give_own_seats(import_id: int, progress: Progress) -> None:
    """Give the seats, or wait for whoever the clock or another command has at it already."""
    while True:
        try:
            return give_seats(import_id, progress)
        except import_jobs.Busy:
            time.sleep(LOOK_AGAIN)


def give_seats(import_id: int, progress: Progress) -> None:
    """Have the ledger give and take the seats of an import of which all else is done.

    Raises LedgerUnavailable: then they are left for whoever goes on. SeatsLeft says what nobody
    foresaw: then they are left until an admin has them tried again, or ends it.
    """
    try:
        with alone() as session:
            if session.get_one(Import, import_id).state == "seating":
                for term in upserts.changed_terms(session, import_id):
                    warm_up(term)
                apply_enrollments(import_id, progress)
    except (*failures.TRANSIENT, BaseTimeoutException, import_jobs.Busy):
        raise
    except Exception as error:
        why = failures.failure_of(error)
        stop(import_id, why)
        raise SeatsLeftError(why.text, **why.facts) from error


def update_ledger(terms: list[int]) -> int | None:
    """Let the ledger know what is new, and give how many sections were.

    None while it is away: then the clock tells it later.
    """
    try:
        return sum(warm_up(term) for term in terms)
    except LedgerUnavailable:
        return None
