"""Commands that supervise processes; they import little, so that they start fast."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from portal.core.settings import Settings, var_folder
from portal.runtime.data_folder import DataFolder, StartupError
from portal.runtime.embedded_servers import Servers
from portal.runtime.supervisor import Supervisor, owned, supervise

NEEDED = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY")
NO_RESTART = "`fairseat restart` works with `fairseat up` and `fairseat workers` only."
PATIENCE = 90.0  # seconds to wait for the next process


@contextmanager
def _errors_in_a_line() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise click.ClickException(str(error)) from error


@click.command("up")
def up_command() -> None:
    """Start the whole portal on this machine.

    Runs the servers, the web processes, the workers and the scheduler. Restarts any that exit.
    """
    with _errors_in_a_line():
        folder = DataFolder(var_folder())
        supervise(folder, Servers.from_environment(folder))


@click.command("workers")
def workers_command() -> None:
    """Run the scheduler, and as many workers as each queue needs.

    DATABASE_URL, REDIS_URL and SECRET_KEY must be the same as for the web nodes.
    """
    if missing := [name for name in NEEDED if not os.environ.get(name)]:
        raise click.ClickException(f"Set {', '.join(missing)} to the same values as the web nodes.")
    settings = Settings.read()
    with _errors_in_a_line():
        folder = DataFolder(var_folder())
        servers = Servers(folder, database_url=settings.database_url, redis_url=settings.redis_url)
        with owned(folder):
            Supervisor(folder, servers).run()


@click.command("restart")
@click.option("--no-wait", is_flag=True, help="Return at once; the portal's log has the result.")
def restart_command(*, no_wait: bool) -> None:
    """Replace the portal's own processes one by one, without downtime.

    Works with `fairseat up` and `fairseat workers`. Each process finishes its work first, and pages
    reconnect automatically. PostgreSQL and the ledger keep running. If the new web server does not
    start, nothing is replaced, and the exit status is 1.
    """
    with _errors_in_a_line():
        folder = DataFolder(var_folder())
        supervisor, before = folder.supervisor(), folder.pids()
        if "scheduler" not in before:
            raise StartupError(NO_RESTART)
        os.kill(supervisor, signal.SIGUSR1)
        if no_wait:
            click.echo("Restart requested.")
            return
        click.echo("Restarting the processes one by one.")
        for name in _replaced(folder, before):
            click.echo(name)
    click.echo("Restarted.")


def _replaced(folder: DataFolder, before: dict[str, int]) -> Iterator[str]:
    """Yield each replaced process, until the scheduler, which is the last; raise StartupError."""
    found: set[str] = set()
    deadline = time.monotonic() + PATIENCE
    while "scheduler" not in found:
        after = folder.pids()
        new = [name for name in before if after.get(name) != before[name] and name not in found]
        found.update(new)
        yield from new
        if new:
            deadline = time.monotonic() + PATIENCE
        if time.monotonic() > deadline:
            raise StartupError("The restart has stopped. The portal's own log says why.")
        time.sleep(0.2)
