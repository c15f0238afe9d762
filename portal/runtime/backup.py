"""Backups: a copy of PostgreSQL in a folder, and back. Its event log restores the ledger."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from hashlib import file_digest
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psycopg2
from psycopg2.extensions import make_dsn, parse_dsn

from portal.core import schema
from portal.core.errors import CommandError
from portal.runtime.embedded_postgres import binary

FORMAT = 1
DUMP, MANIFEST = "postgresql.dump", "backup.json"
ASIDE = "fairseat_before"  # the schema that holds the previous data until the new data is loaded
EVENTS = (
    "SELECT t.name, coalesce(c.seq, 0) FROM terms t LEFT JOIN checkpoints c ON c.term_id = t.id"
)


@dataclass(frozen=True)
class Manifest:
    """The contents of a backup."""

    format: int
    version: str  # of the portal
    revision: str  # of its tables
    made_at: str
    events: dict[str, int]  # the last one of each term
    size: int  # bytes
    sha256: str


def make(url: str, folder: Path) -> Manifest:
    """Copy one snapshot of the database at `url`; the folder appears complete or not at all.

    Pages and claims go on meanwhile. Raises CommandError.
    """
    if folder.exists() and any(folder.iterdir()):
        raise CommandError(f"{folder} is not empty: name a new folder.")
    partial = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(mode=0o700, parents=True)
    dump = partial / DUMP
    with _snapshot(url) as (snapshot, revision, events):
        at_once = ("--format=custom", f"--snapshot={snapshot}", f"--file={dump}")
        _run("pg_dump", url, "--no-owner", "--no-privileges", *at_once)
    made_at = datetime.now(UTC).isoformat(timespec="seconds")
    size, digest = dump.stat().st_size, _digest(dump)
    manifest = Manifest(FORMAT, version("fairseat"), revision, made_at, events, size, digest)
    (partial / MANIFEST).write_text(json.dumps(asdict(manifest), indent=2))
    _verified(partial)
    partial.replace(folder)
    return manifest


def check(folder: Path) -> Manifest:
    """Return the contents of the backup.

    Raises CommandError unless it is complete and this portal can read it.
    """
    manifest = _verified(folder)
    if schema.is_old(manifest.revision):
        raise CommandError("The backup is of a version before 1.0.0, which this one can't read.")
    if not schema.knows(manifest.revision):
        raise CommandError(f"The backup is of Fairseat {manifest.version}, newer than this one.")
    return manifest


def _verified(folder: Path) -> Manifest:
    try:
        manifest = Manifest(**json.loads((folder / MANIFEST).read_text()))
        digest = _digest(folder / DUMP)
    except (OSError, ValueError, TypeError) as error:
        raise CommandError(f"{folder} holds no backup: {error}.") from error
    if manifest.format != FORMAT:
        raise CommandError(f"The backup is of Fairseat {manifest.version}, newer than this one.")
    if digest != manifest.sha256:
        raise CommandError(f"{folder / DUMP} is not as it was made: its checksum differs.")
    return manifest


def load(url: str, folder: Path) -> None:
    """Replace everything in the database at `url`, if anything, with a checked backup."""
    with closing(_connected(url)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        _put_back(cursor)  # after a process was killed in the middle of this
        cursor.execute(f"ALTER SCHEMA public RENAME TO {ASIDE}")
        cursor.execute("CREATE SCHEMA public")
        try:
            whole = ("--single-transaction", "--no-owner", "--no-privileges")
            _run("pg_restore", url, *whole, str(folder / DUMP))
        except BaseException:
            _put_back(cursor)
            raise
        cursor.execute(f"DROP SCHEMA {ASIDE} CASCADE")


def used(url: str) -> bool:
    """Return whether the database holds accounts or events."""
    with closing(_connected(url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('public.accounts'), to_regclass('public.events')")
        if None in (cursor.fetchone() or ()):
            return False
        cursor.execute("SELECT EXISTS (TABLE accounts) OR EXISTS (TABLE events)")
        return bool((cursor.fetchone() or [False])[0])


def busy(url: str) -> int:
    """Return how many connections the portal's processes have to the database."""
    with closing(_connected(url)) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = 'fairseat'"
        )
        return int((cursor.fetchone() or [0])[0])


@contextmanager
def _snapshot(url: str) -> Iterator[tuple[str, str, dict[str, int]]]:
    """Open a snapshot of the database to copy: its name, tables and events."""
    with closing(_connected(url)) as connection, connection.cursor() as cursor:
        connection.set_session("REPEATABLE READ", readonly=True)
        cursor.execute("SELECT pg_export_snapshot(), (SELECT version_num FROM alembic_version)")
        snapshot, revision = cursor.fetchone() or ("", "")
        cursor.execute(EVENTS)
        yield snapshot, revision, dict(cursor.fetchall())


def _put_back(cursor: Any) -> None:
    cursor.execute("SELECT to_regnamespace(%s)", (ASIDE,))
    if (cursor.fetchone() or [None])[0]:
        cursor.execute("DROP SCHEMA IF EXISTS public CASCADE")
        cursor.execute(f"ALTER SCHEMA {ASIDE} RENAME TO public")


def _run(program: str, url: str, *arguments: str) -> None:
    """Run a program of PostgreSQL, with the password hidden from process lists."""
    given = parse_dsn(_plain(url))
    secret = {"PGPASSWORD": given.pop("password")} if "password" in given else {}
    done = subprocess.run(  # noqa: S603  our own command
        [binary(program), f"--dbname={make_dsn(**given)}", *arguments],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **secret},
    )
    if done.returncode:
        raise CommandError(f"{program} failed, and nothing was changed: {done.stderr.strip()}")


def _connected(url: str) -> Any:
    return psycopg2.connect(_plain(url), connect_timeout=5, application_name="fairseat backup")


def _plain(url: str) -> str:
    return url.replace("postgresql+psycopg2://", "postgresql://", 1)


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return file_digest(content, "sha256").hexdigest()


# Regular backups below one folder: when the next is due, and which are removed.

NAME_FORMAT = "%Y-%m-%dT%H%M%SZ"
NAME = re.compile(r"\d{4}-\d\d-\d\dT\d{6}Z")
PART = ".part"


def due(folder: Path, every: timedelta) -> timedelta:
    """Return the time until the next is due."""
    made = _made(folder)
    if not made:
        return timedelta()
    last = datetime.strptime(made[-1].name, NAME_FORMAT).replace(tzinfo=UTC)
    # Never later than that, even if the clock changed.
    return min(every, max(timedelta(), last + every - datetime.now(UTC)))


def new_path(folder: Path) -> Path:
    """Return the folder for a backup that starts now."""
    return folder / datetime.now(UTC).strftime(NAME_FORMAT)


def remove_old(folder: Path, keep: int) -> None:
    """Remove all but the last `keep`, and incomplete ones; leave other names alone."""
    incomplete = [each for each in folder.glob(f"*{PART}") if NAME.fullmatch(each.stem)]
    for each in (*_made(folder)[:-keep], *incomplete):
        shutil.rmtree(each)


def _made(folder: Path) -> list[Path]:
    """Return the backups that exist, oldest first."""
    found = folder.iterdir() if folder.exists() else ()
    return sorted(
        each for each in found if NAME.fullmatch(each.name) and (each / MANIFEST).exists()
    )
