"""`fairseat repair`: what differs between ledger, event log and read models, mended."""

from pathlib import Path

import click

from portal.commands.noting import note
from portal.commands.progress import bars
from portal.commands.rebuild import KEPT, chosen, ledger_anew, say
from portal.db import transaction
from portal.record import mending
from portal.record.audit import audit_term
from portal.record.mending import Cure, cure
from portal.record.rebuild import rebuild
from portal.running.surroundings import connected

ALTERED = (
    "The event log of {} was altered or has lost events, and all else follows from it. Bring these"
    " events back from a backup of PostgreSQL: restore it beside this one, there"
    ' `psql -At -c "SELECT row_to_json(e) FROM events e" > events.jsonl`, here'
    " `fairseat repair --events events.jsonl`."
)


@click.command("repair")
@click.option("--term", "name", default="", help="Only the term of that name.")
@click.option(
    "--events",
    "backup",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Events out of a backup, a line of JSON each, for those that were lost or altered.",
)
@click.option("--yes", is_flag=True, help="Do it; else it is only said what would be done.")
def command(name: str, backup: Path | None, *, yes: bool) -> None:
    """Say what differs in each term and how it is mended; with --yes mend it.

    Exit status 1 where something is still to be mended.
    """
    left = False
    with connected():
        for number, term in chosen(name):
            if backup:
                _bring_back(number, term, backup.read_text(encoding="utf-8").splitlines(), yes=yes)
            left = not _mend(number, term, yes=yes) or left
    if left and not yes:
        click.echo("This was a dry run: nothing was changed. With --yes it is done.")
    raise SystemExit(left)


def _bring_back(number: int, term: str, rows: list[str], *, yes: bool) -> None:
    with transaction() as session:
        found = mending.unlike(session, number, rows)
        click.echo(f"{term}: {len(found)} events are lost or altered: {_listed(found)}")
        if found and yes:
            mending.bring_back(session, number, rows)
    if found and yes:
        note("log.repaired", f"term:{number}", {"events": found[:KEPT]})


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:20])) + (" …" if len(numbers) > 20 else "")


def _mend(number: int, term: str, *, yes: bool) -> bool:
    """Whether all is well in the end."""
    with bars() as tell:
        report = audit_term(number, tell)
    if report["clean"]:
        click.echo(f"{term}: nothing differs in {report['events']} events.")
        return True
    found = cure(report["differences"])
    _say(term, found)
    if found.log:
        return False
    if found.record and yes:
        with bars() as tell:
            rebuild(number, tell)
    if found.ledger:
        ledger_anew(number, term, yes=yes)
    if not yes:
        return False
    with bars() as tell:
        clean = audit_term(number, tell)["clean"]
    note("record.repaired", f"term:{number}", {"differences": report["differences"][:KEPT]})
    click.echo(f"{term}: {'all is well' if clean else 'something differs still: look again'}.")
    return bool(clean)


def _say(term: str, found: Cure) -> None:
    if found.log:
        click.echo(ALTERED.format(term))
        say(found.log)
    if found.record:
        click.echo(f"{term}: rows of the read models are to be written anew from the event log:")
        say(found.record)
    if found.ledger:
        click.echo(
            f"{term}: the ledger is to be made anew from the event log; nothing can be claimed"
            " for that time:"
        )
        say(found.ledger)
