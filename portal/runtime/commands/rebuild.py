"""`fairseat rebuild`: the read models, or the ledger, made anew from the event log."""

import click

from portal.backend import backend
from portal.catalog.term_catalog import terms_named
from portal.ledger.errors import LedgerUnavailable
from portal.recorder.consistency import audit_runs, fence, restore
from portal.recorder.consistency.audit import audit_term
from portal.recorder.consistency.differences import Difference
from portal.recorder.consistency.fence import Changed
from portal.recorder.consistency.repair import LogDamaged, rebuild
from portal.recorder.consistency.restore import Plan
from portal.recorder.event_log import checkpoint
from portal.recorder.journal import last_seq
from portal.runtime.command_context import connected
from portal.runtime.commands.noting import note
from portal.runtime.commands.progress import bars

SIDES = "ledger", "read_model", "log"
SHOWN = 20  # differences that are printed
KEPT = 1000  # forgotten decisions that the audit trail tells of
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
def command() -> None:
    """Make the read models, or the ledger, anew from the event log."""


@command.command("record")
@click.option("--term", "name", default="", help="Only the term of that name.")
def record(name: str) -> None:
    """Have rosters, places, counts and windows in PostgreSQL tell what the event log tells.

    All of a term or nothing of it; pages and claims go on meanwhile.
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
    """Say whether all agrees now; kept among the audits, which the alarm follows."""
    with bars() as tell:
        report = audit_term(number, tell)
    audit_runs.keep(number, report)
    if not report["clean"]:
        click.echo(UNLIKE.format(term))


@command.command("ledger")
@click.option("--term", "names", multiple=True, help="The term of that name; may be repeated.")
@click.option("--all", "every", is_flag=True, help="Every term, also where nothing is wrong.")
@click.option("--yes", is_flag=True, help="Do it; else it is only said what would be done.")
def ledger(names: tuple[str, ...], *, every: bool, yes: bool) -> None:
    """Have the ledger hold what follows from the event log, where it has lost something.

    Without --term or --all: the terms whose ledger is fenced, lost decisions or differs from the
    log. Nothing can be claimed in such a term meanwhile; afterwards an audit says whether all is
    well, and only then is the term opened again.
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
    """Say whether the ledger of the term is as the event log tells, and if not, why not."""
    try:
        why = _wrong(number)
    except LedgerUnavailable as error:
        raise click.ClickException(f"The ledger can't be asked: {error}.") from error
    click.echo(f"{term}: {why or 'the ledger agrees with the event log'}.")
    return bool(why)


def _wrong(number: int) -> str:
    """What is wrong with the ledger of a term; "" where nothing is."""
    if fenced := fence.why(number):
        return f"fenced, as {fenced}"
    if last_seq(backend().redis, number) < checkpoint(number):
        return "the ledger has lost recorded decisions"
    with bars() as tell:
        report = audit_term(number, tell)
    audit_runs.keep(number, report)
    # What only the read models tell otherwise is for `rebuild record`.
    count = sum("read_model" not in each for each in report["differences"])
    return f"the ledger or its journal differs from the event log, {count} times" if count else ""


def ledger_anew(number: int, term: str, *, yes: bool) -> None:
    """Say what the ledger is to hold and what it will forget; with `yes` do it."""
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
    """Print what will be there, and what will be forgotten."""
    click.echo(f"{term}: as of event {planned.seq} the ledger is to hold:")
    for what, count in planned.holds.items():
        click.echo(f"  {count:>9,}  {what}")
    if planned.lost:
        click.echo(FORGOTTEN.format(len(planned.lost)))
        for fact in planned.lost[:SHOWN]:
            whom = fact.payload.get("student", "-")
            click.echo(f"  event {fact.seq}: {fact.name}, {fact.aggregate}, student {whom}")


def restore_term(number: int, term: str, planned: Plan) -> None:
    """Do what was planned, note it in the trail, and say what came of it."""
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
    """The terms that were named, as a command says what is wrong with a name."""
    try:
        return terms_named(name)
    except LookupError as error:
        raise click.BadParameter(str(error.args[0]), param_hint="--term") from error


def say(differences: list[Difference]) -> None:
    """Print the first differences, a line each."""
    for each in differences[:SHOWN]:
        click.echo(f"  {each['where']}, {each['what']}: {'; '.join(_told(each))}".rstrip(": "))
    if len(differences) > SHOWN:
        click.echo(f"  … and {len(differences) - SHOWN} more")


def _told(difference: Difference) -> list[str]:
    """What each side tells; of two rows only that in which they differ."""
    sides = {who: difference[who] for who in SIDES if who in difference}
    rows = list(sides.values())
    if rows and all(isinstance(row, dict) for row in rows):
        alike = {name for name in rows[0] if all(row.get(name) == rows[0][name] for row in rows)}
        sides = {
            who: {name: value for name, value in row.items() if name not in alike}
            for who, row in sides.items()
        }
    return [f"{who.replace('_', ' ')} {told}" for who, told in sides.items()]
