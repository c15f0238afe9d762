"""`fairseat workers`: the workers of a portal, on a machine that has nothing else of it."""

import os

import click

from portal.core.settings import Settings, var_folder
from portal.embedded import Servers
from portal.embedded.folder import Folder
from portal.running import hands
from portal.running.door import UpError
from portal.running.troubles import TROUBLES

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
        folder = Folder(var_folder())
        servers = Servers(folder, database_url=settings.database_url, redis_url=settings.redis_url)
        hands.work(folder, servers)
    except (*TROUBLES, UpError) as trouble:
        raise click.ClickException(str(trouble)) from trouble
