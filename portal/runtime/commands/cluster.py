"""`fairseat cluster`: the portal on this machine as it would run on several."""

import os

import click

from portal.core.settings import var_folder
from portal.runtime import demo_cluster, supervisor
from portal.runtime.command_context import TROUBLES
from portal.runtime.data_folder import DataFolder
from portal.runtime.demo_cluster import ClusterServers
from portal.runtime.listener import UpError
from portal.runtime.supervisor import supervise


@click.command("cluster")
@click.option("--pids", is_flag=True, help="Print each process of the one that runs, and its id.")
def command(pids: bool) -> None:  # noqa: FBT001  click's way
    """Start the portal with a ledger that has replicas and sentinels, and two web nodes.

    For rehearsals: kill what you like. Its data is in cluster/ of the data folder.
    """
    try:
        folder = DataFolder(var_folder() / "cluster")
        if pids:
            for name, pid in sorted(folder.pids().items()):
                click.echo(f"{name} {pid}")
            return
        os.environ["FAIRSEAT_VAR"] = str(folder.path)
        demo_cluster.haproxy_program()
        servers = ClusterServers(
            folder,
            database_url=os.environ.get("DATABASE_URL", ""),
            owner_url=os.environ.get("DATABASE_OWNER_URL", ""),
        )
        supervise(folder, servers, supervisor.clustered)
    except (*TROUBLES, UpError, OSError) as trouble:
        raise click.ClickException(str(trouble)) from trouble
