"""`fairseat audit`, `rebuild` and `repair`: compare ledger, log and read models; repair them."""

import json
from pathlib import Path

import click

from portal.backend import backend
from portal.catalog.term_catalog import terms_named
from portal.core import schema
from portal.core.errors import CommandError
from portal.ledger.errors import LedgerUnavailable
from portal.recorder.consistency import audit_runs, repair, restore
from portal.recorder.consistency.audit import (
    JOURNAL_LOST,
    UNREADABLE_ENTRY,
    Report,
    audit,
    audit_term,
)
from portal.recorder.consistency.differences import Difference
from portal.recorder.consistency.fence import Changed
from portal.recorder.consistency.partial_audit import explain
from portal.recorder.consistency.repair import LogDamaged, rebuild, repairs
from portal.recorder.consistency.restore import Plan
from portal.runtime.command_context import connected
from portal.runtime.commands.common import note, progress_bars

KINDS = "section", "student"
SIDES = "ledger", "read_model", "log"
SHOWN = 20  # differences that are printed
KEPT = 1000  # lost decisions listed in the audit trail
DRY_RUN = "This was a dry run: nothing was changed. Use --yes to apply the changes."
DAMAGED = (
    "The event log of {} is damaged: {}. Restore these events from a backup of PostgreSQL first."
    " Nothing was changed."
)
FORGOTTEN = (
    "The ledger made {} decisions that were never recorded and don't follow from the recorded ones."
    " They will be discarded. Inform the students concerned:"
)
UNRECORDED = (
    "The ledger of {} has decisions that could not be recorded yet and must not be lost: {}."
    " Nothing was changed."
)
UNLIKE = "{}: ledger, event log and read models still differ. See `fairseat repair`."
BROKEN_OFF = (
    "The restore of {} did not finish: {}. Students can't register until it does. Run the command"
    " again."
)
STILL = (
    "{}: the ledger still differs from the event log, so students can't register yet. Run the"
    " command again, or see `fairseat audit`."
)
ALTERED = (
    "The event log of {} was altered or has lost events. Restore these events from a backup of"
    " PostgreSQL: load the backup into another database, run"
    ' `psql -At -c "SELECT row_to_json(e) FROM events e" > events.jsonl` there, then run'
    " `fairseat repair --events events.jsonl` here."
)
UNRECORDED_REPAIR = (
    "{} decisions of {} are not recorded yet, so differences can't be found or repaired. Make"
    " sure that a recorder runs (`fairseat worker record`) and makes progress (`fairseat jobs`"
    " shows what stops it), then run the command again.{}"
)
REWRITTEN = "{}: these rows of the read models must be rebuilt from the event log:"
REMADE = "{}: the ledger must be rebuilt from the event log. Students can't register meanwhile:"


def aggregate(
    _context: click.Context, _option: click.Parameter, given: str | None
) -> tuple[str, int] | None:
    """Return the kind and number in a text such as `section:12`."""
    kind, _, number = (given or "").partition(":")
    if given and not (kind in KINDS and number.isdecimal()):
        raise click.BadParameter(f"{given!r} is neither section:NUMBER nor student:NUMBER.")
    return (kind, int(number)) if given else None


@click.command("audit")
@click.option("--term", default="", help="Only the term with this name.")
@click.option(
    "--explain",
    "explained",
    callback=aggregate,
    help="Print each event of section:NUMBER or student:NUMBER instead.",
)
def audit_command(term: str, explained: tuple[str, int] | None) -> None:
    """Compare ledger, event log and read models.

    The result is stored with the audits on the operations page, and sets or clears its alarm.
    Exit status 1 if they differ.
    """
    with connected():
        chosen(term)
        if explained:
            _explain(term, *explained)
        report = audit(term, audit_runs.store)
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
            click.echo("\n".join([f"{called}, {kind} {number}:", *lines]))
        differs = differs or any(line.startswith(("DIFFERS", "UNKNOWN")) for line in lines)
    raise SystemExit(differs)


@click.group("rebuild")
def rebuild_command() -> None:
    """Rebuild the read models, or restore the ledger, from the event log."""


