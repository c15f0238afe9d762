"""Imports and their states: which one is in progress, where it stands, and how far it is."""

import json
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from redis.exceptions import RedisError
from sqlalchemy import Select, delete, func, select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.models import Term
from portal.core.db import Base, transaction
from portal.core.i18n import _k
from portal.core.sorting import Sorting
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.models import (
    BUSY,
    Import,
    ImportChange,
    ImportNote,
    ImportPart,
    ImportRow,
    ImportTable,
    Options,
)
from portal.people.models import Account

LIFETIME = timedelta(days=1)  # of files and previews
SETTLED = timedelta(seconds=10)  # after which a worker without the lock was killed
MOST_SHOWN = 20  # imports
# Columns that sort the list of imports.
SORTS: dict[str, Any] = {
    "started": Import.id,
    "files": func.coalesce(Import.options["term"].as_string(), Import.name),
    "state": Import.state,
    "by": Account.name,
}
TRIES = 5  # of a worker before an import fails
ONE_AT_A_TIME = 7_305_001  # key of the advisory lock
BEGUN = ("reading", "applying")  # states in which a worker makes progress
Tables = Iterable[type[Base]]
INPUT_TABLES = (ImportPart, ImportTable, ImportRow)
RESULT_TABLES = (ImportRow, ImportChange, ImportNote)
ALL_TABLES = (ImportPart, ImportTable, *RESULT_TABLES)
LOCK_IMPORTS = text("SELECT pg_try_advisory_xact_lock(:key)")
IMPORTS_LOCKED = text(
    "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted"
    " AND classid = 0 AND objid = :key AND database = "
    "(SELECT oid FROM pg_database WHERE datname = current_database()))"
)


class Busy(Exception):
    """Another import is being read or applied; the message names it."""


class NoLongerPossible(Exception):
    """The import was discarded, or is done."""


@dataclass(frozen=True)
class NewImport:
    """The files, options and account of an import; no account at the command line."""

    by: int | None
    name: str
    sha256: str
    options: Options


def begin(session: Session, new: NewImport) -> int:
    """Begin an import and return its id. Raise Busy while another is being read or applied."""
    delete_expired(session)
    fail_killed_commands(session)
    found = Import(
        account_id=new.by,
        name=new.name[:200],
        sha256=new.sha256,
        options=replace(new.options, term=_term_of(session, new.options.term)).as_json(),
        state="waiting",
        busy=True,
        expires_at=datetime.now(UTC) + LIFETIME,
    )
    try:
        with session.begin_nested():
            session.add(found)
    except IntegrityError:
        raise Busy(describe_busy(session)) from None
    return found.id


def _term_of(session: Session, name: str) -> str:
    """Return the name of the term that the portal writes so, but for capitals and spaces."""
    alike = func.lower(func.replace(Term.name, " ", "")) == "".join(name.split()).lower()
    found = session.scalars(select(Term.name).where(alike).order_by(Term.deleted_at.is_not(None)))
    names, tidy = found.all(), " ".join(name.split())
    return tidy if tidy in names else next(iter(names), tidy)


def busy(session: Session) -> Import | None:
    """Return the import that is being read or applied, or is about to be."""
    return session.scalar(select(Import).where(Import.busy.is_(True)))


def describe_busy(session: Session) -> str:
    """Return a text that names the import in progress, and who began it."""
    found = busy(session)
    if found is None:
        return ""
    owner = session.scalar(select(Account.name).where(Account.id == found.account_id))
    return f"{found.name} ({owner or 'command line'})"


def change_state(
    session: Session, import_id: int, state: str, *, of: Iterable[str], **values: object
) -> bool:
    """Change the state from one of the states `of`; return False if it was in none of them.

    Raise Busy while another import is being read or applied.
    """
    now = datetime.now(UTC)  # not when a long transaction began
    values |= {"state": state, "busy": True if state in BUSY else None, "moved_at": now}
    values |= {} if state in BEGUN else {"tries": 0}
    change = update(Import).where(Import.id == import_id, Import.state.in_(tuple(of)))
    try:
        with session.begin_nested():
            return session.scalar(change.values(**values).returning(Import.id)) is not None
    except IntegrityError:
        raise Busy(describe_busy(session)) from None


def lock(session: Session) -> bool:
    """Take the lock of imports until the transaction ends; False if another has it."""
    return bool(session.scalar(LOCK_IMPORTS, {"key": ONE_AT_A_TIME}))


