"""`fairseat worker QUEUE`: do the jobs of one queue."""

import click

from jobs.worker import run_worker


@click.command("worker")
@click.argument("queue", type=click.Choice(["record", "promote", "maintain", "notify", "errands"]))
def command(queue: str) -> None:
    """Do the jobs of one queue until told to stop."""
    run_worker(queue)
