"""`fairseat export FILE.zip`: everything as OneRoster 1.2 files."""

from pathlib import Path

import click

from portal.exports.oneroster import write_oneroster
from portal.running.surroundings import connected


@click.command("export")
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
def command(target: Path) -> None:
    """Write everything to the zip TARGET, which imported again changes nothing."""
    with connected():
        try:
            with target.open("xb") as out:
                write_oneroster(out)
        except OSError as error:
            raise click.ClickException(f"{target} can't be written: {error.strerror}.") from error
    click.echo(f"Exported to {target}.")
