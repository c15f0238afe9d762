"""`fairseat cluster`: the portal on this machine as it would run on several."""

import os

import click

from portal.core.settings import var_folder
from portal.embedded import balancer
from portal.embedded.cluster import ClusterServers
from portal.embedded.folder import Folder
from portal.running import crews
from portal.running.door import UpError
from portal.running.troubles import TROUBLES
from portal.running.whole import supervise


@click.command("cluster")
@click.option("--pids", is_flag=True, help="Print each process of the one that runs, and its id.")
def command(pids: bool) -> None:  # noqa: FBT001  click's way
    """Start the portal with a ledger that has replicas and sentinels, and two web nodes.

    For rehearsals: kill what you like. Its data is in cluster/ of the data folder.
    """
    try:
        folder = Folder(var_folder() / "cluster")
        if pids:
            for name, pid in sorted(folder.pids().items()):
                click.echo(f"{name} {pid}")
            return
        os.environ["FAIRSEAT_VAR"] = str(folder.path)
        balancer.program()
        servers = ClusterServers(
            folder,
            database_url=os.environ.get("DATABASE_URL", ""),
            owner_url=os.environ.get("DATABASE_OWNER_URL", ""),
        )
        supervise(folder, servers, crews.clustered)
    except (*TROUBLES, UpError, OSError) as trouble:
        raise click.ClickException(str(trouble)) from trouble
