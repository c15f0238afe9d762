"""Imports and their states, their files until they are applied, and their progress."""

import hashlib
import json
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from redis.exceptions import RedisError
from sqlalchemy import delete, func, select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.core.db import Base, transaction
from portal.core.i18n import _k
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.models import (
    BUSY,
    Import,
    ImportChange,
    ImportNote,
    ImportPart,
    ImportRow,
    Options,
)
from portal.exchange.importing.sources import Source, source_of
from portal.people.models import Account

LIFETIME = timedelta(days=1)  # of files and previews
SETTLED = timedelta(seconds=10)  # after which a worker without the lock was killed
MOST_SHOWN = 20  # imports
TRIES = 5  # of a worker before an import fails
ONE_AT_A_TIME = 7_305_001  # key of the advisory lock
INPUT_TABLES = (ImportPart, ImportRow)
BEGUN = ("reading", "applying")  # states in which a worker makes progress
UNDONE = ("waiting", "ready")
RESULT_TABLES = (ImportRow, ImportChange, ImportNote)
LOCK_IMPORTS = text("SELECT pg_try_advisory_xact_lock(:key)")
IMPORTS_LOCKED = text(
    "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted"
    " AND classid = 0 AND objid = :key AND database = "
    "(SELECT oid FROM pg_database WHERE datname = current_database()))"
)


class Busy(Exception):  # noqa: N818  an expected state, not an error
    """Another import is being read or applied; the message names it."""


class NoLongerPossible(Exception):  # noqa: N818  an expected state, not an error
    """The import was discarded, or is done."""


@dataclass(frozen=True)
class NewImport:
    """The files, options and account of an import; no account at the command line."""

    by: int | None
    name: str
    sha256: str
    options: Options


def begin(session: Session, sent: NewImport, state: str = "waiting") -> int:
    """Begin an import and return its id. Raise Busy while another is being read or applied."""
    forget_expired(session)
    fail_killed_commands(session)
    made = Import(
        account_id=sent.by,
        name=sent.name[:200],
        sha256=sent.sha256,
        options=sent.options.as_json(),
        state=state,
        busy=True,
        expires_at=datetime.now(UTC) + LIFETIME,
    )
    if busy(session):
        raise Busy(describe_busy(session))
    try:
        with session.begin_nested():
            session.add(made)
    except IntegrityError:  # another began in between
        raise Busy(describe_busy(session)) from None
    return made.id


def busy(session: Session) -> Import | None:
    """Return the import that is being read or applied, or is about to be."""
    return session.scalar(select(Import).where(Import.busy.is_(True)))


def describe_busy(session: Session) -> str:
    """Return a sentence that names the import in progress, and who began it."""
    found = busy(session)
    if found is None:
        return ""
    owner = session.scalar(select(Account.name).where(Account.id == found.account_id))
    return f"{found.name} ({owner or 'command line'})"


def change_state(
    session: Session, import_id: int, state: str, *, of: Iterable[str], **facts: object
) -> bool:
    """Change the state from one of the states `of`; return False if it was in none of them.

    Raise Busy while another import is being read or applied.
    """
    now = {"state": state, "busy": True if state in BUSY else None, "moved_at": datetime.now(UTC)}
    tries = {} if state in BEGUN else {"tries": 0}
    moved = update(Import).where(Import.id == import_id, Import.state.in_(tuple(of)))
    moved = moved.values(**now, **tries, **facts).returning(Import.id)
    try:
        with session.begin_nested():
            return session.scalar(moved) is not None
    except IntegrityError:
        raise Busy(describe_busy(session)) from None


def lock(session: Session) -> bool:
    """Take the lock of imports until the transaction ends; False if another has it."""
    return bool(session.scalar(LOCK_IMPORTS, {"key": ONE_AT_A_TIME}))


def is_at_work(session: Session) -> bool:
    """Return whether a worker reads or applies an import right now."""
    return bool(session.scalar(IMPORTS_LOCKED, {"key": ONE_AT_A_TIME}))


def abandoned(session: Session) -> Import | None:
    """Return the import that a worker should continue but none does."""
    settled = Import.moved_at < datetime.now(UTC) - SETTLED
    waiting = Import.busy.is_(True), Import.error == "", settled
    found = session.scalar(select(Import).where(*waiting))
    return None if found is None or is_at_work(session) else found


def count_stopped(session: Session) -> int:
    """Return how many imports wait for an admin with enrollments left: one at most."""
    waiting = Import.state == "seating", Import.error != ""
    return session.scalar(select(func.count()).select_from(Import).where(*waiting)) or 0


def count_try(session: Session, import_id: int) -> bool:
    """Count an attempt of a worker; False while another is busy with it."""
    if not lock(session):
        return False
    session.execute(
        update(Import)
        .where(Import.id == import_id, Import.busy.is_(True))
        .values(
            tries=Import.tries + 1, moved_at=func.now()
        )  # the scheduler leaves it time to begin
    )
    return True


def reset_tries(session: Session, import_id: int) -> None:
    """Count attempts from zero again, after progress or an admin's decision."""
    session.execute(update(Import).where(Import.id == import_id).values(tries=0))


def latest() -> list[tuple[Import, str]]:
    """Return the latest imports and who began them, newest first."""
    found = (
        select(Import, Account.name)
        .outerjoin(Account, Account.id == Import.account_id)
        .order_by(Import.id.desc())
        .limit(MOST_SHOWN)
    )
    with transaction() as session:
        return [(each, name or "") for each, name in session.execute(found)]


