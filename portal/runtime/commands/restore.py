"""`fairseat restore`: what `fairseat backup` has copied, in the place of what is there."""

from pathlib import Path

import click
from sqlalchemy.exc import IntegrityError

from portal.backend import Backend, backend
from portal.catalog.term_catalog import terms_named
from portal.core import schema
from portal.core.outage import first_line
from portal.ledger import replicas
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.function_library import prefix, translate_errors
from portal.ops import backup
from portal.recorder.consistency import fence, restore
from portal.recorder.consistency.repair import LogDamaged
from portal.recorder.journal import last_seq
from portal.runtime import command_context
from portal.runtime.command_context import connected
from portal.runtime.commands.noting import note
from portal.runtime.commands.progress import bars
from portal.runtime.commands.rebuild import restore_term, say_plan

TROUBLES = (
    LogDamaged,
    restore.Unrecorded,
    restore.Busy,
    fence.Changed,
    LedgerUnavailable,
    IntegrityError,
)
BUSY = (
    "The portal runs: {} connections of its own to the database. Stop its web nodes, workers and"
    " clocks first; the servers stay. Nothing was changed."
)
USED = (
    "There are accounts or events already, and all of them would be replaced by the backup of {}."
    " With --yes it is done. Nothing was changed."
)
HALF = (
    "PostgreSQL is restored, but not the ledger of {}: {}. When that is mended, call it again with"
    " --yes. If it knows decisions on what the backup has never heard of, --forget lets go of them."
)

AHEAD = (
    "PostgreSQL is restored, but the ledger of {} knows decisions that the backup does not tell of:"
    " it is at event {}, the backup at {}, and the journal lacks some that lie between. If a later"
    " backup has them, call it again with that. Else --forget lets go of them, and whoever was told"
    " must be told otherwise. Until then nothing can be claimed in the term."
)


@click.command("restore")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--yes", is_flag=True, help="Replace what is there.")
@click.option("--forget", is_flag=True, help="Forget what the ledger knows beyond the backup.")
def command(folder: Path, *, yes: bool, forget: bool) -> None:
    """Bring back the backup in FOLDER: PostgreSQL, then the ledger from its event log.

    A ledger that has outlived PostgreSQL, and whose journal goes on where the backup ends, is
    recorded first: then nothing is lost at all. The portal must not run.
    """
    click.echo(f"Restoring into {command_context.portal()}.")
    with connected() as parts:
        url = parts.settings.owner_url
        try:
            manifest = backup.check(folder)
            if connections := backup.busy(url):
                raise click.ClickException(BUSY.format(connections))
            if not yes and backup.used(url):
                raise click.ClickException(USED.format(manifest.made_at))
            click.echo(f"Restoring PostgreSQL as of {manifest.made_at}…")
            backup.load(url, folder)
        except backup.BackupError as wrong:
            raise click.ClickException(str(wrong)) from wrong
        schema.upgrade(url, portal=parts.settings.database_url)
        _let_go(parts, set() if forget else {number for number, _ in terms_named()})
        for number, name in terms_named():
            _ledger(number, name, forget=forget)
        note("backup.restored", "portal", {"made_at": manifest.made_at, "events": manifest.events})
    click.echo("Restored. Start the portal, and look with `fairseat audit`.")


def _ledger(number: int, name: str, *, forget: bool) -> None:
    try:
        with bars() as tell:
            planned = restore.plan(number, tell)
        say_plan(name, planned)
        last = last_seq(backend().redis, number)
        if (planned.lost or last > planned.seq) and not forget:
            fence.put_up(number, restore.WHY)  # it must go on neither with the one nor the other
            raise click.ClickException(AHEAD.format(name, last, planned.seq))
        restore_term(number, name, planned)
    except TROUBLES as why:
        raise click.ClickException(HALF.format(name, first_line(why))) from why


def _let_go(parts: Backend, known: set[int]) -> None:
    """Forget what the ledger holds of other terms: their numbers will be given again."""
    kept = {prefix(number).encode() for number in known}
    with translate_errors(), parts.redis.pipeline(transaction=False) as pipe:
        for key in parts.redis.scan_iter(match="{t:*}*", count=1000):
            if key.partition(b"}")[0] + b"}" not in kept:
                pipe.unlink(key)
        replicas.execute(pipe, parts.settings.replicas)
