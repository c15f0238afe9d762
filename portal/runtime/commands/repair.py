"""`fairseat repair`: what differs between ledger, event log and read models, mended."""

from pathlib import Path

import click

from portal.backend import backend
from portal.core import schema
from portal.recorder.consistency import audit_runs, repair
from portal.recorder.consistency.audit import LOST, UNREAD, Report, audit_term
from portal.recorder.consistency.repair import Cure, cure, rebuild
from portal.runtime.command_context import connected
from portal.runtime.commands.noting import note
from portal.runtime.commands.progress import bars
from portal.runtime.commands.rebuild import KEPT, chosen, ledger_anew, say

ALTERED = (
    "The event log of {} was altered or has lost events, and all else follows from it. Bring these"
    " events back from a backup of PostgreSQL: restore it beside this one, there"
    ' `psql -At -c "SELECT row_to_json(e) FROM events e" > events.jsonl`, here'
    " `fairseat repair --events events.jsonl`."
)


UNRECORDED = (
    "{} decisions of {} are in the journal of its ledger alone, so what differs can't be told yet,"
    " and nothing of it is mended. See that a recorder runs (`fairseat worker record`) and gets on"
    " (`fairseat jobs` says what stops it), then call it again.{}"
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

    Only what differs twice is mended, and nothing while decisions wait to be recorded. Exit status
    1 where something is still to be mended.
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
    with schema.as_owner(backend().settings.owner_url) as session:
        found = repair.unlike(session, number, rows)
        click.echo(f"{term}: {len(found)} events are lost or altered: {_listed(found)}")
        if found and yes:
            repair.bring_back(session, number, rows)
    if found and yes:
        note("log.repaired", f"term:{number}", {"events": found[:KEPT]})


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:20])) + (" …" if len(numbers) > 20 else "")


def _mend(number: int, term: str, *, yes: bool) -> bool:
    """Whether all is well in the end."""
    report = _looked_at(number)
    _refuse_unrecorded(term, report)
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
    clean = _looked_at(number)["clean"]
    note("record.repaired", f"term:{number}", {"differences": report["differences"][:KEPT]})
    click.echo(f"{term}: {'all is well' if clean else 'not all agrees yet: look again'}.")
    return bool(clean)


def _looked_at(number: int) -> Report:
    """What differs, twice where anything does; kept among the audits."""
    with bars() as tell:
        report = audit_term(number, tell)
    if report["differences"]:
        with bars() as tell:
            again = audit_term(number, tell)
        found = repair.twice(report["differences"], again["differences"])
        report = again | {"differences": found, "clean": not found and not again["unrecorded"]}
    audit_runs.keep(number, report)
    return report


def _refuse_unrecorded(term: str, report: Report) -> None:
    """Raise ClickException where there is something to be recorded first."""
    what = {each["where"]: each["what"] for each in report["differences"]}
    if report["unrecorded"] and LOST not in what:  # which nobody can record any more
        why = f" It says: {what[UNREAD]}." if UNREAD in what else ""
        raise click.ClickException(UNRECORDED.format(report["unrecorded"], term, why))


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