@rebuild_command.command("record")
@click.option("--term", "name", default="", help="Only the term with this name.")
def record(name: str) -> None:
    """Rebuild rosters, waitlists, counts and windows in PostgreSQL from the event log.

    Each term is rebuilt completely or not at all. Pages and registration continue meanwhile.
    """
    with connected():
        for number, term in chosen(name):
            try:
                with progress_bars() as show:
                    rebuilt = rebuild(number, show)
            except LogDamaged as damaged:
                raise click.ClickException(DAMAGED.format(term, damaged)) from damaged
            print_differences(rebuilt.differences)
            found = len(rebuilt.differences)
            note("record.rebuilt", f"term:{number}", {"events": rebuilt.events, "changed": found})
            click.echo(f"{term}: {rebuilt.events} events replayed, {found} rows were different.")
            if not _audited(number)["clean"]:
                click.echo(UNLIKE.format(term))


@rebuild_command.command("ledger")
@click.option("--term", "names", multiple=True, help="The term with this name; can be repeated.")
@click.option("--all", "every", is_flag=True, help="Every term, even if nothing is wrong.")
@click.option("--yes", is_flag=True, help="Apply the changes; without it, only print them.")
def ledger(names: tuple[str, ...], *, every: bool, yes: bool) -> None:
    """Restore a damaged ledger from the event log.

    Without --term or --all: the terms whose ledger is fenced, has lost decisions or differs from
    the log. Students can't register in these terms meanwhile. Then an audit checks each term.
    Students can register again if it finds no difference.
    """
    with connected():
        named_terms = [term for name in names for term in chosen(name)]
        found = 0
        for number, term in named_terms or chosen(""):
            if named_terms or every or _needs_rebuild(number, term):
                rebuild_ledger(number, term, yes=yes)
                found += 1
    if not found:
        click.echo("Nothing to rebuild. Use --all to rebuild every term anyway.")
    elif not yes:
        click.echo(DRY_RUN)


def _needs_rebuild(number: int, term: str) -> bool:
    """Return whether the term's ledger must be rebuilt, and print why."""
    try:
        why = restore.why_needed(number)
        if not why:
            # Differences in the read models only are for `rebuild record`.
            differences = _audited(number)["differences"]
            if count := sum("read_model" not in each for each in differences):
                why = f"the audit found {count} differences between ledger, journal and event log"
    except LedgerUnavailable as error:
        raise click.ClickException(f"The ledger does not respond: {error}.") from error
    click.echo(f"{term}: {why or 'the ledger matches the event log'}.")
    return bool(why)


def rebuild_ledger(number: int, term: str, *, yes: bool) -> None:
    """Print what the ledger will hold and what it will lose; with `yes`, do it."""
    try:
        planned = print_plan(number, term)
        if yes:
            restore_term(number, term, planned)
    except LogDamaged as damaged:
        raise click.ClickException(DAMAGED.format(term, damaged)) from damaged
    except restore.Unrecorded as why:
        raise click.ClickException(UNRECORDED.format(term, why)) from why
    except restore.Busy as busy:
        raise click.ClickException(f"Someone else is restoring {term}.") from busy
    except (Changed, LedgerUnavailable) as why:
        raise click.ClickException(BROKEN_OFF.format(term, why)) from why


def print_plan(number: int, term: str) -> Plan:
    """Print and return what a restored ledger will hold, and what will be lost."""
    with progress_bars() as show:
        planned = restore.plan(number, show)
    click.echo(f"{term}: at event {planned.seq}, the ledger will have:")
    for what, count in planned.contents.items():
        click.echo(f"  {count:>9,}  {what}")
    if planned.lost:
        click.echo(FORGOTTEN.format(len(planned.lost)))
        for event in planned.lost[:SHOWN]:
            student = event.payload.get("student", "-")
            click.echo(f"  event {event.seq}: {event.name}, {event.aggregate}, student {student}")
    return planned


def restore_term(number: int, term: str, planned: Plan) -> None:
    """Execute the plan, add it to the audit trail, and print the result."""
    with progress_bars() as show:
        restored = restore.restore(number, show)
    lost = [[event.seq, event.name, event.payload] for event in restored.lost[:KEPT]]
    facts = {"event": planned.seq, "holds": planned.contents, "forgotten": lost}
    note("ledger.rebuilt", f"term:{number}", facts)
    audit_runs.store(number, restored.report)
    print_differences(restored.report["differences"])
    if not restored.report["clean"]:
        raise click.ClickException(STILL.format(term))
    click.echo(f"{term}: the ledger matches the event log. Students can register again.")


