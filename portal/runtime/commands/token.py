"""`fairseat token USER`: a personal access token."""

import click

from portal.people import tokens
from portal.runtime.command_context import connected


@click.command("token")
@click.argument("user")
@click.option("--name", default="command line", help="What the token is for.")
@click.option(
    "--days", type=click.IntRange(min=1), help="How long it is valid; for ever if not given."
)
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(tokens.SCOPES),
    multiple=True,
    default=tokens.SCOPES,
    help="What it may do; everything if not given. May be given several times.",
)
def command(user: str, name: str, days: int | None, scopes: tuple[str, ...]) -> None:
    """Make a personal access token for USER and print it, this once."""
    with connected():
        try:
            secret = tokens.create_for(user, tokens.TokenRequest(name, sorted(set(scopes)), days))
        except (tokens.UnknownUserError, tokens.TooManyError) as refused:
            raise click.ClickException(str(refused)) from refused
    click.echo(secret)
