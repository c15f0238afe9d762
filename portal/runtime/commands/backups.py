"""Back up the portal, and restore it from a backup."""

import logging
import re
import signal
from datetime import timedelta
from pathlib import Path
from threading import Event

import click
import psycopg2
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from portal.backend import Backend
from portal.catalog.term_catalog import terms_named
from portal.core import logs, schema
from portal.core.errors import CommandError
from portal.core.outage import AWAY, first_line
from portal.ledger import replicas
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.function_library import prefix, translate_errors
from portal.recorder.consistency import fence, restore
from portal.recorder.consistency.repair import LogDamaged
from portal.recorder.journal import last_seq
from portal.recorder.recorder import record_all
from portal.runtime import backup, command_context
from portal.runtime.backup import Manifest
from portal.runtime.command_context import connected
from portal.runtime.commands.common import note
from portal.runtime.commands.consistency import print_plan, restore_term

WRONG = (CommandError, psycopg2.Error, SQLAlchemyError, *AWAY)
AGAIN = timedelta(minutes=5)  # the longest wait after a failed backup
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

log = logging.getLogger(__name__)


def span(_ctx: click.Context, _param: click.Parameter, given: str | None) -> timedelta | None:
    """Return the duration in a text such as 6h: seconds, minutes, hours or days."""
    found = re.fullmatch(r"([1-9]\d{0,3})([smhd])", given or "")
    if given and not found:
        raise click.BadParameter(f"{given} is not a duration such as 30m, 6h or 1d.")
    return timedelta(**{UNITS[found[2]]: int(found[1])}) if found else None


@click.command("backup")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--every", callback=span, help="Keep running, and back up into FOLDER this often, such as 6h."
)
@click.option(
    "--keep",
    type=click.IntRange(1),
    default=14,
    help="Number of backups that --every keeps; default: 14.",
)
def backup_command(folder: Path, every: timedelta | None, keep: int) -> None:
    """Back up PostgreSQL to a new folder.

    The backup has every decision acknowledged so far. Pages and claims continue meanwhile. The
    ledger is not copied, because `fairseat restore` restores it from the event log. Environment
    variables, such as SECRET_KEY, are not copied either.
    """
    if every:
        _go_on(folder, every, keep)
        return
    made = _make(folder)
    for name, seq in made.events.items():
        click.echo(f"  {name}: up to event {seq}")
    click.echo(f"{folder}: {made.size:,} bytes, checked.")


def _go_on(folder: Path, every: timedelta, keep: int) -> None:
    """Make backups when due, until asked to stop; finish one that has started."""
    logs.begin("backup")
    stop = Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: stop.set())
    while not stop.wait(_pause(folder, every).total_seconds()):
        if not _one_more(folder, keep):
            stop.wait(min(every, AGAIN).total_seconds())


def _pause(folder: Path, every: timedelta) -> timedelta:
    try:
        return backup.due(folder, every)
    except OSError as why:
        log.error("ALARM backup: can't read %s: %s", folder, why)  # noqa: TRY400
        return min(every, AGAIN)


def _one_more(folder: Path, keep: int) -> bool:
    path = backup.new_path(folder)
    try:
        made = _make(path)
    except WRONG as why:
        log.error("ALARM backup: the backup failed: %s", first_line(why))  # noqa: TRY400
        return False
    log.info("%s: %s bytes, checked.", path, f"{made.size:,}")
    try:
        backup.remove_old(folder, keep)
    except OSError as why:
        log.error("ALARM backup: can't remove old backups: %s", why)  # noqa: TRY400
    return True


def _make(folder: Path) -> Manifest:
    with connected() as parts:
        for missing in record_all():
            raise CommandError(f"No backup was made: {missing}")
        click.echo("All decisions are recorded. Copying PostgreSQL…")
        try:
            made = backup.make(parts.settings.database_url, folder)
        except OSError as wrong:
            raise CommandError(str(wrong)) from wrong
        note("backup.made", "portal", {"made_at": made.made_at, "events": made.events})
    return made


# `fairseat restore`: replace the portal's data with a backup.

TROUBLES = (
    LogDamaged,
    restore.Unrecorded,
    restore.Busy,
    fence.Changed,
    LedgerUnavailable,
    IntegrityError,
)
BUSY = (
    "The portal is running ({} connections to the database). Stop its web nodes, workers and"
    " scheduler first, but not the servers. Nothing was changed."
)
USED = (
    "The database already has accounts or events. The backup of {} would replace them. Use --yes to"
    " do this. Nothing was changed."
)
HALF = (
    "PostgreSQL is restored, but not the ledger of {}: {}. Fix this, then run the command again"
    " with --yes. If the ledger has decisions about records that the backup lacks, use --forget to"
    " discard them."
)

AHEAD = (
    "PostgreSQL is restored, but the ledger of {} has newer decisions than the backup: it is at"
    " event {}, the backup at {}, and the journal lacks some events between. If a later backup has"
    " them, restore that one. Otherwise use --forget to discard them, and inform the students"
    " concerned. Until then, students can't register in this term."
)


@click.command("restore")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--yes", is_flag=True, help="Replace existing data.")
@click.option("--forget", is_flag=True, help="Discard ledger decisions that are not in the backup.")
def restore_command(folder: Path, *, yes: bool, forget: bool) -> None:
    """Restore a backup: PostgreSQL, then the ledger.

    Stop the portal first. The ledger is restored from the event log. If the old ledger still
    exists, and its journal continues where the backup ends, its events are recorded first, and
    nothing is lost.
    """
    click.echo(f"Restoring into {command_context.portal()}.")
    with connected() as parts:
        url = parts.settings.owner_url
        manifest = backup.check(folder)
        if connections := backup.busy(url):
            raise click.ClickException(BUSY.format(connections))
        if not yes and backup.used(url):
            raise click.ClickException(USED.format(manifest.made_at))
        click.echo(f"Restoring PostgreSQL as of {manifest.made_at}…")
        backup.load(url, folder)
        schema.upgrade(url, portal=parts.settings.database_url)
        _delete_other_terms(parts, set() if forget else {number for number, _ in terms_named()})
        for number, name in terms_named():
            _ledger(number, name, forget=forget)
        note("backup.restored", "portal", {"made_at": manifest.made_at, "events": manifest.events})
    click.echo("Restored. Start the portal, then check it with `fairseat audit`.")


def _ledger(number: int, name: str, *, forget: bool) -> None:
    try:
        planned = print_plan(number, name)
        last = last_seq(number)
        if (planned.lost or last > planned.seq) and not forget:
            fence.put_up(number, restore.WHY)  # the term must not continue with old data
            raise click.ClickException(AHEAD.format(name, last, planned.seq))
        restore_term(number, name, planned)
    except TROUBLES as why:
        raise click.ClickException(HALF.format(name, first_line(why))) from why


def _delete_other_terms(parts: Backend, known: set[int]) -> None:
    """Delete the ledger's data of other terms: their numbers will be used again."""
    prefixes = {prefix(number).encode() for number in known}
    with translate_errors():
        for primary in parts.ledger.servers.primaries():
            with primary.redis.pipeline(transaction=False) as pipe:
                for key in primary.redis.scan_iter(match="{t:*}*", count=1000):
                    if key.partition(b"}")[0] + b"}" not in prefixes:
                        pipe.unlink(key)
                replicas.execute(pipe, parts.settings.replicas)
