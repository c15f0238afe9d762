"""`fairseat backup`: a copy of everything that must not be lost."""

from pathlib import Path

import click

from portal.ops import backup
from portal.record.audit import catch_up
from portal.record.journal import JournalGap
from portal.record.project import UnknownEvent
from portal.record.terms import named
from portal.running.surroundings import connected
from portal.seats.errors import LedgerUnavailable

BEHIND = "What {} has decided can't all be recorded yet, so it can't be copied: {}"


@click.command("backup")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def command(folder: Path) -> None:
    """Copy PostgreSQL to the new FOLDER, with all that was acknowledged until now.

    Pages and claims go on meanwhile. The ledger needs no copy: `fairseat restore` makes it anew
    from the event log. What the environment holds, such as SECRET_KEY, is not copied.
    """
    with connected() as parts:
        for number, name in named():
            _record(number, name)
        click.echo("All that was acknowledged is recorded. Copying PostgreSQL…")
        try:
            made = backup.make(parts.settings.database_url, folder)
        except (backup.BackupError, OSError) as wrong:
            raise click.ClickException(str(wrong)) from wrong
    for name, seq in made.events.items():
        click.echo(f"  {name}: until event {seq}")
    click.echo(f"{folder}: {made.size:,} bytes, checked.")


def _record(number: int, name: str) -> None:
    try:
        if not catch_up(number):
            raise click.ClickException(BEHIND.format(name, "PostgreSQL is too slow; try again."))
    except (JournalGap, UnknownEvent, LedgerUnavailable) as why:
        raise click.ClickException(BEHIND.format(name, why)) from why
