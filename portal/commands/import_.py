"""`fairseat import DIR --term NAME`: a semester out of CSV files."""

import re
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

from portal.catalog.imports.files import ImportFailed
from portal.catalog.imports.read import Options
from portal.catalog.imports.report import KINDS, Report
from portal.catalog.imports.run import Imported, import_semester
from portal.config import var_folder
from portal.seats.errors import LedgerUnavailable
from portal.surroundings import connected
from portal.windows.warmup import warm_up

COLUMNS = (
    TextColumn("{task.description:24}"),
    BarColumn(),
    MofNCompleteColumn(),
    TimeElapsedColumn(),
)


def day(_context: click.Context, _option: click.Parameter, given: datetime | None) -> date | None:
    return given.date() if given else None


DAY = click.DateTime(["%Y-%m-%d"])


@click.command("import")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--term", required=True, help="Name of the new term, such as “Fall 2020”.")
@click.option(
    "--waitlist",
    default=10,
    show_default=True,
    type=click.IntRange(0, 10_000),
    help="Length of waitlists where the source gives none.",
)
@click.option(
    "--credit-limit",
    default=21,
    show_default=True,
    type=click.IntRange(1, 200),
    help="Credits that a student may hold in the term.",
)
@click.option("--starts", type=DAY, callback=day, help="First day, if not that of the meetings.")
@click.option("--ends", type=DAY, callback=day, help="Last day, likewise.")
@click.option(
    "--report",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where the full report goes (.csv or .json).",
)
def command(folder: Path, term: str, path: Path | None, **choices: Any) -> None:
    """Import the semester in FOLDER as a new term, all of it or nothing."""
    console = Console()
    report = Report()
    path = (path or default_path(term)).resolve()
    write(report, path)  # before anything is stored: a report that can't be written is none
    with connected():
        try:
            made = imported(folder, term, Options(**choices), report, console)
        except ImportFailed as failure:
            tell(report, path, console)
            raise click.ClickException(f"{failure} Nothing was imported.") from None
        console.print(f"Imported “{term}”: {made.sections} sections of {made.courses} courses.")
        tell(report, path, console)
        tell_ledger(made.term, console)


def default_path(term: str) -> Path:
    """A file of the data folder, by term and time."""
    slug = re.sub(r"\W+", "-", term.lower()).strip("-")[:60]
    return var_folder() / "imports" / f"{slug}-{datetime.now(UTC):%Y%m%d-%H%M%S}.csv"


def imported(
    folder: Path, term: str, options: Options, report: Report, console: Console
) -> Imported:
    """The import, with a bar for each of its steps."""
    bars: dict[str, TaskID] = {}
    with Progress(*COLUMNS, console=console) as progress:

        def show(step: str, done: int, total: int) -> None:
            if step not in bars:
                bars[step] = progress.add_task(step, total=total)
            progress.update(bars[step], completed=done, total=total)

        return import_semester(folder, term, options, report, show)


def tell(report: Report, path: Path, console: Console) -> None:
    """Print what was refused, repaired and so on, by kind; write every row to `path`."""
    table = Table("", "rows", "kind", "why", box=None, pad_edge=False)
    for action, kind, count in report.counts():
        table.add_row(action, str(count), kind, KINDS[kind][1])
    if report.notes:
        console.print(table)
    else:
        console.print("Nothing was refused, repaired or left out.")
    write(report, path)
    console.print(f"Every row in full: {path}", soft_wrap=True, highlight=False)


def write(report: Report, path: Path) -> None:
    try:
        report.write(path)
    except OSError as error:
        raise click.ClickException(f"{path} can't be written: {error.strerror}.") from error


def tell_ledger(term: int, console: Console) -> None:
    """Let the ledger know the new sections."""
    try:
        news = warm_up(term)
    except LedgerUnavailable:
        console.print("The ledger is away: the clock will tell it of the sections later.")
    else:
        console.print(f"The ledger knows of {news} new sections.")
