"""`fairseat jobs`: jobs that were given up."""

import click

from portal.ops import dead
from portal.runtime.command_context import connected
from portal.runtime.commands.noting import note


@click.command("jobs")
@click.argument("ids", nargs=-1)
@click.option("--retry", is_flag=True, help="Have them tried again.")
@click.option("--discard", is_flag=True, help="Forget them.")
def command(ids: tuple[str, ...], *, retry: bool, discard: bool) -> None:
    """List jobs that failed at each try, or what happened to the IDS; status 1 where there are.

    Each says that a term has something to do, which is tried again by itself after a rest.
    """
    if retry and discard:
        raise click.UsageError("Either --retry or --discard.")
    with connected() as parts:
        found = [each for each in dead.letters(parts.redis) if not ids or each.id in ids]
        missing = set(ids) - {each.id for each in found}
        if missing:
            raise click.BadParameter(f"There is no {', '.join(sorted(missing))}.")
        for letter in found if retry or discard else ():
            note(f"job.{'retry' if retry else 'discard'}", f"job:{letter.id}")
            if retry:
                dead.retry(parts.redis, letter)
            else:
                dead.discard(parts.redis, letter)
    _say(found, at_length=bool(ids))
    if retry or discard:
        click.echo(f"{'To be tried again' if retry else 'Forgotten'}: {len(found)}.", err=True)
    elif not found:
        click.echo("No job has been given up.", err=True)
    raise SystemExit(bool(found) and not (retry or discard))


def _say(found: list[dead.DeadLetter], *, at_length: bool) -> None:
    for letter in found:
        click.echo(f"{letter.id}  {letter.died_at:%Y-%m-%d %H:%M}  {letter.queue}")
        click.echo(letter.trace if at_length else f"    {letter.error}")
