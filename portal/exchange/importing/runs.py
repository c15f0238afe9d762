"""The run of an import: read files into a preview, apply it, then apply its enrollments.

A job does it in steps, the command in one go. Reading and applying are one transaction each.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from psycopg2.errors import SerializationFailure
from rq.timeouts import BaseTimeoutException
from sqlalchemy import select, text
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.orm import Session

from portal.catalog import sections
from portal.catalog.models import Term
from portal.core.audit_trail import add_audit_entry
from portal.core.db import Sessions, transaction
from portal.core.i18n import _k
from portal.core.queue import enqueue_background
from portal.exchange.importing import (
    columns,
    edits,
    failures,
    history,
    import_jobs,
    staging,
    statuses,
    upserts,
)
from portal.exchange.importing.diff import (
    Counts,
    compare,
    current_digest,
    drop_repeated,
    note_new_instructors,
)
from portal.exchange.importing.enrollments import decide_enrollments, pair_moves
from portal.exchange.importing.failures import (
    ColumnsUnknownError,
    ImportFailedError,
    SeatsLeftError,
    failure_of,
)
from portal.exchange.importing.files import Files, digest_of_path, open_files, unpacked
from portal.exchange.importing.import_jobs import Busy, NoLongerPossible, ProgressReport
from portal.exchange.importing.models import Import, ImportNote, ImportPart, Options
from portal.exchange.importing.named_term import name_of
from portal.exchange.importing.oneroster import stage_oneroster
from portal.exchange.importing.precheck import Refused, precheck_preview, refused_enrollments
from portal.exchange.importing.report import LATE_KINDS, SEAT, Report, read_notes, store_notes
from portal.exchange.importing.semester_records import stage_semester
from portal.exchange.importing.staging import Stage, resolve
from portal.exchange.importing.tables import Progress
from portal.exchange.importing.upserts import count_changes
from portal.exchange.records import read_current
from portal.ledger.errors import LedgerUnavailable
from portal.windows.warmup import warm_up

READERS = {"semester": stage_semester, "oneroster": stage_oneroster}
# A large import takes longer than a statement of a page may.
NO_TIMEOUTS = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"
# Errors that say nothing about an import. A worker retries the import; the command does not.
INTERRUPTIONS = (*failures.TRANSIENT, Busy, NoLongerPossible)
CHANGED = _k("The data in the portal has changed since the preview.")
INTERRUPTED = _k("The import was interrupted: %(error)s.")
LONGEST = 60 * 60  # seconds that a job may take
LOOK_AGAIN = 0.5  # seconds
ENROLLMENT = "enrollment"
DELETE_ROWS = text("DELETE FROM import_rows WHERE id = ANY(:rows)")
# Keep only the changed enrollments, which are applied last.
DELETE_ALL_BUT_ENROLLMENTS = text("""
    DELETE FROM import_rows AS rows WHERE import_id = :id AND NOT (kind = 'enrollment' AND EXISTS (
        SELECT FROM import_changes AS changes WHERE changes.import_id = :id
        AND changes.kind = rows.kind AND changes.key = rows.key
    ))
