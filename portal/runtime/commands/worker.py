"""`fairseat worker QUEUE`: do the jobs of one queue."""

import click

from jobs.worker import run_worker
from portal.runtime.command_context import served


@click.command("worker")
@click.argument("queue", type=click.Choice(["record", "promote", "maintain", "notify", "errands"]))
def command(queue: str) -> None:
    """Do the jobs of one queue until told to stop.

    For the portal that runs on the data folder, or for DATABASE_URL, REDIS_URL and SECRET_KEY.
    """
    with served():
        run_worker(queue)
