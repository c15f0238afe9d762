"""`fairseat override STUDENT`: let one student into one section past a rule."""

from datetime import UTC, datetime, timedelta
from typing import Any

import click

from portal.backend import backend
from portal.people import permissions
from portal.people.permissions import PermissionRefusedError, Target
from portal.registration.reasons import PERMISSIONS
from portal.runtime.command_context import connected


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
def command(student: str, *, term: str, crn: str, revoke: bool, **choices: Any) -> None:
    """Let STUDENT (number or user name) take a section past the rules that --waive names.

    Seats, waitlists and selection windows stay as they are for everyone.
    """
    if revoke == bool(choices["waive"]):
        raise click.UsageError("Say with --waive which rules to pass, or --revoke.")
    whom = Target(student, term, crn)
    with connected():
        try:
            said = _revoked(whom, choices["reason"]) if revoke else _granted(whom, **choices)
        except PermissionRefusedError as refused:
            raise click.ClickException(str(refused)) from refused
    click.echo(said, err=True)


def _granted(whom: Target, waive: tuple[str, ...], reason: str, until: datetime | None) -> str:
    name = permissions.grant_by_name(whom, waive, reason, _end_of(until) if until else None)
    return f"{name} may take the section {whom.crn} past: {', '.join(waive)}."


def _revoked(whom: Target, reason: str) -> str:
    number = permissions.revoke_by_name(whom, reason)
    if not number:
        raise PermissionRefusedError(f"Nothing is permitted to {whom.student!r} for {whom.crn}.")
    return f"Taken back: {number} override{'' if number == 1 else 's'}."


def _end_of(day: datetime) -> datetime:
    """The midnight, in the institution's zone, with which the day is over."""
    after = day + timedelta(days=1)
    return after.replace(tzinfo=backend().settings.zone).astimezone(UTC)
