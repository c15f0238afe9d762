"""`fairseat restart`: every process of the portal anew, and nobody turned away."""

import os
import signal

import click

from portal.config import var_folder
from portal.embedded.folder import Folder, FolderError


@click.command("restart")
def command() -> None:
    """Have `fairseat up`, or `cluster`, replace its web servers, workers and clocks.

    One after the other: what is in hand is done first, and pages connect again by themselves. The
    terminal of that command tells how it goes; PostgreSQL and the ledger are left alone.
    """
    try:
        pid = Folder(var_folder()).supervisor()
    except FolderError as trouble:
        raise click.ClickException(str(trouble)) from trouble
    os.kill(pid, signal.SIGUSR1)
    click.echo("Restarting.")
