"""`fairseat logs`: what every process logged about one request."""

import sys
from contextlib import ExitStack
from pathlib import Path

import click

from portal.core.settings import var_folder
from portal.runtime import log_search


@click.command("logs")
@click.option("--correlation", "code", required=True, metavar="ID", help="The correlation ID.")
@click.option("--raw", is_flag=True, help="Print the lines as they are in the files.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
def logs_command(code: str, paths: tuple[Path, ...], *, raw: bool) -> None:
    """Show what all processes logged under a correlation ID, oldest first.

    Searches the logs of the data folder with the files that were rotated away. PATHS are other
    folders or files; - reads standard input, such as `docker compose logs --no-color`. Exit
    status 1 if there is nothing.
    """
    wanted = paths or (var_folder() / "log",)
    files = [file for path in wanted for file in _files(path)]
    with ExitStack() as stack:
        sources = [stack.enter_context(log_search.lines_of(file)) for file in files]
        if Path("-") in wanted:
            sources.append(sys.stdin)
        found = log_search.find(sources, code)
    for entry in found:
        click.echo(entry.text if raw else entry.shown())
    if not found:
        click.echo(_nothing(code, wanted, files), err=True)
    raise SystemExit(not found)


def _files(path: Path) -> list[Path]:
    if path == Path("-"):
        return []
    if path.is_dir():
        return log_search.files_in(path)
    if path.exists():
        return [path]
    raise click.ClickException(f"There are no logs at {path}. Name their folder or files.")


def _nothing(code: str, wanted: tuple[Path, ...], files: list[Path]) -> str:
    first = log_search.since(files)
    places = ", ".join("standard input" if path == Path("-") else str(path) for path in wanted)
    count = f"{len(files)} {'file' if len(files) == 1 else 'files'}"
    time = f", from {first:%Y-%m-%d %H:%M} UTC on" if first else ""
    return (
        f"No log line names the correlation ID {code}.\n"
        f"Searched {places}: {count}{time}.\n"
        "Older lines are deleted, and other hosts have their own logs. The event log keeps"
        " decisions for good: see the operator's guide, Logs."
    )
