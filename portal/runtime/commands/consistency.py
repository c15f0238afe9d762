"""`fairseat audit`: compare ledger, event log and read models."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import ProgressColumn as Column
from rich.text import Text

from portal.backend import backend
from portal.catalog.term_catalog import terms_named
from portal.core import schema
from portal.core.checkpoints import checkpoint
from portal.ledger.errors import LedgerUnavailable
from portal.recorder.consistency import audit_runs, fence, repair, restore
from portal.recorder.consistency.audit import LOST, UNREAD, Report, audit, audit_term
from portal.recorder.consistency.differences import Difference
from portal.recorder.consistency.fence import Changed
from portal.recorder.consistency.partial_audit import explain
from portal.recorder.consistency.repair import Cure, LogDamaged, cure, rebuild
from portal.recorder.consistency.restore import Plan
from portal.recorder.event_log import ProgressCallback
from portal.recorder.journal import last_seq
from portal.runtime.command_context import connected
from portal.runtime.commands.audit_trail import note

KINDS = "section", "student"


def aggregate(
    _context: click.Context, _option: click.Parameter, given: str | None
) -> tuple[str, int] | None:
    """Return the kind and number in a text such as `section:12`."""
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
def audit_command(term: str, whom: tuple[str, int] | None) -> None:
    """Compare ledger, event log and read models.

    The result is stored with the audits on the operations page, and sets or clears its alarm.
    Exit status 1 if they differ.
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


# `fairseat rebuild`: make the read models, or the ledger, again from the event log.

SIDES = "ledger", "read_model", "log"
SHOWN = 20  # differences that are printed
KEPT = 1000  # lost decisions listed in the audit trail
DAMAGED = (
    "The event log of {} is damaged, and nothing else tells what happened: {}. Bring these events"
    " back from a backup of PostgreSQL first. Nothing was changed."
)

FORGOTTEN = (
    "It has made {} decisions that were never recorded and don't follow from those that were. They"
    " will be forgotten, so whoever was told of them must be told otherwise:"
)
UNRECORDED = (
    "The ledger of {} knows of decisions that could not be recorded, and must not lose them: {}."
    " Nothing was changed."
)
UNLIKE = "{}: ledger, event log and read models don't all agree yet. Look with `fairseat repair`."
BROKEN_OFF = (
    "{} was not restored to its end: {}. While its fence stands nothing can be claimed: call it"
    " again."
)
STILL = (
    "{}: the ledger differs from the event log still, so nothing can be claimed yet. Call it again,"
    " or look with `fairseat audit`."
)


@click.group("rebuild")
def rebuild_command() -> None:
    """Make the read models or the ledger from the event log."""


@rebuild_command.command("record")
@click.option("--term", "name", default="", help="Only the term of that name.")
def record(name: str) -> None:
    """Make rosters, waitlists, counts and windows in PostgreSQL match the event log.

    Changes a term in full or not at all; pages and claims go on meanwhile.
    """
    with connected():
        for number, term in chosen(name):
            try:
                with bars() as tell:
                    rebuilt = rebuild(number, tell)
            except LogDamaged as damaged:
                raise click.ClickException(DAMAGED.format(term, damaged)) from damaged
            say(rebuilt.differences)
            found = len(rebuilt.differences)
            note("record.rebuilt", f"term:{number}", {"events": rebuilt.events, "changed": found})
            click.echo(f"{term}: {rebuilt.events} events replayed, {found} rows were different.")
            _compare(number, term)


def _compare(number: int, term: str) -> None:
    """Print whether all agree now; store the audit, which sets or clears the alarm."""
    with bars() as tell:
        report = audit_term(number, tell)
    audit_runs.keep(number, report)
    if not report["clean"]:
        click.echo(UNLIKE.format(term))


@rebuild_command.command("ledger")
@click.option("--term", "names", multiple=True, help="The term of that name; may be repeated.")
@click.option("--all", "every", is_flag=True, help="Every term, also where nothing is wrong.")
@click.option("--yes", is_flag=True, help="Do it; else it is only said what would be done.")
def ledger(names: tuple[str, ...], *, every: bool, yes: bool) -> None:
    """Make the ledger match the event log again, where it has lost something.

    Without --term or --all: the terms whose ledger is fenced, lost decisions or differs from the
    log. Such a term accepts no claims meanwhile. Afterwards an audit checks it; the term opens
    again only if all is well.
    """
    with connected():
        named_terms = [term for name in names for term in chosen(name)]
        found = 0
        for number, term in named_terms or chosen(""):
            if named_terms or every or _needs_rebuild(number, term):
                ledger_anew(number, term, yes=yes)
                found += 1
    if not found:
        click.echo("Nothing to rebuild. With --all every term is rebuilt all the same.")
    elif not yes:
        click.echo("This was a dry run: nothing was changed. With --yes it is done.")


def _needs_rebuild(number: int, term: str) -> bool:
    """Print and return whether the term's ledger must be rebuilt, and print why."""
    try:
        why = _wrong(number)
    except LedgerUnavailable as error:
        raise click.ClickException(f"The ledger can't be asked: {error}.") from error
    click.echo(f"{term}: {why or 'the ledger agrees with the event log'}.")
    return bool(why)


