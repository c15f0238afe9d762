"""`fairseat audit`: whether ledger, event log and read models tell the same."""

import json

import click

from portal.catalog.term_catalog import terms_named
from portal.recorder.consistency import audit_runs
from portal.recorder.consistency.audit import audit
from portal.recorder.consistency.explain import explain
from portal.runtime.command_context import connected

KINDS = "section", "student"


def aggregate(
    _context: click.Context, _option: click.Parameter, given: str | None
) -> tuple[str, int] | None:
    """The kind and number in a text such as `section:12`."""
    kind, _, number = (given or "").partition(":")
    if given and not (kind in KINDS and number.isdecimal()):
        raise click.BadParameter(f"{given!r} is neither section:NUMBER nor student:NUMBER.")
    return (kind, int(number)) if given else None


@click.command("audit")
@click.option("--term", default="", help="Only the term of that name.")
@click.option(
    "--explain",
    "whom",
    callback=aggregate,
    help="Instead tell of section:NUMBER or student:NUMBER, event by event.",
)
def command(term: str, whom: tuple[str, int] | None) -> None:
    """Compare ledger, event log and read models; exit status 1 where they differ.

    It is kept among the audits that the operations page shows, which its alarm follows.
    """
    with connected():
        if whom:
            _explain(term, *whom)
        try:
            report = audit(term, audit_runs.keep)
        except LookupError as error:
            raise click.BadParameter(str(error.args[0]), param_hint="--term") from error
    click.echo(json.dumps(report, indent=2))
    for each in report["terms"]:
        if each["unrecorded"]:
            click.echo(f"{each['term']}: {audit_runs.BEHIND.format(each['unrecorded'])}", err=True)
    raise SystemExit(not report["clean"])


def _explain(name: str, kind: str, number: int) -> None:
    differs = False
    for term, called in terms_named(name):
        lines = list(explain(term, kind, number))
        if lines:
            click.echo(f"{called}, {kind} {number}:")
        for line in lines:
            click.echo(line)
            differs = differs or line.startswith(("DIFFERS", "UNKNOWN"))
    raise SystemExit(differs)
