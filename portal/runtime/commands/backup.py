"""`fairseat backup`: a copy of everything that must not be lost."""

import logging
import re
import signal
from datetime import timedelta
from pathlib import Path
from threading import Event

import click
import psycopg2
from sqlalchemy.exc import SQLAlchemyError

from portal.core import logs
from portal.core.outage import AWAY, first_line
from portal.ops import backup, backups
from portal.ops.backup import Manifest
from portal.recorder.behind import record_all
from portal.runtime.command_context import connected
from portal.runtime.commands.noting import note

WRONG = (click.ClickException, psycopg2.Error, SQLAlchemyError, *AWAY)
AGAIN = timedelta(minutes=5)  # after one that could not be made, at the latest
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

log = logging.getLogger(__name__)


def span(_ctx: click.Context, _param: click.Parameter, given: str | None) -> timedelta | None:
    """A time such as 6h: so many seconds, minutes, hours or days."""
    found = re.fullmatch(r"([1-9]\d{0,3})([smhd])", given or "")
    if given and not found:
        raise click.BadParameter(f"write {given} like 30m, 6h or 1d.")
    return timedelta(**{UNITS[found[2]]: int(found[1])}) if found else None


@click.command("backup")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--every", callback=span, help="Go on and make one below FOLDER each time: 6h.")
@click.option("--keep", type=click.IntRange(1), default=14, help="How many of these are kept: 14.")
def command(folder: Path, every: timedelta | None, keep: int) -> None:
    """Copy PostgreSQL to the new FOLDER, with all that was acknowledged until now.

    Pages and claims go on meanwhile. The ledger needs no copy: `fairseat restore` makes it anew
    from the event log. What the environment holds, such as SECRET_KEY, is not copied.
    """
    if every:
        _go_on(folder, every, keep)
        return
    made = _make(folder)
    for name, seq in made.events.items():
        click.echo(f"  {name}: until event {seq}")
    click.echo(f"{folder}: {made.size:,} bytes, checked.")


def _go_on(folder: Path, every: timedelta, keep: int) -> None:
    """Make one whenever it is due, until told to stop; one that is begun is ended first."""
    logs.begin("backup")
    stop = Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: stop.set())
    while not stop.wait(_pause(folder, every).total_seconds()):
        if not _one_more(folder, keep):
            stop.wait(min(every, AGAIN).total_seconds())


def _pause(folder: Path, every: timedelta) -> timedelta:
    try:
        return backups.due(folder, every)
    except OSError as why:
        log.error("ALARM backup: %s can't be read: %s", folder, why)  # noqa: TRY400
        return min(every, AGAIN)


def _one_more(folder: Path, keep: int) -> bool:
    place = backups.place(folder)
    try:
        made = _make(place)
    except WRONG as why:
        log.error("ALARM backup: none could be made: %s", first_line(why))  # noqa: TRY400
        return False
    log.info("%s: %s bytes, checked.", place, f"{made.size:,}")
    try:
        backups.let_go(folder, keep)
    except OSError as why:
        log.error("ALARM backup: old ones can't be removed: %s", why)  # noqa: TRY400
    return True


def _make(folder: Path) -> Manifest:
    with connected() as parts:
        for missing in record_all():
            raise click.ClickException(f"No backup was made: {missing}")
        click.echo("All that was acknowledged is recorded. Copying PostgreSQL…")
        try:
            made = backup.make(parts.settings.database_url, folder)
        except (backup.BackupError, OSError) as wrong:
            raise click.ClickException(str(wrong)) from wrong
        note("backup.made", "portal", {"made_at": made.made_at, "events": made.events})
    return made
