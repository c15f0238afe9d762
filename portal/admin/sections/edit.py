"""Changing a section: a form, then what the change will mean, then the deed."""

from dataclasses import dataclass

from flask import Blueprint, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from portal.admin import affected, looks
from portal.admin.reasons import read_reason
from portal.admin.sections import fields, impact
from portal.admin.sections.asked import choices, told
from portal.admin.sections.cautions import Subject, cautions
from portal.admin.sections.pages import find_or_404
from portal.admin.sections.preview import Preview, barred, confirm
from portal.admin.sections.words import ACTIONS
from portal.admin.times import Reading
from portal.catalog import requisites, sections
from portal.catalog.section_fields import SectionDetails
from portal.catalog.sections import Difference, NotPossible, Stale, StoredSection, differences
from portal.catalog.term_catalog import TermCatalog, catalog_of
from portal.core.db import transaction
from portal.core.i18n import _, _n
from portal.reports import audit_trail
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

bp = Blueprint("section_edit", __name__, url_prefix="/terms/<int:term_id>/sections")


@dataclass(frozen=True)
class Weighed:
    """A form that was sent: what is wrong with it, or what it will mean."""

    stored: StoredSection
    form: fields.Form
    reading: Reading
    wanted: SectionDetails | None = None  # None: the form is to be filled in further
    reason: str = ""
    preview: Preview | None = None
    stale: bool = False  # somebody has changed the section meanwhile

    @property
    def ready(self) -> bool:
        """Whether it is to be done."""
        return self.preview is not None and "confirmed" in self.form and not self.reading.errors


@bp.get("/<int:section_id>/edit")
@requires("admin")
def ask(term_id: int, section_id: int) -> ResponseReturnValue:
    """The form with what is set now; of one that was sent, what is wrong or what it will mean."""
    form = looks.looked()
    with transaction() as session:
        stored = find_or_404(session, term_id, section_id)
        if form is None:
            form = fields.write(stored.details)
            return _form(session, stored, form, barred(stored))
        found = _weigh(session, stored, form)
        if found.stale and found.wanted:
            return _conflict(session, stored, form, found.wanted)
        if found.preview is None:
            return _form(session, stored, form, found.reading)
        return confirm(stored, form, found.reading, found.preview)


@bp.post("/<int:section_id>/edit")
@requires("admin")
def change(term_id: int, section_id: int) -> ResponseReturnValue:
    """The deed, once it is confirmed; otherwise on to what it will mean."""
    with transaction() as session:
        found = _weigh(session, find_or_404(session, term_id, section_id), request.form)
    if found.ready and found.wanted:
        return _do(found, found.wanted)
    return looks.look(request.path)


def _weigh(session: Session, stored: StoredSection, form: fields.Form) -> Weighed:
    """What is wrong, what somebody else has changed, what it will mean."""
    offered, reading = catalog_of(stored.term_id), barred(stored)
    if reading.errors:
        return Weighed(stored, form, reading)
    wanted, reading = fields.read(session, form, offered.term, stored.course_code)
    if wanted is None or {"edit", "more"} & form.keys():
        return Weighed(stored, form, reading)
    if stored.version != _version(form):
        return Weighed(stored, form, reading, wanted, stale=True)
    if wanted == stored.details:
        reading.wrong("", _("Nothing has been changed yet."))
        return Weighed(stored, form, reading)
    preview = _preview(session, stored, wanted, offered)
    needed = preview.takes and "confirmed" in form
    return Weighed(
        stored, form, reading, wanted, read_reason(reading, form, needed=needed), preview
    )


def _version(form: fields.Form) -> int:
    return form.get("version", 0, type=int)


def _preview(
    session: Session, stored: StoredSection, wanted: SectionDetails, offered: TermCatalog
) -> Preview:
    now = impact.part(stored, impact.seats_of(stored))
    return Preview(
        differences(stored.details, wanted),
        impact.impact(session, stored, wanted, now, offered),
        cautions(session, Subject(stored.id, stored.course_code, wanted, offered)),
        impact.takes(stored, wanted, now),
        impact.clashing(session, stored, wanted, offered),
        affected.people(session, stored.id) if stored.status != "NEW" else [],
    )


def _do(found: Weighed, wanted: SectionDetails) -> ResponseReturnValue:
    stored = found.stored
    seen = sections.SeenSection(stored.term_id, stored.id, _version(request.form))
    try:
        sections.edit_section(seen, wanted, visitor().id, found.reason)
    except (Stale, NotPossible):  # in the moment since it was read above
        return looks.look(request.path)
    told(stored.term_id, stored.id)
    flash(_("Changed: %(name)s.", name=f"{requisites.shown(stored.course_code)}-{wanted.number}"))
    if number := len(found.preview.clashing if found.preview else ()):
        flash(
            _n(
                "%(num)s student has another section at the same time now, is told so, and is"
                " named on this page.",
                "%(num)s students have another section at the same time now, are told so, and are"
                " named on this page.",
                number,
            )
        )
    return go(url_for("admin.sections.show", term_id=stored.term_id, section_id=stored.id))


def _conflict(
    session: Session, stored: StoredSection, form: fields.Form, mine: SectionDetails
) -> ResponseReturnValue:
    """Show both versions; the form keeps what was entered, on the version that is stored now."""
    differs = differences(stored.details, mine)
    done = audit_trail.of(session, stored.subject)
    reading = barred(stored)
    if not differs and not reading.errors:
        reading.wrong("", _("It has been changed meanwhile, to just what you have entered."))
    return _form(session, stored, form, reading, differs, done[0] if done else None)


def _form(  # noqa: PLR0913, PLR0917 - what one page shows
    session: Session,
    stored: StoredSection,
    form: fields.Form,
    reading: Reading,
    differs: list[Difference] | None = None,
    last: audit_trail.Entry | None = None,
) -> ResponseReturnValue:
    page = render_template(
        "admin/section_edit.html",
        term=catalog_of(stored.term_id).term,
        stored=stored,
        form=form,
        version=form.get("version", stored.version) if differs is None else stored.version,
        reading=reading,
        differs=differs,
        last=last,
        verbs=ACTIONS,
        **choices(session, form),
    )
    return page, 409 if differs is not None else 422 if reading.errors else 200