@click.command("repair")
@click.option("--term", "name", default="", help="Only the term with this name.")
@click.option(
    "--events",
    "backup",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File of events from a backup, one JSON line each, to replace lost or altered ones.",
)
@click.option("--yes", is_flag=True, help="Apply the changes; without it, only print them.")
def repair_command(name: str, backup: Path | None, *, yes: bool) -> None:
    """Show differences, and repair them with --yes.

    A difference must show in two audits in a row to be repaired. Nothing is repaired while
    decisions wait to be recorded. Exit status 1 if something still needs repair.
    """
    left = False
    with connected():
        for number, term in chosen(name):
            if backup:
                _bring_back(number, term, backup.read_text(encoding="utf-8").splitlines(), yes=yes)
            left = not _repair(number, term, yes=yes) or left
    if left and not yes:
        click.echo(DRY_RUN)
    raise SystemExit(left)


def _bring_back(number: int, term: str, rows: list[str], *, yes: bool) -> None:
    with schema.as_owner(backend().settings.owner_url) as session:
        found = repair.differing_events(session, number, rows)
        listed = ", ".join(map(str, found[:SHOWN])) + (" …" if len(found) > SHOWN else "")
        click.echo(f"{term}: {len(found)} events are lost or altered: {listed}")
        if found and yes:
            repair.bring_back(session, number, rows)
    if found and yes:
        note("log.repaired", f"term:{number}", {"events": found[:KEPT]})


def _repair(number: int, term: str, *, yes: bool) -> bool:
    """Repair a term; return whether all is well in the end."""
    report = _audited_twice(number)
    what = {each["where"]: each["what"] for each in report["differences"]}
    # Lost decisions can no longer be recorded.
    if report["unrecorded"] and JOURNAL_LOST not in what:
        why = f" It says: {what[UNREADABLE_ENTRY]}." if UNREADABLE_ENTRY in what else ""
        raise click.ClickException(UNRECORDED_REPAIR.format(report["unrecorded"], term, why))
    if report["clean"]:
        click.echo(f"{term}: no differences in {report['events']} events.")
        return True
    found = repairs(report["differences"])
    for text, differences in (
        (ALTERED, found.log),
        (REWRITTEN, found.record),
        (REMADE, found.ledger),
    ):
        if differences:
            click.echo(text.format(term))
            print_differences(differences)
    if found.log:
        return False
    if found.record and yes:
        with progress_bars() as show:
            rebuild(number, show)
    if found.ledger:
        rebuild_ledger(number, term, yes=yes)
    if not yes:
        return False
    clean = bool(_audited_twice(number)["clean"])
    note("record.repaired", f"term:{number}", {"differences": report["differences"][:KEPT]})
    click.echo(
        f"{term}: {'no differences' if clean else 'differences remain; run the command again'}."
    )
    return clean


def _audit(number: int) -> Report:
    with progress_bars() as show:
        return audit_term(number, show)


def _audited(number: int) -> Report:
    """Return the audit, and store it, which sets or clears the alarm."""
    report = _audit(number)
    audit_runs.store(number, report)
    return report


def _audited_twice(number: int) -> Report:
    """Return the audit, repeated if anything differs; store it."""
    report = _audit(number)
    if report["differences"]:
        again = _audit(number)
        found = repair.seen_twice(report["differences"], again["differences"])
        report = again | {"differences": found, "clean": not found and not again["unrecorded"]}
    audit_runs.store(number, report)
    return report


def chosen(name: str) -> list[tuple[int, str]]:
    """Return the term of that name, or all; raise BadParameter for an unknown name."""
    try:
        return terms_named(name)
    except CommandError as error:
        raise click.BadParameter(str(error), param_hint="--term") from error


def print_differences(differences: list[Difference]) -> None:
    """Print the first differences, one per line."""
    for each in differences[:SHOWN]:
        click.echo(f"  {each['where']}, {each['what']}: {_sides(each)}".rstrip(": "))
    if len(differences) > SHOWN:
        click.echo(f"  … and {len(differences) - SHOWN} more")


def _sides(difference: Difference) -> str:
    """Return each side's data; of two rows, only the fields that differ."""
    sides = {who: difference[who] for who in SIDES if who in difference}
    rows = list(sides.values())
    if rows and all(isinstance(row, dict) for row in rows):
        alike = {name for name in rows[0] if all(row.get(name) == rows[0][name] for row in rows)}
        sides = {
            who: {name: value for name, value in row.items() if name not in alike}
            for who, row in sides.items()
        }
    return "; ".join(f"{who.replace('_', ' ')} {data}" for who, data in sides.items())
