"""An instructor's own sections and their students: as pages, as a file, as addresses."""

import re
from typing import Any, cast

from flask import Blueprint, make_response, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.backend import backend
from portal.catalog.term_catalog import catalog_of, published_terms
from portal.core.i18n import _
from portal.people import permissions
from portal.people.roles import Right
from portal.recorder import read_with_fallback
from portal.reports import rosters
from portal.reports.rosters import RosterView
from portal.web.confirm import Confirmation, NotPossible, confirm
from portal.web.http.access import requires, visitor
from portal.web.http.downloads import download
from portal.web.instructor import applications, requests
from portal.web.instructor.own_sections import InstructorSection, own_section, taught_section

bp = Blueprint("instructor", __name__, url_prefix="/teaching")
bp.register_blueprint(requests.bp)
bp.register_blueprint(applications.bp)


@bp.get("")
@requires(Right.TEACH)
def teaching() -> ResponseReturnValue:
    """Render the visitor's sections of a term, by default the latest, with their seats."""
    mine = visitor().instructor_ids
    offers = [
        offered for term in published_terms() if (offered := catalog_of(term.id)).taught_by(mine)
    ]
    term_id = request.args.get("term", type=int)
    shown = next(
        (each for each in offers if each.term.id == term_id), offers[0] if offers else None
    )
    sections = shown.taught_by(mine) if shown else []
    ids = [section.id for section in sections]
    counts = read_with_fallback.seats_of(shown.term.id, ids) if shown else {}
    return render_template(
        "instructor/teaching.html",
        terms=[offered.term for offered in offers],
        term=shown.term if shown else None,
        sections=sections,
        counts=counts,
    )


@bp.get("/sections/<int:section_id>")
@requires(Right.TEACH, Right.SEE_ROSTERS, Right.SCHEDULE)
def section(section_id: int) -> ResponseReturnValue:
    """Render one section with its roster and its waitlist."""
    shown, view = own_section(section_id), RosterView.parse(request.args)
    counts = read_with_fallback.seats_of(shown.term.id, [section_id])
    return render_template(
        "instructor/section.html",
        term=shown.term,
        counts=counts,
        now=read_with_fallback.now(),
        consents=permissions.consents(section_id),
        **_listed(shown, view),
    )


@bp.get("/sections/<int:section_id>/roster")
@requires(Right.TEACH, Right.SEE_ROSTERS, Right.SCHEDULE)
def roster(section_id: int) -> ResponseReturnValue:
    """Render roster and waitlist alone, for an open page."""
    shown, view = own_section(section_id), RosterView.parse(request.args)
    answer = make_response(render_template("instructor/roster.html", **_listed(shown, view)))
    # The address of the page includes the search, so that a reload shows the same result.
    answer.headers["HX-Replace-Url"] = url_for(
        ".section", section_id=section_id, **cast("Any", view.args())
    )
    return answer


@bp.get("/sections/<int:section_id>/roster.csv")
@requires(Right.TEACH, Right.SEE_ROSTERS, Right.SCHEDULE)
def roster_csv(section_id: int) -> ResponseReturnValue:
    """Return roster and waitlist as a CSV file, in the order of the page."""
    shown, view = own_section(section_id), RosterView.parse({**request.args, "q": ""})
    people = view.at(rosters.roster(shown.term.id, section_id, visitor().roles))
    name = re.sub(r"[^\w.-]+", "-", f"{shown.term.name} {shown.name}")
    return download(f"{name}.csv", list(rosters.rows(people)))


@bp.get("/sections/<int:section_id>/emails")
@requires(Right.TEACH, Right.SEE_ROSTERS, Right.SCHEDULE)
def emails(section_id: int) -> ResponseReturnValue:
    """Render the addresses of the enrolled students, of the waiting ones, or of all."""
    shown, recipients = own_section(section_id), request.args.get("to")
    people = RosterView().at(rosters.roster(shown.term.id, section_id, visitor().roles))
    groups = {"enrolled": people.enrolled, "waiting": people.waiting}
    groups["all"] = people.enrolled + people.waiting
    to = recipients if recipients in groups else "enrolled"
    return render_template(
        "instructor/emails.html",
        term=shown.term,
        name=shown.name,
        section=shown.section,
        to=to,
        mailing=rosters.mailing(groups[to]),
    )


@bp.route("/sections/<int:section_id>/consents/<int:override_id>/end", methods=["GET", "POST"])
@requires(Right.TEACH)
def end_consent(section_id: int, override_id: int) -> ResponseReturnValue:
    """Take back the consent for a student, until the student has used it."""
    shown = taught_section(section_id)
    given = permissions.consents(section_id)
    found = next((each for each in given if each.id == override_id), None)
    page = Confirmation(
        title=_("Take back your consent"),
        button=_("Take it back"),
        back=(url_for(".section", section_id=section_id), shown.name),
        facts=[(_("Student"), f"{found.name}, {found.number}")] if found else (),
        meaning=[
            _(
                "The student can no longer register for this section, and gets no seat from its"
                " waitlist. The student is notified, with your reason."
            )
        ],
        danger=True,
    )

    def act(reason: str) -> str:
        if found is None:
            raise NotPossible(_("This consent no longer counts."))
        held = backend().ledger.registrations(shown.term.id, found.student).enrolled
        if any(each.section == section_id for each in held):
            raise NotPossible(_("The student already has a seat. Ask the registrar to drop it."))
        if not permissions.revoke(found.student, found.id, reason, by=visitor().id):
            raise NotPossible(_("This consent no longer counts."))
        return _("Consent for %(name)s taken back.", name=found.name)

    return confirm(page, act)


def _listed(shown: InstructorSection, view: RosterView) -> dict[str, object]:
    everyone = rosters.roster(shown.term.id, shown.section.id, visitor().roles)
    return {
        "name": shown.name,
        "section": shown.section,
        "view": view,
        "sorts": rosters.SORTS,
        "everyone": everyone,
        "people": view.at(everyone),
    }
