"""`fairseat audit`: whether ledger, event log and read models tell the same."""

import json

import click

from portal.record.audit import audit
from portal.surroundings import connected


@click.command("audit")
@click.option("--term", default="", help="Only the term of that name.")
def command(term: str) -> None:
    """Compare ledger, event log and read models; exit status 1 where they differ."""
    with connected():
        try:
            report = audit(term)
        except LookupError as error:
            raise click.BadParameter(str(error.args[0]), param_hint="--term") from error
    click.echo(json.dumps(report, indent=2))
    raise SystemExit(not report["clean"])
