"""Reading what was sent into a preview, and applying it: each whole, or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager

from psycopg2.errors import SerializationFailure
from sqlalchemy import delete, select, text
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.orm import Session

from portal.core.db import Sessions, transaction
from portal.core.i18n import _k
from portal.exchange.importing import apply, book, news, removals
from portal.exchange.importing.apply import moved
from portal.exchange.importing.compare import Counts, compare, digest, drop_repeated
from portal.exchange.importing.current import gather
from portal.exchange.importing.enrollments import pair_moves
from portal.exchange.importing.failure import ImportFailedError
from portal.exchange.importing.mishap import failure_of
from portal.exchange.importing.models import Import, ImportPart, ImportRow
from portal.exchange.importing.oneroster.records import stage_oneroster
from portal.exchange.importing.options import Options
from portal.exchange.importing.rehearsal import Refused, refused, rehearse
from portal.exchange.importing.report import Report
from portal.exchange.importing.reporting import keep_notes
from portal.exchange.importing.semester.records import stage_semester
from portal.exchange.importing.settle import open_classes, settle
from portal.exchange.importing.sources import Source
from portal.exchange.importing.staging import Stage
from portal.exchange.importing.tables import Progress
from portal.people.models import AuditEntry

LAYOUTS = {"semester": stage_semester, "oneroster": stage_oneroster}
# A large import takes longer than any statement of a page may.
PATIENCE = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"

ROWS = 5000  # rows a statement
SEATS = "enrollment"
# What is left to be done once all else is.
BUT_SEATS = text("""
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
    book.clear(session, import_id, book.FOUND)
    stage = Stage(session, import_id)
    LAYOUTS[options.layout](stage, source, options, report, progress)
    stage.finish()
    progress("comparing", 0, 1)
    gather(session)
    settle(session, import_id, report)
    removals.remove_unnamed(session, import_id, stage.unnamed)
    drop_repeated(session, import_id, report)
    removals.keep_taken(session, import_id, report)
    if options.past:
        open_classes(session, import_id)
    counts, same = compare(session, import_id)
    pair_moves(session, import_id, counts)
    if moved(counts.get(SEATS, {})) and _leave_out(
        session, rehearse(session, import_id, counts, past=options.past), report
    ):
        counts, same = compare(session, import_id)
    keep_notes(session, import_id, report.notes)
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
    if barred(found):
        raise ImportFailedError(
            _k("Students would be refused their seats: nothing can be applied so.")
        )
    gather(session)
    removals.keep_taken(session, import_id, Report())
    if digest(session, import_id) != shown:
        raise StaleError(_k("What is here has changed since the preview was made."))
    with news.kept(session, import_id, counts):
        apply.write(session, import_id, counts, progress)
    seats = moved(counts.get(SEATS, {}))
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
    terms = apply.terms(session, import_id)
    book.clear(session, import_id, (ImportPart,) if seats else book.SENT)
    session.execute(BUT_SEATS, {"id": import_id})
    return terms


def barred(found: Import) -> bool:
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
            session.execute(text(PATIENCE))
            if not book.lock(session):
                raise book.Busy(book.told(session))
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
    if not book.move(session, import_id, state, of=(of,), **facts):
        raise book.Gone


def _claim(import_id: int, state: str, *, of: str) -> None:
    """Say that we are at it, for all to see; who was at it before us may have been killed."""
    with transaction() as session:
        if not book.move(session, import_id, state, of=(of,)):
            now = session.scalar(select(Import.state).where(Import.id == import_id))
            if now != state:
                raise book.Gone


def stop(import_id: int, why: ImportFailedError) -> None:
    """Write down why the seats that are left are not given."""
    with transaction() as session:
        book.move(session, import_id, "seating", of=("seating",), error=why.stored)


def give_up(import_id: int, why: ImportFailedError) -> None:
    """Let nobody be called to it any more: where only seats are left, until an admin says so."""
    fail(import_id, why)
    stop(import_id, why)


def fail(import_id: int, why: ImportFailedError, report: Report | None = None) -> None:
    """Write down that nothing came of an import that was under way, and why."""
    with transaction() as session:
        if report:
            keep_notes(session, import_id, report.notes)
        notes = {"notes": dict(report.found)} if report else {}
        of = ("waiting", "reading", "approved", "applying")
        book.move(session, import_id, "failed", of=of, error=why.stored, **notes)
