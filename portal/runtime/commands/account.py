"""`fairseat account USERNAME`: an account for an admin, or for a teacher whom an import named."""

import secrets
import sys
from typing import Any

import click

from portal.people import accounts
from portal.runtime.command_context import connected


@click.command("account")
@click.argument("username")
@click.option("--name", default="", help="Full name; needed for a new account.")
@click.option("--admin", is_flag=True, help="Let it schedule windows and change sections.")
@click.option("--teaches", default="", metavar="NAME", help="Link it to this imported teacher.")
@click.option("--department", default="", metavar="CODE", help="Which, if several have that name.")
@click.option("--password-stdin", is_flag=True, help="Read the password, don't invent one.")
def command(username: str, *, password_stdin: bool, **choices: Any) -> None:
    """Make an account named USERNAME and print its password, this once.

    An account that is there already gets the roles and keeps its name and password.
    """
    if choices["department"] and not choices["teaches"]:
        raise click.UsageError("--department says which teacher --teaches means.")
    with connected():
        if password_stdin and accounts.username_taken(username):
            raise click.ClickException(
                f"There is an account named {username!r} already, and its password stays as it is."
            )
        password = (
            sys.stdin.readline().rstrip("\r\n") if password_stdin else secrets.token_urlsafe(12)
        )
        try:
            made = accounts.ensure_account(
                accounts.NewAccount(username, password=password, **choices)
            )
        except accounts.AccountRefusedError as refused:
            raise click.ClickException(str(refused)) from refused
    if not made:
        click.echo(f"The account {username!r} has the role; its password is what it was.", err=True)
        return
    click.echo(f"The account {username!r} is made.", err=True)
    if not password_stdin:
        click.echo(password)
