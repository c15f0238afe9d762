"""`fairseat workers`: the workers of a portal, on a machine that has nothing else of it."""

import os

import click

from portal.core.settings import Settings, var_folder
from portal.runtime import worker_host
from portal.runtime.command_context import TROUBLES
from portal.runtime.data_folder import DataFolder
from portal.runtime.embedded_servers import Servers
from portal.runtime.listener import UpError

NEEDED = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY")
MISSING = "Without {}: set what the portal has that they are to work for."


@click.command("workers")
def command() -> None:
    """Start workers of every queue and a clock, as many as there is work for, until told to stop.

    For DATABASE_URL and REDIS_URL, with the SECRET_KEY of the web nodes.
    """
    if missing := [name for name in NEEDED if not os.environ.get(name)]:
        raise click.ClickException(MISSING.format(", ".join(missing)))
    settings = Settings.read()
    try:
        folder = DataFolder(var_folder())
        servers = Servers(folder, database_url=settings.database_url, redis_url=settings.redis_url)
        worker_host.work(folder, servers)
    except (*TROUBLES, UpError) as trouble:
        raise click.ClickException(str(trouble)) from trouble
