"""`fairseat mail`: mails that could not be sent."""

import click

from portal.core.db import transaction
from portal.core.queue import NO_TERM, enqueue
from portal.notifications import outbox
from portal.runtime.command_context import connected
from portal.runtime.commands.noting import note


@click.command("mail")
@click.option("--retry", is_flag=True, help="Send all of them again.")
def command(*, retry: bool) -> None:
    """List mails that were given up, with the last error of each; exit status 1 where there are."""
    with connected():
        with transaction() as session:
            letters = outbox.dead(session)
            revived = outbox.revive(session, [each.id for each in letters]) if retry else []
        if revived:
            note("mail.retry", "mail:all", {"mails": revived})
            enqueue(NO_TERM, ["notify"])
    for each in letters:
        click.echo(f"{each.id}  {each.dead_at:%Y-%m-%d %H:%M}  {each.kind} for {each.to}")
        click.echo(f"    after {each.tries} tries: {each.error}")
    if retry:
        click.echo(f"To be sent again: {len(revived)}.", err=True)
    elif not letters:
        click.echo("No mail has been given up.", err=True)
    raise SystemExit(bool(letters) and not retry)
