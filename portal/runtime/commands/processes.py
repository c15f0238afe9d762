"""Commands of one process each: prepare the servers, work for a queue, or run the scheduler."""

import os
from datetime import timedelta
from importlib import import_module

import click

from portal import backend, subscribers
from portal.catalog.term_catalog import live_terms
from portal.core import logs, metrics, resources, schema, traces, worker
from portal.core.queue import QUEUES
from portal.core.settings import Settings, var_folder
from portal.exchange import demo
from portal.exchange.demo import applications
from portal.ledger.errors import LedgerBehind
from portal.operations import scheduler
from portal.runtime.command_context import served
from portal.runtime.data_folder import DataFolder
from portal.windows.warmup import warm_up

LOST = (
    "The ledger has lost decisions of {} that PostgreSQL has recorded. It could assign seats twice."
    " Restore its data (valkey/ in the data folder, or the Redis of REDIS_URL), or rebuild it from"
    " the event log: `fairseat rebuild ledger`."
)


@click.command("prepare")
def prepare_command() -> None:
    """Migrate the database, and fill the ledger.

    If the database is empty, create the demo semester, unless FAIRSEAT_DEMO is 0.

    Uses the portal that runs on the data folder, or DATABASE_URL, REDIS_URL and SECRET_KEY.
    """
    with served(owner=True):
        _prepare(Settings.read())
    click.echo("All sections are in the ledger.")


def _prepare(settings: Settings) -> None:
    if schema.ahead(settings.owner_url):
        click.echo("A newer version has already migrated the database. This version works with it.")
    else:
        schema.upgrade(settings.owner_url, portal=settings.database_url)
        click.echo("The database is up to date.")
    backend.connect(settings)
    _demo()
    for term in live_terms():
        try:
            warm_up(term.id)
        except LedgerBehind as error:
            raise click.ClickException(LOST.format(term.name)) from error


def _demo() -> None:
    """Create the demo semester if no account exists and FAIRSEAT_DEMO is not 0."""
    if os.environ.get("FAIRSEAT_DEMO") == "0" or demo.exists():
        return
    term = demo.create(DataFolder(var_folder()).secret("demo-password", 9), timedelta(minutes=2))
    if term is not None:
        applications.create(term)
    click.echo("Created the demo semester.")


@click.command("worker")
@click.argument("queue", type=click.Choice(QUEUES))
def worker_command(queue: str) -> None:
    """Run the jobs of one queue.

    Uses the portal that runs on the data folder, or DATABASE_URL, REDIS_URL and SECRET_KEY.
    """
    with served():
        settings = _begin(queue)
        import_module(f"jobs.{queue}")  # now, so that the first job is as fast as the others
        resources.collect_seldom()
        worker.work(queue, settings.queue_url)


@click.command("scheduler")
def scheduler_command() -> None:
    """Run the scheduler, which opens windows on time.

    It also enqueues missed work. If several schedulers run, only one acts.

    Uses the portal that runs on the data folder, or DATABASE_URL, REDIS_URL and SECRET_KEY.
    """
    with served():
        _begin("scheduler")
        scheduler.run()


def _begin(kind: str) -> Settings:
    """Prepare this process for jobs or timed work, and return the settings."""
    logs.begin(kind)
    metrics.begin(kind)
    traces.begin(kind)
    settings = Settings.read()
    connected = backend.connect(settings)
    resources.watch(kind, connected.engine, connected.ledger.servers)
    subscribers.connect()
    return settings