""")


class StaleError(ImportFailedError):
    """The changes are no longer those of the preview, because of another change."""


class CancelsError(ImportFailedError):
    """The import cancels sections, and no admin has confirmed that."""


@dataclass(frozen=True)
class Imported:
    """What an import changed, or would change."""

    id: int
    counts: Counts
    terms: list[int]
    new_sections: int | None  # new sections in the ledger, or None if it was away
    notified: int  # students
    mapping: str  # the name of the saved column mapping that was used


# The steps


def read(import_id: int, files: Files, report: Report, progress: Progress) -> Counts:
    """Read the files into a preview and return its counts. Raise ImportFailedError and Busy."""
    with _step(import_id, "reading", of="waiting") as session:
        options = Options.read(session.get_one(Import, import_id).options)
        _refuse_archived(session, options)
        report.sheets = files.sheets
        import_jobs.clear(session, [import_id], import_jobs.RESULT_TABLES)
        options = columns.prepare(session, import_id, files, options)
        stage = Stage(session, import_id)
        READERS[options.layout](stage, files, options, report, progress)
        stage.finish()
        progress("comparing", 0, 1)
        read_current(session, people=options.people)
        resolve(session, import_id, report, people=options.people)
        if options.layout == "semester":
            staging.note_namesakes(session, import_id, report)
        staging.remove_unnamed(session, import_id, stage.unnamed, report)
        drop_repeated(session, import_id, report)
        staging.refuse_protected(session, import_id, report, people=options.people)
        edits.keep_edits(session, import_id, report, stage.bases, overwrite=options.overwrite)
        edits.note_removed_instructors(session, import_id, report)
        if options.past:
            session.execute(staging.OPEN_CLASSES, {"id": import_id})
        counts, digest = compare(session, import_id)
        pair_moves(session, import_id, counts)
        if count_changes(counts.get(ENROLLMENT, {})):
            refused = precheck_preview(session, import_id, counts, past=options.past)
            if refused:
                _leave_out(session, refused, report)
                counts, digest = compare(session, import_id)
        if options.layout == "semester":
            note_new_instructors(session, import_id, report)
        store_notes(session, import_id, report.notes)
        found = {"counts": counts, "digest": digest, "notes": dict(report.found)}
        found |= {"options": options.as_json()}
        _finish_step(session, import_id, "ready", of="reading", **found)
        progress("comparing", 1, 1)
    return counts


def _refuse_archived(session: Session, options: Options) -> None:
    """Raise ImportFailedError if the term of a semester is archived: it is history."""
    archived = select(Term.name).where(Term.state == "archived", Term.deleted_at.is_(None))
    if options.layout == "semester" and name_of(options) in set(session.scalars(archived)):
        why = _k(
            "The term “%(term)s” is archived. Bring the term back on its page first, or choose"
            " another name."
        )
        raise ImportFailedError(why, term=name_of(options))


def _leave_out(session: Session, refused: Refused, report: Report) -> None:
    """Take refused enrollments out of the import."""
    for _row, note in refused:
        report.add(note)
    session.execute(DELETE_ROWS, {"rows": [row for row, _note in refused]})


def apply(import_id: int, progress: Progress) -> list[int]:
    """Apply everything but enrollments. Return the changed terms.

    Raise StaleError if the changes are not those of the preview, ImportFailedError and Busy.
    """
    with _step(import_id, "applying", of="approved", isolation="REPEATABLE READ") as session:
        found = session.get_one(Import, import_id)
        counts, options = found.counts, Options.read(found.options)
        _check_as_shown(session, found, options)
        with upserts.recording_section_changes(session, import_id, counts):
            upserts.write_changes(session, import_id, counts, progress)
        try:
            statuses.change_statuses(session, found)
        except (sections.Stale, sections.NotPossible) as error:
            raise StaleError(CHANGED) from error
        edits.remember(session, import_id, counts, overwrite=options.overwrite)
        history.store(session, import_id)
        seats = count_changes(counts.get(ENROLLMENT, {}))
        if seats and refused_enrollments(session, import_id, past=options.past):
            raise StaleError(_k("Seats were taken after the preview."))
        after = {"file": found.name, "sha256": found.sha256, "counts": counts}
        add_audit_entry(
            session,
            "import.apply",
            f"import:{import_id}",
            by=found.account_id,
            after=after | {"options": found.options},
            reason="" if found.account_id else "command line",
        )
        _finish_step(session, import_id, "enrolling" if seats else "done", of="applying")
        terms = upserts.changed_terms(session, import_id)
        tables = (ImportPart,) if seats else import_jobs.INPUT_TABLES
        import_jobs.clear(session, [import_id], tables)
        session.execute(DELETE_ALL_BUT_ENROLLMENTS, {"id": import_id})
    return terms


def _check_as_shown(session: Session, found: Import, options: Options) -> None:
    """Raise ImportFailedError unless an import can be applied as its preview showed it."""
    _refuse_archived(session, options)
    if is_blocked(found):
        raise ImportFailedError(_k("Some students would be refused. Choose what to do with them."))
    if statuses.cancels(session, found.id) and not options.cancels:
        raise CancelsError(_k("These files cancel sections. Confirm that to apply them."))
    read_current(session, people=options.people)
    staging.refuse_protected(session, found.id, Report(), people=options.people)
    gone = not options.overwrite and edits.uses_deleted_rooms(session, found.id)
    if gone or current_digest(session, found.id) != found.digest:
        raise StaleError(CHANGED)


def apply_enrollments(import_id: int, progress: Progress) -> None:
    """Apply the enrollments of an import.

    Raise LedgerUnavailable: a worker tries again later. Raise SeatsLeftError after an unexpected
    error: they are left until an admin tries again or ends the import.
    """
    try:
        with exclusive_transaction() as session:
            if session.get_one(Import, import_id).state == "enrolling":
                for term in upserts.changed_terms(session, import_id):
                    warm_up(term)
                decide_enrollments(import_id, progress)
    except (*failures.TRANSIENT, BaseTimeoutException, Busy):
        raise
    except Exception as error:
        why = failure_of(error)
        stop(import_id, why)
        raise SeatsLeftError(why.text, **why.facts) from error


def is_blocked(found: Import) -> bool:
    """Return whether refused enrollments keep the import from being applied."""
    return bool(found.notes.get(SEAT)) and not Options.read(found.options).leave_out


def update_ledger(terms: list[int]) -> int | None:
    """Update the sections in the ledger and return how many were new.

    None while it is away: the scheduler updates it later.
    """
    try:
        return sum(warm_up(term) for term in terms)
    except LedgerUnavailable:
        return None


def fail(import_id: int, error: BaseException, report: Report | None = None) -> None:
    """Store why an import failed, with the notes of a report, unless only enrollments are left.

    If it only lacks what the columns of its files mean, an admin can tell.
    """
    of = ("waiting", "reading", "approved", "applying")
    if isinstance(error, INTERRUPTIONS) or not isinstance(error, Exception):
        why = ImportFailedError(INTERRUPTED, error=type(error).__name__)
    else:
        why = failure_of(error)
    with transaction() as session:
        asks = isinstance(why, ColumnsUnknownError) and columns.seen_tables(session, import_id)
        state = "columns" if asks else "failed"
        values = {"notes": dict(report.found)} if report else {}
        failed = import_jobs.change_state(
            session, import_id, state, of=of, error=why.stored, **values
        )
        if failed and report:
            import_jobs.clear(session, [import_id], [ImportNote])
            store_notes(session, import_id, report.notes)


def stop(import_id: int, why: ImportFailedError) -> None:
    """Store why the enrollments that are left are not applied, until an admin decides."""
    with transaction() as session:
        import_jobs.change_state(
            session, import_id, "enrolling", of=("enrolling",), error=why.stored
        )


@contextmanager
def exclusive_transaction(isolation: str = "READ COMMITTED") -> Iterator[Session]:
    """Open a long transaction in which no other import is read or applied. Raise Busy.

    Raise StaleError if it conflicts with another change.
    """
    try:
        with Sessions.begin() as session:
            session.connection(execution_options={"isolation_level": isolation})
            session.execute(text(NO_TIMEOUTS))
            if not import_jobs.lock(session):
                raise Busy(import_jobs.describe_busy(session))
            yield session
    except DBAPIError as error:
        if isinstance(error.orig, SerializationFailure):
            raise StaleError(_k("Someone else changed the same data at the same time.")) from error
        if isinstance(error, DataError | IntegrityError):
            raise failure_of(error) from error
        raise


@contextmanager
def _step(
    import_id: int, state: str, *, of: str, isolation: str = "READ COMMITTED"
) -> Iterator[Session]:
    """Open the transaction of a step, which a killed worker may have begun before."""
    with transaction() as session:
        if not import_jobs.change_state(session, import_id, state, of=(of,)):
            now = session.scalar(select(Import.state).where(Import.id == import_id))
            if now != state:
                raise NoLongerPossible
    with exclusive_transaction(isolation) as session:
        yield session


def _finish_step(
    session: Session, import_id: int, state: str, *, of: str, **values: object
) -> None:
    """Change the state at the end of a step. Raise NoLongerPossible if it was discarded."""
    if not import_jobs.change_state(session, import_id, state, of=(of,), **values):
        raise NoLongerPossible


# In a worker


def enqueue(import_id: int) -> None:
    """Enqueue the job that continues an import, unless it is in the queue."""
    enqueue_background("work_import", import_id, f"import-{import_id}", LONGEST)


def resume() -> None:
    """Enqueue an import that a worker has left: killed, or without PostgreSQL or the ledger.

    Each pause is twice as long. The import fails after five attempts without progress.
    """
    with transaction() as session:
        import_jobs.fail_killed_commands(session)
        found = import_jobs.abandoned(session)
    if found is None:
        return
    if found.tries >= import_jobs.TRIES:
        why = ImportFailedError(failures.TOO_MANY_TRIES, count=found.tries)
        fail(found.id, why)
        stop(found.id, why)
    elif import_jobs.waited(found) > import_jobs.SETTLED * 2**found.tries:
        enqueue(found.id)


def continue_import(import_id: int) -> None:
    """Do the next step of an import, unless another worker does."""
    with transaction() as session:
        if not import_jobs.count_try(session, import_id):
            return
        state = session.get_one(Import, import_id).state
    progress = ProgressReport(import_id)
    report = Report() if state in {"waiting", "reading"} else None
    with suppress(Busy, NoLongerPossible):
        try:
            if report:
                with unpacked(import_id) as files:
                    read(import_id, files, report, progress)
            elif state in {"approved", "applying"}:
                update_ledger(apply(import_id, progress))
        except INTERRUPTIONS:
            raise
        except Exception as error:  # noqa: BLE001  any error: other imports would wait
            fail(import_id, error, report)
        apply_enrollments(import_id, progress)


# At the command line


def import_files(
    path: Path, options: Options, report: Report, progress: Progress, *, dry: bool = False
) -> Imported:
    """Import the files at `path`; `dry` only compares. Raise ImportFailedError and Busy."""
    files = open_files(path)
    if options.layout == "semester":
        name_of(options)
    _finish_another(progress)
    with transaction() as session:
        new = import_jobs.NewImport(None, path.name, digest_of_path(path), options)
        import_id = import_jobs.begin(session, new)
    try:
        return _import(import_id, files, report, progress, dry=dry)
    except SeatsLeftError:  # `apply_enrollments` has stored it
        raise
    except BaseException as error:  # other imports must not wait after an interrupt
        fail(import_id, error, report)
        raise


def _import(
    import_id: int, files: Files, report: Report, progress: Progress, *, dry: bool
) -> Imported:
    counts = read(import_id, files, report, progress)
    with transaction() as session:
        notified = upserts.count_notified(session, import_id, counts)
        mapping = Options.read(session.get_one(Import, import_id).options).mapping
        state = "discarded" if dry else "approved"
        import_jobs.change_state(session, import_id, state, of=("ready",))
        if dry:
            import_jobs.clear(session, [import_id], import_jobs.ALL_TABLES)
    if dry:
        return Imported(import_id, counts, [], None, notified, mapping)
    terms = apply(import_id, progress)
    done = Imported(import_id, counts, terms, update_ledger(terms), notified, mapping)
    while True:
        with suppress(Busy):  # a worker may apply the enrollments meanwhile
            apply_enrollments(import_id, progress)
            break
        time.sleep(LOOK_AGAIN)
    with transaction() as session:
        for note in read_notes(session, import_id, ImportNote.kind.in_(LATE_KINDS)):
            report.add(note)
    return done


def _finish_another(progress: Progress) -> None:
    """Apply the enrollments that an interrupted import has left. Raise Busy.

    An import that was stopped by an error waits for an admin.
    """
    with transaction() as session:
        found, message = import_jobs.busy(session), import_jobs.describe_busy(session)
    if found and found.state == "enrolling" and not found.error:
        try:
            apply_enrollments(found.id, progress)
        except (SeatsLeftError, LedgerUnavailable) as error:  # this import did not fail
            raise Busy(message) from error