def _wrong(number: int) -> str:
    """Return why the ledger of a term must be rebuilt; "" if it is right."""
    if fenced := fence.why(number):
        return f"fenced, as {fenced}"
    if last_seq(number) < checkpoint(number):
        return "the ledger has lost recorded decisions"
    with bars() as tell:
        report = audit_term(number, tell)
    audit_runs.keep(number, report)
    # Differences in the read models only are for `rebuild record`.
    count = sum("read_model" not in each for each in report["differences"])
    return f"the ledger or its journal differs from the event log, {count} times" if count else ""


def ledger_anew(number: int, term: str, *, yes: bool) -> None:
    """Print what the ledger will hold and what it will lose; with `yes`, do it."""
    try:
        with bars() as tell:
            planned = restore.plan(number, tell)
        say_plan(term, planned)
        if yes:
            restore_term(number, term, planned)
    except LogDamaged as damaged:
        raise click.ClickException(DAMAGED.format(term, damaged)) from damaged
    except restore.Unrecorded as why:
        raise click.ClickException(UNRECORDED.format(term, why)) from why
    except restore.Busy as busy:
        raise click.ClickException(f"{term} is being restored by somebody else.") from busy
    except (Changed, LedgerUnavailable) as why:
        raise click.ClickException(BROKEN_OFF.format(term, why)) from why


def say_plan(term: str, planned: Plan) -> None:
    """Print what will be there, and what will be lost."""
    click.echo(f"{term}: as of event {planned.seq} the ledger is to hold:")
    for what, count in planned.holds.items():
        click.echo(f"  {count:>9,}  {what}")
    if planned.lost:
        click.echo(FORGOTTEN.format(len(planned.lost)))
        for fact in planned.lost[:SHOWN]:
            whom = fact.payload.get("student", "-")
            click.echo(f"  event {fact.seq}: {fact.name}, {fact.aggregate}, student {whom}")


def restore_term(number: int, term: str, planned: Plan) -> None:
    """Execute the plan, add it to the audit trail, and print the result."""
    with bars() as tell:
        restored = restore.restore(number, tell)
    lost = [[fact.seq, fact.name, fact.payload] for fact in restored.lost[:KEPT]]
    told = {"event": planned.seq, "holds": planned.holds, "forgotten": lost}
    note("ledger.rebuilt", f"term:{number}", told)
    audit_runs.keep(number, restored.report)
    say(restored.report["differences"])
    if not restored.report["clean"]:
        raise click.ClickException(STILL.format(term))
    click.echo(f"{term}: the ledger agrees with the event log, and seats can be claimed again.")


def chosen(name: str) -> list[tuple[int, str]]:
    """Return the term of that name, or all; raise BadParameter for an unknown name."""
    try:
        return terms_named(name)
    except LookupError as error:
        raise click.BadParameter(str(error.args[0]), param_hint="--term") from error


def say(differences: list[Difference]) -> None:
    """Print the first differences, one per line."""
    for each in differences[:SHOWN]:
        click.echo(f"  {each['where']}, {each['what']}: {'; '.join(_told(each))}".rstrip(": "))
    if len(differences) > SHOWN:
        click.echo(f"  … and {len(differences) - SHOWN} more")


def _told(difference: Difference) -> list[str]:
    """Return each side's data; of two rows, only the fields that differ."""
    sides = {who: difference[who] for who in SIDES if who in difference}
    rows = list(sides.values())
    if rows and all(isinstance(row, dict) for row in rows):
        alike = {name for name in rows[0] if all(row.get(name) == rows[0][name] for row in rows)}
        sides = {
            who: {name: value for name, value in row.items() if name not in alike}
            for who, row in sides.items()
        }
    return [f"{who.replace('_', ' ')} {told}" for who, told in sides.items()]


# `fairseat repair`: repair differences between ledger, event log and read models.

ALTERED = (
    "The event log of {} was altered or has lost events, and all else follows from it. Bring these"
    " events back from a backup of PostgreSQL: restore it beside this one, there"
    ' `psql -At -c "SELECT row_to_json(e) FROM events e" > events.jsonl`, here'
    " `fairseat repair --events events.jsonl`."
)


UNRECORDED_REPAIR = (
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
def repair_command(name: str, backup: Path | None, *, yes: bool) -> None:
    """Show differences, and repair them with --yes.

    Only repeated differences are repaired, and none while decisions wait to be recorded. Exit
    status 1 if something still needs repair.
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
    """Repair a term; return whether all is well in the end."""
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
    """Return the audit, repeated if anything differs; store it."""
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
    """Raise ClickException if events must be recorded first."""
    what = {each["where"]: each["what"] for each in report["differences"]}
    if report["unrecorded"] and LOST not in what:  # which can no longer be recorded
        why = f" It says: {what[UNREAD]}." if UNREAD in what else ""
        raise click.ClickException(UNRECORDED_REPAIR.format(report["unrecorded"], term, why))


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


# Progress bars for long work, on standard error: done, rate, time left.


class Rate(Column):
    """Steps per second."""

    def render(self, task: Task) -> Text:
        """Return the rate, blank until it is known."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


@contextmanager
def bars() -> Iterator[ProgressCallback]:
    """Show a progress bar for each step of the block."""
    known: dict[str, TaskID] = {}
    columns = (
        TextColumn("{task.description:12}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:

        def tell(step: str, done: int, of: int) -> None:
            if step not in known:
                known[step] = progress.add_task(step, total=of)
            progress.update(known[step], completed=done, total=of)

        yield tell
