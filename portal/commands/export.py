"""`fairseat export FILE.zip`: everything as OneRoster 1.2 files."""

from pathlib import Path
from typing import BinaryIO

import click

from portal.exports.oneroster import write_oneroster
from portal.private import owner_only
from portal.running.surroundings import connected


@click.command("export")
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
def command(target: Path) -> None:
    """Write everything to the zip TARGET, which imported again changes nothing."""
    with connected():
        try:
            with open(target, "xb", opener=owner_only) as out:
                _write(out, target)
        except OSError as error:
            raise click.ClickException(f"{target} can't be written: {error.strerror}.") from error
    click.echo(f"Exported to {target}.")


def _write(out: BinaryIO, target: Path) -> None:
    """Write all of it, or leave nothing behind."""
    try:
        write_oneroster(out)
    except BaseException:
        target.unlink()
        raise
