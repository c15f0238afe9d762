"""`fairseat up`: the whole portal on this machine."""

import os

import click

from portal.core.settings import var_folder
from portal.embedded import Servers
from portal.embedded.folder import Folder
from portal.running import crews
from portal.running.door import UpError
from portal.running.troubles import TROUBLES
from portal.running.whole import supervise


@click.command("up")
def command() -> None:
    """Start the servers, the web, the workers and the clock, and keep them alive."""
    try:
        folder = Folder(var_folder())
        servers = Servers(
            folder,
            database_url=os.environ.get("DATABASE_URL", ""),
            owner_url=os.environ.get("DATABASE_OWNER_URL", ""),
            redis_url=os.environ.get("REDIS_URL", ""),
        )
        supervise(folder, servers, crews.alone)
    except (*TROUBLES, UpError, OSError) as trouble:
        raise click.ClickException(str(trouble)) from trouble
