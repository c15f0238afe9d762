"""`fairseat rehearse`: an opening played against the portal that runs, by made-up students."""

from contextlib import suppress
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from portal.backend import backend
from portal.core.db import transaction
from portal.rehearsal import book, play
from portal.rehearsal.models import Rehearsal
from portal.rehearsal.way import WindowInTheWay
from portal.running.surroundings import connected

PHASES = {"answers": "answers", "per_second": "a second", "p50": "p50 ms", "p99": "p99 ms"}
ROOM = (
    "Waiting room: {in} were let in, half of them within {p50} s, 99 of 100 within {p99} s; {out}"
    " were not."
)
SEATS = "Seats: {taken} of {of} are taken, {waiting} wait in line, {oversold} are oversold."
AUDIT = "Audit: {differences} differences in {events} events."
ADVICE = (
    "Advice: FAIRSEAT_ROOM={per_minute}/{at_once} with {had} web processes as now. To let"
    " {students} students in within ten minutes it takes {processes} of them. They bear {bears}"
    " answers a second, and each student takes {each} in the rush. "
)
IN_THE_WAY = (
    "“{window}” of {term} is open, or opens before this would be over. Rehearse when no window is"
    " open, or call it with --anyway."
)
AT_ITS_LIMIT = "They were at their limit, so this was seen."
CROWDED = (
    "They bear this at least: the process that played it was itself too busy to see"
    " more. Play it from another machine."
)
NEVER_SLOW = "They were not at their limit, so this is worked out: play it with more students."
FAILED = {"refused": "refused", "turned_away": "turned away", "failed": "failed"}


@click.command("rehearse")
@click.option(
    "--students",
    default=100,
    show_default=True,
    type=click.IntRange(book.FEWEST_STUDENTS, book.MOST_STUDENTS),
    help="How many come.",
)
@click.option(
    "--minutes",
    default=3.0,
    show_default=True,
    type=click.FloatRange(book.SHORTEST / 60, book.LONGEST / 60),
    help="How long all of it takes, the lobby a quarter of it.",
)
@click.option("--anyway", is_flag=True, help="Also while real students choose seats.")
def command(students: int, minutes: float, *, anyway: bool) -> None:
    """Play an opening with made-up students, in a term for practice that is deleted after it.

    Exit status 1 where a seat was given twice or the audit found a difference. Ctrl-C stops it.
    """
    console = Console()
    with connected():
        number = _begun(students, round(60 * minutes), anyway=anyway)
        address = backend().settings.url
        console.print(f"Watch it at {address}/admin/rehearsals/{number}", soft_wrap=True)
        with suppress(KeyboardInterrupt):
            _played(number, console)
        with transaction() as session:
            found = session.get_one(Rehearsal, number)
    if found.error or found.report is None:
        raise click.ClickException(found.error or "It came to nothing.")
    say(found.report, console)
    well = found.report["audit"]["clean"] and not found.report["seats"]["oversold"]
    raise SystemExit(not well)


def _begun(students: int, seconds: int, *, anyway: bool) -> int:
    try:
        with transaction() as session:
            number = book.begin(session, students, seconds, None, anyway=anyway)
    except WindowInTheWay as real:
        told = IN_THE_WAY.format(window=real.window, term=real.term)
        raise click.ClickException(told) from real
    if number is None:
        raise click.ClickException("Another rehearsal is under way. Wait until it has ended.")
    return number


def _played(number: int, console: Console) -> None:
    with console.status("The practice term is made.") as status:
        play.play(number, lambda standing: status.update(standing_in_words(standing)))


def standing_in_words(standing: dict[str, Any]) -> str:
    """How it stands, on one line."""
    return (
        "{phase}: {come} have come, {inside} are in, {seats} seats and {places} places in line"
        " given, {per_second} answers a second"
    ).format(**standing)


def say(report: dict[str, Any], console: Console) -> None:
    """Print what came of it."""
    table = Table("phase", *PHASES.values(), *FAILED.values(), box=None, pad_edge=False)
    for phase in report["phases"]:
        table.add_row(phase["name"], *(str(phase[name]) for name in (*PHASES, *FAILED)))
    console.print(table)
    waits, seats, audit = report["waits"], report["seats"], report["audit"]
    told = [ROOM.format(**waits), SEATS.format(**seats), AUDIT.format(**audit)]
    for line in (*told, advice_in_words(report["advice"])):
        console.print(line, soft_wrap=True, highlight=False)


def advice_in_words(advice: dict[str, Any] | None) -> str:
    """What to set."""
    if advice is None:
        return "No advice: nobody was let in before the rush was over."
    return ADVICE.format(**advice) + _how_it_is_known(advice)


def _how_it_is_known(advice: dict[str, Any]) -> str:
    if advice["crowded"]:
        return CROWDED
    return AT_ITS_LIMIT if advice["reached"] else NEVER_SLOW