def forget_expired(session: Session) -> None:
    """Delete files and previews that have expired. The imports themselves stay."""
    old = Import.expires_at < datetime.now(UTC)
    ended = select(Import.id).where(old, Import.state.in_(UNDONE))
    for found in session.scalars(ended):
        if change_state(session, found, "discarded", of=UNDONE):
            clear(session, found, (*INPUT_TABLES, *RESULT_TABLES))
    for state, tables in (("done", (ImportChange,)), ("failed", (*INPUT_TABLES, ImportChange))):
        ended = select(Import.id).where(old, Import.state == state)
        for table in tables:
            rows = Base.metadata.tables[table.__tablename__]
            session.execute(delete(rows).where(rows.c.import_id.in_(ended)))


def has_files(session: Session, import_id: int) -> bool:
    """Return whether the files are still stored, so that they can be read again."""
    parts = select(ImportPart.position).where(ImportPart.import_id == import_id)
    return session.execute(parts.limit(1)).first() is not None


def fail_killed_commands(session: Session) -> None:
    """Fail the import of a command that was killed, because no worker can continue it."""
    found, why = busy(session), ImportFailedError(_k("The import was interrupted."))
    # If only enrollments are left, the next command applies them.
    if found is None or found.account_id or found.state == "seating":
        return
    if found.moved_at < datetime.now(UTC) - SETTLED and not is_at_work(session):
        change_state(session, found.id, "failed", of=BUSY, error=why.stored)


def clear(session: Session, import_id: int, tables: Iterable[type[Base]]) -> None:
    """Delete the rows of an import in those tables."""
    for table in tables:
        rows = Base.metadata.tables[table.__tablename__]  # the ORM would fetch every key
        session.execute(delete(rows).where(rows.c.import_id == import_id))


def state_of(session: Session, found: Import) -> str:
    """Return the state to show: `stuck` if a worker should be busy and none has been for a while.

    `stopped` if a worker would only meet the same error again.
    """
    if found.state == "seating" and found.error:
        return "stopped"
    waited = datetime.now(UTC) - found.moved_at
    if found.state in BUSY and waited > SETTLED and not is_at_work(session):
        return "stuck"
    return found.state


PROGRESS_LIFETIME = 24 * 60 * 60  # seconds
PAUSE = 0.3  # seconds between two reports of the same step


@dataclass(frozen=True)
class ProgressStep:
    """The current step: the name of a file, `comparing`, `storing` or `seating`."""

    name: str = ""
    done: int = 0
    total: int = 0


@dataclass
class ProgressReport:
    """Reports the progress of one import to Redis."""

    import_id: int
    _last: tuple[str, float] = field(default=("", 0.0))

    def __call__(self, step: str, done: int, total: int) -> None:
        """Report progress, unless the same step was reported just now."""
        name, when = self._last
        if name == step and done < total and time.monotonic() - when < PAUSE:
            return
        self._last = step, time.monotonic()
        with suppress(RedisError):
            progress = json.dumps([step, done, total])
            backend().redis.set(_key(self.import_id), progress, ex=PROGRESS_LIFETIME)


def step_of(import_id: int) -> ProgressStep:
    """Return the current step of an import, blank if it is unknown."""
    try:
        progress = backend().redis.get(_key(import_id))
    except RedisError:
        return ProgressStep()
    return (
        ProgressStep(*json.loads(progress))
        if isinstance(progress, (bytes, str))
        else ProgressStep()
    )


def _key(import_id: int) -> str:
    return f"import:{import_id}"


PIECE = 2**20
MOST_FILES = 20
LONGEST_NAME = 200  # bytes; file systems allow 255

File = tuple[str, BinaryIO]


def digest_of_files(files: Iterable[File]) -> str:
    """Return the SHA-256 of a file; of several, that of their names and contents."""
    found, listed = hashlib.sha256(), list(files)
    for name, file in listed:
        if len(listed) > 1:
            found.update(f"{name}\0".encode())
        for piece in pieces(file):
            found.update(piece)
    return found.hexdigest()


def digest_of_path(path: Path) -> str:
    """Return the SHA-256 of a file, or of all files of a folder."""
    paths = [path] if path.is_file() else sorted(each for each in path.iterdir() if each.is_file())
    with ExitStack() as stack:
        return digest_of_files(
            [(each.name, stack.enter_context(each.open("rb"))) for each in paths]
        )


def store_files(session: Session, import_id: int, files: Iterable[File]) -> None:
    """Store files, piece by piece."""
    for name, file in files:
        for position, piece in enumerate(pieces(file)):
            row = ImportPart(import_id=import_id, name=name, position=position, content=piece)
            session.add(row)
            session.flush()
            session.expunge(row)


def bare_name(name: str) -> str:
    """Return a file name without folders; of a long name the end."""
    last = name.replace("\\", "/").rpartition("/")[2]
    encoded = "".join(sign for sign in last if sign.isprintable()).encode()[-LONGEST_NAME:]
    return encoded.decode(errors="ignore").lstrip(".") or "file"


def pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yield the content of a file from its beginning, in pieces."""
    file.seek(0)
    while piece := file.read(PIECE):
        yield piece


@contextmanager
def unpacked(import_id: int) -> Iterator[Source]:
    """Unpack the stored files into a temporary folder for the block."""
    with TemporaryDirectory(prefix="fairseat-import-") as folder:
        parts = select(ImportPart.name, ImportPart.position).where(
            ImportPart.import_id == import_id
        )
        with transaction() as session:
            found = session.execute(parts.order_by(ImportPart.name, ImportPart.position)).all()
        for name, position in found:
            with transaction() as session, (Path(folder) / name).open("ab") as out:
                out.write(session.get_one(ImportPart, (import_id, name, position)).content)
        yield source_of(Path(folder))
