"""`fairseat up`: the whole portal on this machine."""

import os

import click

from portal.config import var_folder
from portal.door import UpError, open_door
from portal.embedded.folder import Folder
from portal.supervisor import Supervisor
from portal.surroundings import TROUBLES


@click.command("up")
def command() -> None:
    """Start the servers, the web, the workers and the clock, and keep them alive."""
    try:
        _up(Folder(var_folder()))
    except (*TROUBLES, UpError) as trouble:
        raise click.ClickException(str(trouble)) from trouble


def _up(folder: Folder) -> None:
    run = folder.own()
    if run:
        raise UpError(f"Fairseat already runs on {folder.path}: {run.address}")
    try:
        # The web server of an owner that was killed needs a moment to leave the port.
        patience = 15.0 if folder.abandoned else 0.0
        door = open_door(os.environ.get("HOST") or "127.0.0.1", _port(), patience)
        Supervisor(folder, door).run()
    finally:
        folder.release()


def _port() -> int:
    given = os.environ.get("PORT") or "8000"
    if not given.isdecimal() or not 0 < int(given) < 65536:
        raise UpError(f"PORT={given} is not a port: choose one between 1 and 65535.")
    return int(given)
