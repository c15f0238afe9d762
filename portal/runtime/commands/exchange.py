"""`fairseat import` and `export`: a semester as tables, or everything as OneRoster files."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import click
from rich.console import Console
from rich.table import Table

from portal.catalog.term_catalog import terms_named
from portal.core.private_files import owner_only
from portal.core.settings import var_folder
from portal.exchange.exporting.oneroster import write_oneroster
from portal.exchange.exporting.semester import write_semester, write_workbook
from portal.exchange.importing import import_jobs
from portal.exchange.importing.diff import CHANGES
from portal.exchange.importing.failures import ImportFailedError, SeatsLeftError
from portal.exchange.importing.findings import FINDINGS
from portal.exchange.importing.models import LAYOUTS, Options
from portal.exchange.importing.report import Report, summary
from portal.exchange.importing.runs import CancelsError, Imported, import_files
from portal.exchange.importing.semester import DATES_MEND
from portal.ledger.errors import LedgerUnavailable
from portal.recorder.recorder import record_all
from portal.runtime.command_context import connected, portal
from portal.runtime.commands.common import progress_bars

AWAY = (
    "The ledger does not respond. The data is stored, except enrollments. They are applied"
    " automatically when the ledger is back."
)
GONE = "The import was interrupted for too long and was discarded. Nothing was imported."
STOPPED = (
    "%(why)s The data is stored, except some enrollments. An admin must try these again or end the"
    " import without them, on the page of the import."
)


def day(_context: click.Context, _option: click.Parameter, given: datetime | None) -> date | None:
    return given.date() if given else None


DAY = click.DateTime(["%Y-%m-%d"])


@click.command("import")
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--layout", default="semester", show_default=True, type=click.Choice(LAYOUTS))
@click.option("--term", default="", help="Name of the semester, such as “Fall 2020”.")
@click.option("--update", is_flag=True, help="Allow changes to a term that already exists.")
@click.option(
    "--remove", is_flag=True, help="Remove records missing from these files; sections are canceled."
)
@click.option("--overwrite", is_flag=True, help="Replace what admins edited since the last import.")
@click.option(
    "--erase",
    is_flag=True,
    help="Delete values where these files have blank cells or missing rows, but not where they"
    " lack a column or a file.",
)
@click.option(
    "--cancel-sections",
    "cancels",
    is_flag=True,
    help="Cancel sections: those whose status is Canceled in the files of an export, those that"
    " OneRoster files delete, and, with --remove, those missing from the files.",
)
@click.option(
    "--columns",
    "mapping",
    default="",
    help="Name of the saved column mapping; default: the last one saved for the same headings.",
)
@click.option(
    "--past-rules",
    "past",
    is_flag=True,
    help="Enroll students regardless of rules and capacity.",
)
@click.option("--leave-out", is_flag=True, help="Apply the rest if some enrollments are refused.")
@click.option("--dry-run", "dry", is_flag=True, help="Print the changes without applying them.")
@click.option(
    "--waitlist",
    default=10,
    show_default=True,
    type=click.IntRange(0, 10_000),
    help="Waitlist capacity if the files don't set one.",
)
@click.option(
    "--credit-limit",
    default=21,
    show_default=True,
    type=click.IntRange(1, 200),
    help="Credit limit per student in a new term.",
)
@click.option(
    "--starts", type=DAY, callback=day, help="First day of the term; default: the first meeting."
)
@click.option(
    "--ends", type=DAY, callback=day, help="Last day of the term; default: the last meeting."
)
@click.option(
    "--report",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="CSV file for the full report.",
)
def import_command(source: Path, path: Path | None, *, dry: bool, **choices: Any) -> None:
    """Import a folder or zip file, in full or not at all."""
    console, report, options = Console(), Report(), Options(**choices)
    console.print(f"Importing into {portal()}.", soft_wrap=True, highlight=False)
    path = (path or default_path(options.term or source.stem)).resolve()
    write(report, path)  # before anything is stored: a report that cannot be written is useless
    with connected():
        try:
            with progress_bars(console) as show:
                done = import_files(source, options, report, show, dry=dry)
        except (ImportFailedError, import_jobs.Busy) as failure:
            print_report(report, path, console)
            raise click.ClickException(f"{_why(failure)} Nothing was imported.") from None
        except import_jobs.NoLongerPossible:
            raise click.ClickException(GONE) from None
        except SeatsLeftError as failure:
            raise click.ClickException(STOPPED % {"why": failure}) from None
        except LedgerUnavailable as failure:
            raise click.ClickException(AWAY) from failure
        if done.mapping:
            console.print(f"The column mapping “{done.mapping}” is used.")
        print_changes(done, console)
        print_report(report, path, console)
        if done.notified:
            console.print(f"Students notified of changes to their sections: {done.notified}.")
        if dry:
            console.print("This was a dry run: nothing was changed.")
        else:
            console.print(f"Imported {source.name}.")
            if done.new_sections is None:
                away = "The ledger does not respond. It gets the sections when it is back."
                console.print(away)
            else:
                console.print(f"New or changed sections in the ledger: {done.new_sections}.")


def _why(failure: ImportFailedError | import_jobs.Busy) -> str:
    """Return why nothing was imported, and which option would help."""
    if isinstance(failure, import_jobs.Busy):
        return f"Another import is running: {failure}. Wait until it has finished."
    if isinstance(failure, CancelsError):
        return f"{failure} Use --cancel-sections."
    return f"{failure} Use --starts and --ends." if failure.text in DATES_MEND else str(failure)


def default_path(name: str) -> Path:
    """Return a file path in the data folder, by term and time."""
    slug = re.sub(r"\W+", "-", name.lower()).strip("-")[:60]
    return var_folder() / "imports" / f"{slug}-{datetime.now(UTC):%Y%m%d-%H%M%S}.csv"


def print_changes(done: Imported, console: Console) -> None:
    """Print how many of each kind are added, restored, changed, removed and unchanged."""
    table = Table("", *CHANGES, box=None, pad_edge=False)
    for kind, counts in done.counts.items():
        table.add_row(kind, *(str(counts[each]) for each in CHANGES))
    console.print(table)


def print_report(report: Report, path: Path, console: Console) -> None:
    """Print how many rows were refused, guessed and so on, then by kind; write all to `path`."""
    counted = [f"{count} {action}" for action, count in summary(report.found)]
    console.print(f"Rows to check: {', '.join(counted) or 'none'}.", highlight=False)
    table = Table("", "rows", "kind", "why", box=None, pad_edge=False)
    for action, kind, count in report.counts():
        table.add_row(action, str(count), kind, str(FINDINGS[kind].why))
    if report.notes:
        console.print(table)
    write(report, path)
    console.print(f"Full report: {path}", soft_wrap=True, highlight=False)


def write(report: Report, path: Path) -> None:
    try:
        report.write(path)
    except OSError as error:
        raise click.ClickException(f"Can't write {path}: {error.strerror}.") from error


# `fairseat export FILE.zip`: everything as OneRoster 1.2 files, or a semester to edit.


@click.command("export")
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--term", default="", help="Export this term's files, to edit and import again.")
def export_command(target: Path, term: str) -> None:
    """Export all data to the zip file TARGET, as OneRoster 1.2 files.

    With --term, export that term as the CSV files that an import of a semester reads, or as one
    workbook if TARGET ends in .xlsx. Importing the file again changes nothing.

    The command records the ledger's decisions first. Exit status 1 if some can't be recorded: the
    file lacks them, and standard error lists them.
    """
    click.echo(f"Exporting from {portal()}.", err=True)
    with connected():
        terms_named(term)
        missing = list(record_all())
        of_term = write_workbook if target.suffix.lower() == ".xlsx" else write_semester
        write = partial(of_term, term) if term else write_oneroster
        try:
            with open(target, "xb", opener=owner_only) as out:
                _write_all(write, out, target)
        except OSError as error:
            raise click.ClickException(f"Can't write {target}: {error.strerror}.") from error
    click.echo(f"Exported to {target}.")
    for each in missing:
        click.echo(f"NOT in the file: {each}", err=True)
    raise SystemExit(bool(missing))


def _write_all(write: Callable[[BinaryIO], None], out: BinaryIO, target: Path) -> None:
    """Write all of it, or leave nothing behind."""
    try:
        write(out)
    except BaseException:
        target.unlink()
        raise
