"""`fairseat order TERM WINDOW`: whether the draw of a window follows from its published seed."""

import click
import requests

from portal.runtime.command_context import connected
from portal.waiting_room import draw
from portal.waiting_room.draw import Draw

PATIENCE_SECONDS = 30


@click.command("order")
@click.argument("term", type=int, required=False)
@click.argument("window", type=int, required=False)
@click.option("--text", help="The published text instead: a file, an address, or - to read it.")
def command(term: int | None, window: int | None, text: str | None) -> None:
    """Recompute the order of those who came early to a WINDOW of a TERM; exit status 1 if wrong.

    Both are numbers, as in the address of the page that shows the order.
    """
    found = _read(text) if text else _asked(term, window)
    click.echo(f"seed: {'OK' if found.true_seed else 'has another fingerprint'}")
    click.echo(f"order: {'OK' if found.in_order else 'not the one that follows from the seed'}")
    click.echo(f"requests: {len(found.requests)}")
    raise SystemExit(not found.agrees)


def _asked(term: int | None, window: int | None) -> Draw:
    if term is None or window is None:
        raise click.UsageError("Name a TERM and a WINDOW, or a --text.")
    with connected():
        return draw.published(term, window, opened=True)


def _read(source: str) -> Draw:
    try:
        return draw.parse(_fetched(source) if "://" in source else _written(source))
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{source}: {error}") from error


def _fetched(address: str) -> str:
    answer = requests.get(address, timeout=PATIENCE_SECONDS)
    answer.raise_for_status()
    return str(answer.text)


def _written(path: str) -> str:
    with click.open_file(path, encoding="utf-8") as file:
        return str(file.read())