def is_at_work(session: Session) -> bool:
    """Return whether a worker reads or applies an import right now."""
    return bool(session.scalar(IMPORTS_LOCKED, {"key": ONE_AT_A_TIME}))


def waited(found: Import) -> timedelta:
    """Return how long ago an import changed its state, or a worker began with it."""
    return datetime.now(UTC) - found.moved_at


def is_abandoned(session: Session, found: Import) -> bool:
    """Return whether a worker should be busy with an import, but none has been for a while."""
    return found.state in BUSY and waited(found) > SETTLED and not is_at_work(session)


def abandoned(session: Session) -> Import | None:
    """Return the import that a worker should continue but none does."""
    found = busy(session)
    return found if found and not found.error and is_abandoned(session, found) else None


def state_of(session: Session, found: Import) -> str:
    """Return the state to show: `stuck` if a worker should be busy and none has been for a while.

    `stopped` if a worker would only meet the same error again.
    """
    if found.state == "enrolling" and found.error:
        return "stopped"
    return "stuck" if is_abandoned(session, found) else found.state


def fail_killed_commands(session: Session) -> None:
    """Fail the import of a command that was killed, because no worker has its files.

    If only enrollments are left, a worker or the next command applies them.
    """
    found, why = busy(session), ImportFailedError(_k("The import was interrupted."))
    if found is None or found.account_id or found.state == "enrolling":
        return
    if is_abandoned(session, found):
        change_state(session, found.id, "failed", of=BUSY, error=why.stored)


def count_stopped(session: Session) -> int:
    """Return how many imports wait for an admin with enrollments left: one at most."""
    waiting = Import.state == "enrolling", Import.error != ""
    return session.scalar(select(func.count()).select_from(Import).where(*waiting)) or 0


def count_try(session: Session, import_id: int) -> bool:
    """Count an attempt of a worker; False while another is busy with it."""
    if not lock(session):
        return False
    # The scheduler leaves the worker time to begin.
    counted = {"tries": Import.tries + 1, "moved_at": func.now()}
    busy_with_it = Import.id == import_id, Import.busy.is_(True)
    session.execute(update(Import).where(*busy_with_it).values(counted))
    return True


def reset_tries(session: Session, import_id: int) -> None:
    """Count attempts from zero again, after progress or an admin's decision."""
    session.execute(update(Import).where(Import.id == import_id).values(tries=0))


def latest(sorting: Sorting) -> list[tuple[Import, str]]:
    """Return the latest imports and who began them, sorted by a column of SORTS."""
    newest = select(Import.id).order_by(Import.id.desc()).limit(MOST_SHOWN)
    found = select(Import, Account.name).outerjoin(Account, Account.id == Import.account_id)
    column = SORTS[sorting.key]
    first = column.desc().nulls_first() if sorting.down else column.asc().nulls_last()
    with transaction() as session:
        rows = session.execute(found.where(Import.id.in_(newest)).order_by(first, Import.id.desc()))
        return [(each, name or "") for each, name in rows]


def delete_expired(session: Session) -> None:
    """Delete files and previews that have expired. The imports themselves stay."""
    old = Import.expires_at < datetime.now(UTC)
    undone = ("waiting", "columns", "ready")
    for found in session.scalars(select(Import.id).where(old, Import.state.in_(undone))).all():
        if change_state(session, found, "discarded", of=undone):
            clear(session, [found], ALL_TABLES)
    for state, tables in (("done", (ImportChange,)), ("failed", (*INPUT_TABLES, ImportChange))):
        clear(session, select(Import.id).where(old, Import.state == state), tables)


def clear(session: Session, imports: Sequence[int] | Select[int], tables: Tables) -> None:
    """Delete the rows of imports in those tables."""
    for table in tables:
        rows = Base.metadata.tables[table.__tablename__]  # the ORM would fetch every key
        session.execute(delete(rows).where(rows.c.import_id.in_(imports)))


# Progress, for the page.

PROGRESS_LIFETIME = 24 * 60 * 60  # seconds
PAUSE = 0.3  # seconds between two reports of the same step


@dataclass(frozen=True)
class ProgressStep:
    """The current step: the name of a file, `comparing`, `storing` or `enrolling`."""

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
    with suppress(RedisError):
        progress = backend().redis.get(_key(import_id))
        if isinstance(progress, (bytes, str)):
            return ProgressStep(*json.loads(progress))
    return ProgressStep()


def _key(import_id: int) -> str:
    return f"import:{import_id}"
