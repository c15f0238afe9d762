"""A class to take along: as a file, and as a list of addresses."""

import re
from collections.abc import Iterator

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from portal.backend import backend
from portal.core.i18n import _
from portal.instructor.classes import own
from portal.instructor.letters import mailing
from portal.instructor.looks import Look
from portal.instructor.rosters import Person, Roster, roster
from portal.spreadsheets import download
from portal.web.http.access import requires, visitor

bp = Blueprint("files", __name__, url_prefix="/sections/<int:section_id>")

WHOM = ("enrolled", "waiting", "all")


@bp.get("/roster.csv")
@requires("instructor", "admin")
def sheet(section_id: int) -> ResponseReturnValue:
    """Roster and waitlist for a spreadsheet, whole, in the order that the page has."""
    shown, look = own(section_id), Look.parse({**request.args, "q": ""})
    people = look.at(roster(shown.term.id, section_id, visitor().roles))
    name = re.sub(r"[^\w.-]+", "-", f"{shown.term.name} {shown.name}")
    return download(f"{name}.csv", list(_rows(people)))


@bp.get("/emails")
@requires("instructor", "admin")
def emails(section_id: int) -> ResponseReturnValue:
    """The addresses of those who are in, of those who wait, or of all."""
    shown, asked = own(section_id), request.args.get("to")
    people = Look().at(roster(shown.term.id, section_id, visitor().roles))
    to = asked if asked in WHOM else WHOM[0]
    chosen = {
        "enrolled": people.enrolled,
        "waiting": people.waiting,
        "all": people.enrolled + people.waiting,
    }[to]
    return render_template(
        "instructor/emails.html",
        term=shown.term,
        name=shown.name,
        card=shown.card,
        to=to,
        mailing=mailing(chosen),
    )


def _rows(people: Roster) -> Iterator[list[str]]:
    yield [
        *(_("List"), _("Place"), _("Name"), _("Number"), _("Year"), _("Major"), _("Email")),
        *(_("Credits"), _("Since"), _("Privacy")),
    ]
    for person in people.enrolled:
        yield _row(_("Roster"), person)
    for person in people.waiting:
        yield _row(_("Waitlist"), person)


def _row(where: str, person: Person) -> list[str]:
    since = person.since.astimezone(backend().settings.zone)
    return [
        where,
        str(person.place or ""),
        person.name,
        person.number,
        person.year,
        ", ".join(person.majors),
        person.email,
        f"{person.credits / 100:g}",
        f"{since:%Y-%m-%d %H:%M:%S}",
        _("private") if person.private else "",
    ]
