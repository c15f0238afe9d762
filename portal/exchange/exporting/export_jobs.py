"""Exports of everything: requested on a page, made by a worker, kept for a day."""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from tempfile import TemporaryFile

from sqlalchemy import ColumnElement, delete, insert, select, text, update
from sqlalchemy.orm import Session

from portal.core.db import transaction
from portal.core.queue import enqueue_background
from portal.exchange.exporting.models import Export, ExportPart
from portal.exchange.exporting.oneroster import write_oneroster
from portal.exchange.importing.failures import TRANSIENT
from portal.exchange.importing.files import pieces
from portal.exchange.importing.import_jobs import SETTLED
from portal.exchange.importing.runs import NO_TIMEOUTS
from portal.people.models import Account
from portal.recorder.recorder import record_all

LONGEST = timedelta(minutes=30)  # that a worker may take
KEPT = timedelta(days=1)
LOCK_KEY = 7_305_002  # key of the locks that whoever makes an export holds, by its id
log = logging.getLogger(__name__)
LOCK = text("SELECT pg_try_advisory_xact_lock(:key, :id)")


def request_export(session: Session, account: int) -> Export:
    """Return the export that the account already waits for, or a new one."""
    session.get_one(Account, account, with_for_update=True)  # a double click waits here
    delete_expired(session)
    waiting = select(Export).where(Export.account_id == account, *_waiting())
    found = session.scalars(waiting.limit(1)).first() or Export(account_id=account, failed=False)
    session.add(found)
    session.flush()
    return found


def under_way(session: Session) -> list[tuple[Export, str]]:
    """Return the exports that are not made yet, and who requested each."""
    found = select(Export, Account.name).join(Account, Account.id == Export.account_id)
    rows = session.execute(found.where(*_waiting()).order_by(Export.id))
    return [(export, name) for export, name in rows]


def _waiting() -> tuple[ColumnElement[bool], ...]:
    since = datetime.now(UTC) - LONGEST
    return Export.size.is_(None), Export.failed.is_(False), Export.asked_at > since


def exports_of(session: Session, account: int) -> list[Export]:
    """Return the exports of an account that are still kept, newest first."""
    delete_expired(session)
    found = select(Export).where(Export.account_id == account).order_by(Export.id.desc())
    return list(session.scalars(found))


def enqueue(export_id: int) -> None:
    seconds = LONGEST.total_seconds()
    enqueue_background("make_export", export_id, f"export-{export_id}", seconds)


def resume() -> None:
    """Enqueue exports that a worker has left because it was killed or lost PostgreSQL."""
    now, wanted = datetime.now(UTC), (Export.size.is_(None), Export.failed.is_(False))
    with transaction() as session:
        expired = update(Export).where(*wanted, Export.asked_at < now - LONGEST)
        session.execute(expired.values(failed=True))
        unfinished = select(Export.id).where(*wanted, Export.asked_at < now - SETTLED)
        left = [each for each in session.scalars(unfinished) if _lock(session, each)]
    for each in left:
        enqueue(each)


def make(export_id: int) -> None:
    """Make the file, unless it exists. Its page shows a failure too."""
    with transaction() as holder:
        holder.execute(text(NO_TIMEOUTS))
        if not _lock(holder, export_id):
            return
        try:
            _make(export_id)
        except TRANSIENT:  # the scheduler tries again
            raise
        except Exception:
            with transaction() as session:
                session.get_one(Export, export_id).failed = True
            raise


def _lock(session: Session, export_id: int) -> bool:
    """Lock the export until the transaction ends; False if another worker has it."""
    return bool(session.scalar(LOCK, {"key": LOCK_KEY, "id": export_id}))


def _make(export_id: int) -> None:
    with transaction() as session:
        found = session.get(Export, export_id)
        if found is None or found.size is not None:
            return
        session.execute(delete(ExportPart).where(ExportPart.export_id == export_id))
    for missing in record_all():
        log.warning("Export %d lacks decisions. %s", export_id, missing)
    with TemporaryFile() as out:
        write_oneroster(out)
        with transaction() as session:
            for position, piece in enumerate(pieces(out)):
                row = {"export_id": export_id, "position": position, "content": piece}
                session.execute(insert(ExportPart).values(row))
            found = session.get_one(Export, export_id)
            found.size, found.failed = out.tell(), False


def content(export_id: int) -> Iterator[bytes]:
    """Yield the file in pieces. No transaction is open while one is sent."""
    for position in count():
        with transaction() as session:
            found = session.get(ExportPart, (export_id, position))
        if found is None:
            return
        yield found.content


def delete_expired(session: Session) -> None:
    old = Export.asked_at < datetime.now(UTC) - KEPT
    session.execute(
        delete(ExportPart).where(ExportPart.export_id.in_(select(Export.id).where(old)))
    )
    session.execute(delete(Export).where(old))
