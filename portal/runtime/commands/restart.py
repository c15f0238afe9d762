"""`fairseat restart`: every process of the portal anew, and nobody turned away."""

import os
import signal

import click

from portal.core.settings import var_folder
from portal.runtime import restart
from portal.runtime.data_folder import DataFolder, FolderError


@click.command("restart")
@click.option("--no-wait", is_flag=True, help="Return at once; the log of the portal tells more.")
def command(*, no_wait: bool) -> None:
    """Have `fairseat up`, or `cluster`, replace its web servers, workers and clocks.

    One after the other: what is in hand is done first, and pages connect again by themselves.
    PostgreSQL and the ledger are left alone. Waits until the new processes serve; ends with status
    1 where a web server does not start, as then the old processes go on, or something is missing.
    """
    try:
        folder = DataFolder(var_folder())
        pid = folder.supervisor()
    except FolderError as trouble:
        raise click.ClickException(str(trouble)) from trouble
    before = restart.latest(folder.path)
    os.kill(pid, signal.SIGUSR1)
    if no_wait:
        click.echo("Asked for a restart.")
        return
    click.echo("Restarting one process after the other.")
    try:
        for line in restart.follow(folder.path, before, alive=lambda: _alive(folder, pid)):
            click.echo(line)
    except restart.RestartError as why:
        raise click.ClickException(str(why)) from why
    click.echo("Restarted.")


def _alive(folder: DataFolder, pid: int) -> bool:
    """Whether that process runs, and looks after the folder."""
    try:
        return folder.supervisor() == pid
    except FolderError:
        return False
