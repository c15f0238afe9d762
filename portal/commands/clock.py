"""`fairseat clock`: what has to happen at a time."""

import click

from jobs.clock import run_clock


@click.command("clock")
def command() -> None:
    """Turn windows when they are due and call workers that were missed."""
    run_clock()
