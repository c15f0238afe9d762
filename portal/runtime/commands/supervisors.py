"""Commands that supervise processes; they import little, so that they start fast."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import click

from portal.core.settings import Settings, SettingsError, var_folder
from portal.runtime import demo_cluster, restart
from portal.runtime.data_folder import DataFolder, FolderError, StartupError
from portal.runtime.embedded_servers import Servers
from portal.runtime.supervisor import Supervisor, owned, supervise

NEEDED = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY")


@contextmanager
def _errors_in_a_line() -> Iterator[None]:
    try:
        yield
    except (StartupError, SettingsError, OSError) as error:
        raise click.ClickException(str(error)) from error


@click.command("up")
def up_command() -> None:
    """Start the whole portal on this machine.

    Runs the servers, the web processes, the workers and the scheduler. Restarts any that exit.
    """
    with _errors_in_a_line():
        folder = DataFolder(var_folder())
        servers = Servers(
            folder,
            database_url=os.environ.get("DATABASE_URL", ""),
            owner_url=os.environ.get("DATABASE_OWNER_URL", ""),
            redis_url=os.environ.get("REDIS_URL", ""),
        )
        supervise(folder, servers)


@click.command("cluster")
@click.option("--pids", is_flag=True, help="Print the running cluster's processes with their ids.")
def cluster_command(pids: bool) -> None:  # noqa: FBT001  click's way
    """Start a demo of failover: replicas, sentinels and two web nodes.

    Kill any process and watch the others take over. The data is in cluster/ in the data folder.
    """
    with _errors_in_a_line():
        folder = DataFolder(var_folder() / "cluster")
        if pids:
            for name, pid in sorted(folder.pids().items()):
                click.echo(f"{name} {pid}")
            return
        os.environ["FAIRSEAT_VAR"] = str(folder.path)
        database, owner = (os.environ.get(f"DATABASE_{name}", "") for name in ("URL", "OWNER_URL"))
        demo_cluster.run_cluster(folder, database, owner)


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
    """Replace the portal's processes one by one, without downtime.

    Works with `fairseat up` and `fairseat cluster`. Each web server, worker and scheduler finishes
    its work first, and pages reconnect automatically. PostgreSQL and the ledger keep running. The
    command waits until the new processes serve. Exit status 1 if a web server does not start (the
    old processes then keep running), or if a part of the portal is missing.
    """
    with _errors_in_a_line():
        folder = DataFolder(var_folder())
        pid = folder.supervisor()
    before = restart.latest(folder.path)["id"]
    os.kill(pid, signal.SIGUSR1)
    if no_wait:
        click.echo("Restart requested.")
        return
    click.echo("Restarting the processes one by one.")
    try:
        for line in restart.follow(folder.path, before, alive=lambda: _supervises(pid, folder)):
            click.echo(line)
    except restart.RestartError as why:
        raise click.ClickException(str(why)) from why
    click.echo("Restarted.")


def _supervises(pid: int, folder: DataFolder) -> bool:
    try:
        return folder.supervisor() == pid
    except FolderError:
        return False
