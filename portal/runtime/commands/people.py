"""`fairseat account USERNAME`: an account for an admin, or for an imported instructor."""

import secrets
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from portal.backend import backend
from portal.people import accounts, permissions, tokens
from portal.people.permissions import PermissionRefusedError, Target
from portal.registration.reasons import PERMISSIONS
from portal.runtime.command_context import connected


@click.command("account")
@click.argument("username")
@click.option("--name", default="", help="Full name; needed for a new account.")
@click.option("--admin", is_flag=True, help="Let it schedule windows and change sections.")
@click.option("--teaches", default="", metavar="NAME", help="Link it to this imported teacher.")
@click.option("--department", default="", metavar="CODE", help="Which, if several have that name.")
@click.option("--password-stdin", is_flag=True, help="Read the password, don't invent one.")
def account_command(username: str, *, password_stdin: bool, **choices: Any) -> None:
    """Make an account, or give an existing one more roles.

    The password of a new account is printed once. An existing account keeps its name and password.
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


# `fairseat token USER`: a personal access token.


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
def token_command(user: str, name: str, days: int | None, scopes: tuple[str, ...]) -> None:
    """Make a personal access token for USER, and print it once."""
    with connected():
        try:
            secret = tokens.create_for(user, tokens.TokenRequest(name, sorted(set(scopes)), days))
        except (tokens.UnknownUserError, tokens.TooManyError) as refused:
            raise click.ClickException(str(refused)) from refused
    click.echo(secret)


# `fairseat override STUDENT`: let one student take a section despite a rule.


@click.command("override")
@click.argument("student", metavar="STUDENT")
@click.option("--term", required=True, help="The term's name.")
@click.option("--crn", required=True, help="The section's number in that term.")
@click.option(
    "--waive", multiple=True, type=click.Choice(PERMISSIONS), help="The rule; may be repeated."
)
@click.option("--reason", default="", help="Why, for the record.")
@click.option(
    "--until", type=click.DateTime(["%Y-%m-%d"]), help="The last day on which it is valid."
)
@click.option("--revoke", is_flag=True, help="Take back what was permitted for this section.")
def override_command(student: str, *, term: str, crn: str, revoke: bool, **choices: Any) -> None:
    """Let a student take a section despite a rule.

    STUDENT is a number or username. Seats, waitlists and selection windows apply as for everyone.
    """
    if revoke == bool(choices["waive"]):
        raise click.UsageError("Say with --waive which rules to pass, or --revoke.")
    target = Target(student, term, crn)
    with connected():
        try:
            said = _revoked(target, choices["reason"]) if revoke else _granted(target, **choices)
        except PermissionRefusedError as refused:
            raise click.ClickException(str(refused)) from refused
    click.echo(said, err=True)


def _granted(target: Target, waive: tuple[str, ...], reason: str, until: datetime | None) -> str:
    name = permissions.grant_by_name(target, waive, reason, _end_of(until) if until else None)
    return f"{name} may take the section {target.crn} past: {', '.join(waive)}."


def _revoked(target: Target, reason: str) -> str:
    number = permissions.revoke_by_name(target, reason)
    if not number:
        raise PermissionRefusedError(
            f"Nothing is permitted to {target.student!r} for {target.crn}."
        )
    return f"Taken back: {number} override{'' if number == 1 else 's'}."


def _end_of(day: datetime) -> datetime:
    """Return the midnight at the end of the day, in the institution's time zone."""
    after = day + timedelta(days=1)
    return after.replace(tzinfo=backend().settings.zone).astimezone(UTC)
