"""`fairseat token USER`: a personal access token."""

import click

from portal.people import keys
from portal.surroundings import connected


@click.command("token")
@click.argument("user")
@click.option("--name", default="command line", help="What the token is for.")
@click.option(
    "--days", type=click.IntRange(min=1), help="How long it is valid; for ever if not given."
)
def command(user: str, name: str, days: int | None) -> None:
    """Make a personal access token for USER and print it, this once."""
    with connected():
        try:
            secret = keys.make(user, name, days)
        except keys.UnknownUserError as unknown:
            raise click.ClickException(str(unknown)) from unknown
    click.echo(secret)
