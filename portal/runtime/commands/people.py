"""`fairseat account`, `token`, `keys` and `override`: accounts, tokens and permissions."""

import secrets
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from portal.backend import backend
from portal.core.errors import CommandError
from portal.notifications.mail import is_address
from portal.people import accounts, permissions, service_tokens, signing_keys, staff, tokens
from portal.people.permissions import Target
from portal.people.roles import PERSONAL_SCOPES, SERVICE_SCOPES, STAFF_ROLES
from portal.people.tokens import TokenRequest
from portal.registration.reasons import PERMISSIONS
from portal.runtime.command_context import connected


@click.command("account")
@click.argument("username")
@click.option("--name", default="", help="Full name; needed for a new account.")
@click.option("--email", default="", metavar="ADDRESS", help="Set its email address.")
@click.option("--admin", is_flag=True, help="Give it the admin role.")
@click.option(
    "--role",
    "roles",
    type=click.Choice(STAFF_ROLES),
    multiple=True,
    help="Give it a role below admin; can be repeated.",
)
@click.option(
    "--schedules",
    multiple=True,
    metavar="CODE",
    help="Let it schedule the sections of this department; can be repeated.",
)
@click.option(
    "--end-role",
    "ended",
    type=click.Choice(("admin", "scheduler", *STAFF_ROLES)),
    multiple=True,
    help="End such a role and all sessions of the account; can be repeated.",
)
@click.option("--teaches", default="", metavar="NAME", help="Link it to this instructor.")
@click.option("--department", default="", metavar="CODE", help="Department of that instructor.")
@click.option("--password-stdin", is_flag=True, help="Read the password from stdin.")
def account_command(
    username: str, *, password_stdin: bool, ended: tuple[str, ...], **choices: Any
) -> None:
    """Create an account, or give an existing one an address or more roles, or end some.

    The password of a new account is printed once. An existing account keeps its name and password.
    Use --department if several instructors have the same name.
    """
    if choices["department"] and not choices["teaches"]:
        raise click.UsageError("Use --department only with --teaches.")
    if choices["email"] and not is_address(choices["email"]):
        raise click.UsageError("Use --email with an address such as name@example.edu.")
    if ended and (password_stdin or any(choices.values())):
        raise click.UsageError("Use --end-role alone.")
    with connected():
        if ended:
            _end_roles(username, ended)
            return
        if password_stdin and accounts.has_username(username):
            raise click.ClickException(
                f"The account {username!r} already exists. Its password was not changed."
            )
        password = (
            sys.stdin.readline().rstrip("\r\n") if password_stdin else secrets.token_urlsafe(12)
        )
        made = accounts.ensure_account(accounts.NewAccount(username, password=password, **choices))
    if not made:
        click.echo(f"Updated the account {username!r}. Its password was not changed.", err=True)
        return
    click.echo(f"Created the account {username!r}.", err=True)
    if not password_stdin:
        click.echo(password)


def _end_roles(username: str, ended: tuple[str, ...]) -> None:
    found = staff.find_by_name(username)
    if found is None:
        raise click.ClickException(f"There is no account {username!r}.")
    if missing := set(ended) - set(found.roles):
        raise click.ClickException(
            f"The account {username!r} has no role {', '.join(sorted(missing))}."
        )
    if "admin" in ended:
        try:
            staff.end_admin(found.id, by=None, why="command line")
        except staff.LastAdminError:
            raise click.ClickException(
                f"{username!r} is the only admin. Give another account the role first: --admin."
            ) from None
    departments = found.has.departments if "scheduler" not in ended else frozenset[int]()
    kept = staff.Grant(found.has.roles - set(ended), departments)
    staff.change_roles(found.id, found.has, kept, by=None, why="command line")
    click.echo(f"Ended roles of the account {username!r}: {', '.join(ended)}.", err=True)


# `fairseat token USER`: a personal access token, or a service token; `fairseat keys`: what signs.


@click.command("token")
@click.argument("user")
@click.option("--service", is_flag=True, help="A service token: USER is the program's name.")
@click.option("--revoke", is_flag=True, help="Revoke the service token with this name.")
@click.option("--name", default=tokens.COMMAND_LINE, help="Purpose of a personal token.")
@click.option("--days", type=click.IntRange(min=1), help="Days until it expires; default: never.")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice((*PERSONAL_SCOPES, *SERVICE_SCOPES)),
    multiple=True,
    help="Permitted action; can be repeated; default: all.",
)
def token_command(user: str, *, service: bool, revoke: bool, **choices: Any) -> None:
    """Create a personal access token for USER, and print it once.

    With --service, create or revoke a token of a program of the university. It has the scopes
    windows, waiting-room, read-models and registrations; it expires after a year by default.
    """
    if revoke and not service:
        raise click.UsageError("Use --revoke only with --service.")
    known = SERVICE_SCOPES if service else PERSONAL_SCOPES
    scopes = choices["scopes"] or known
    if wrong := set(scopes) - set(known):
        raise click.UsageError(f"This kind of token has no scope {', '.join(sorted(wrong))}.")
    days = choices["days"] or (service_tokens.DAYS if service else None)
    wanted = TokenRequest(user if service else choices["name"], sorted(set(scopes)), days)
    with connected():
        if revoke:
            _revoke_service_token(user)
            return
        if service:
            click.echo(service_tokens.create(wanted, by=None, reason=tokens.COMMAND_LINE))
        else:
            click.echo(tokens.create_for(user, wanted))


def _revoke_service_token(name: str) -> None:
    try:
        service_tokens.revoke_named(name, by=None, reason=tokens.COMMAND_LINE)
    except LookupError as unknown:
        raise click.ClickException(f"There is no service token {name!r}.") from unknown
    click.echo(f"Revoked the service token {name!r}.", err=True)


@click.group("keys")
def keys_command() -> None:
    """List or renew the keys that sign tokens for programs."""


@keys_command.command("list")
def list_keys() -> None:
    """Print the ids of the published keys; the first one is in use."""
    with connected():
        for each in signing_keys.keys().public:
            click.echo(each["kid"])


@keys_command.command("rotate")
def rotate_keys() -> None:
    """Put a new key in use, and print its id.

    The old one stays published until the tokens that it signed have ended.
    """
    with connected():
        click.echo(signing_keys.rotate(None, tokens.COMMAND_LINE))


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
        message = _revoked(target, choices["reason"]) if revoke else _granted(target, **choices)
    click.echo(message, err=True)


def _granted(target: Target, waive: tuple[str, ...], reason: str, until: datetime | None) -> str:
    name = permissions.grant_by_name(target, waive, reason, _end_of(until) if until else None)
    return f"{name} has a permission for section {target.crn}: {', '.join(waive)}."


def _revoked(target: Target, reason: str) -> str:
    number = permissions.revoke_by_name(target, reason)
    if not number:
        raise CommandError(f"{target.student!r} has no permission for section {target.crn}.")
    return f"Revoked {number} permission{'' if number == 1 else 's'}."


def _end_of(day: datetime) -> datetime:
    """Return the midnight at the end of the day, in the institution's time zone."""
    after = day + timedelta(days=1)
    return after.replace(tzinfo=backend().settings.zone).astimezone(UTC)
