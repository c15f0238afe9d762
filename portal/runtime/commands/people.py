"""`fairseat account`, `token` and `override`: accounts, access tokens and permissions."""

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
@click.option("--admin", is_flag=True, help="Give it the admin role.")
@click.option("--teaches", default="", metavar="NAME", help="Link it to this instructor.")
@click.option("--department", default="", metavar="CODE", help="Department of that instructor.")
@click.option("--password-stdin", is_flag=True, help="Read the password from stdin.")
def account_command(username: str, *, password_stdin: bool, **choices: Any) -> None:
    """Create an account, or give an existing one more roles.

    The password of a new account is printed once. An existing account keeps its name and password.
    Use --department if several instructors have the same name.
    """
    if choices["department"] and not choices["teaches"]:
        raise click.UsageError("Use --department only with --teaches.")
    with connected():
        if password_stdin and accounts.username_taken(username):
            raise click.ClickException(
                f"The account {username!r} already exists. Its password was not changed."
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
        click.echo(f"Updated the account {username!r}. Its password was not changed.", err=True)
        return
    click.echo(f"Created the account {username!r}.", err=True)
    if not password_stdin:
        click.echo(password)


# `fairseat token USER`: a personal access token.


@click.command("token")
@click.argument("user")
@click.option("--name", default="command line", help="Purpose of the token.")
@click.option("--days", type=click.IntRange(min=1), help="Days until it expires; default: never.")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(tokens.SCOPES),
    multiple=True,
    default=tokens.SCOPES,
    help="Permitted action; can be repeated; default: all.",
)
def token_command(user: str, name: str, days: int | None, scopes: tuple[str, ...]) -> None:
    """Create a personal access token for USER, and print it once."""
    with connected():
        try:
            secret = tokens.create_for(user, tokens.TokenRequest(name, sorted(set(scopes)), days))
        except (tokens.UnknownUserError, tokens.TooManyError) as refused:
            raise click.ClickException(str(refused)) from refused
    click.echo(secret)


# `fairseat override STUDENT`: permit one student to take a section despite a rule.


@click.command("override")
@click.argument("student", metavar="STUDENT")
@click.option("--term", required=True, help="The term's name.")
@click.option("--crn", required=True, help="The section's number in that term.")
@click.option(
    "--waive", multiple=True, type=click.Choice(PERMISSIONS), help="Rule to waive; can be repeated."
)
@click.option("--reason", default="", help="The reason, for the audit trail.")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), help="Last day of the permission.")
@click.option("--revoke", is_flag=True, help="Revoke the permissions for this section.")
def override_command(student: str, *, term: str, crn: str, revoke: bool, **choices: Any) -> None:
    """Permit a student to take a section despite a rule.

    STUDENT is a number or username. The limits of seats, waitlists and selection windows still
    apply.
    """
    if revoke == bool(choices["waive"]):
        raise click.UsageError("Use either --waive or --revoke.")
    target = Target(student, term, crn)
    with connected():
        try:
            message = _revoked(target, choices["reason"]) if revoke else _granted(target, **choices)
        except PermissionRefusedError as refused:
            raise click.ClickException(str(refused)) from refused
    click.echo(message, err=True)


def _granted(target: Target, waive: tuple[str, ...], reason: str, until: datetime | None) -> str:
    name = permissions.grant_by_name(target, waive, reason, _end_of(until) if until else None)
    return f"{name} has a permission for section {target.crn}: {', '.join(waive)}."


def _revoked(target: Target, reason: str) -> str:
    number = permissions.revoke_by_name(target, reason)
    if not number:
        raise PermissionRefusedError(
            f"{target.student!r} has no permission for section {target.crn}."
        )
    return f"Revoked {number} permission{'' if number == 1 else 's'}."


def _end_of(day: datetime) -> datetime:
    """Return the midnight at the end of the day, in the institution's time zone."""
    after = day + timedelta(days=1)
    return after.replace(tzinfo=backend().settings.zone).astimezone(UTC)
