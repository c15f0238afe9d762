"""`fairseat clock`: what has to happen at a time."""

import click

from jobs.clock import run_clock
from portal.runtime.command_context import served


@click.command("clock")
def command() -> None:
    """Turn windows when they are due and call workers that were missed.

    For the portal that runs on the data folder, or for DATABASE_URL, REDIS_URL and SECRET_KEY.
    """
    with served():
        run_clock()
