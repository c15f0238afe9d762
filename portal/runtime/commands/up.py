"""`fairseat up`: the whole portal on this machine."""

import os

import click

from portal.core.settings import var_folder
from portal.runtime import supervisor
from portal.runtime.command_context import TROUBLES
from portal.runtime.data_folder import DataFolder
from portal.runtime.embedded_servers import Servers
from portal.runtime.listener import UpError
from portal.runtime.supervisor import supervise


@click.command("up")
def command() -> None:
    """Start the servers, the web, the workers and the clock, and keep them alive."""
    try:
        folder = DataFolder(var_folder())
        servers = Servers(
            folder,
            database_url=os.environ.get("DATABASE_URL", ""),
            owner_url=os.environ.get("DATABASE_OWNER_URL", ""),
            redis_url=os.environ.get("REDIS_URL", ""),
        )
        supervise(folder, servers, supervisor.alone)
    except (*TROUBLES, UpError, OSError) as trouble:
        raise click.ClickException(str(trouble)) from trouble
