"""`fairseat export FILE.zip`: everything as OneRoster 1.2 files."""

from pathlib import Path
from typing import BinaryIO

import click

from portal.core.private_files import owner_only
from portal.exchange.exporting.oneroster import write_oneroster
from portal.recorder.recorder import record_all
from portal.runtime.command_context import connected, portal


@click.command("export")
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
def export_command(target: Path) -> None:
    """Export all data to the zip file TARGET, as OneRoster 1.2 files.

    Importing the file again changes nothing.

    The command records the ledger's decisions first. Exit status 1 if some can't be recorded: the
    file lacks them, and standard error lists them.
    """
    click.echo(f"Exporting from {portal()}.", err=True)
    with connected():
        missing = list(record_all())
        try:
            with open(target, "xb", opener=owner_only) as out:
                _write(out, target)
        except OSError as error:
            raise click.ClickException(f"Can't write {target}: {error.strerror}.") from error
    click.echo(f"Exported to {target}.")
    for each in missing:
        click.echo(f"NOT in the file: {each}", err=True)
    raise SystemExit(bool(missing))


def _write(out: BinaryIO, target: Path) -> None:
    """Write all of it, or leave nothing behind."""
    try:
        write_oneroster(out)
    except BaseException:
        target.unlink()
        raise
