"""The seats that sections share: a form, its effects, then the change."""

from typing import Any

from flask import Blueprint
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from portal.catalog import requisites, sections
from portal.catalog.record_details import RecordChange
from portal.catalog.seat_pools import Member, SeatPool
from portal.catalog.section_fields import MOST_SEATS
from portal.catalog.sections import name_key, term_of_section
from portal.catalog.term_catalog import SectionView, TermCatalog, catalog_of
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.people.roles import Right
from portal.registration.next_steps import section_name
from portal.reports.effects import section_warnings
from portal.reports.effects import sections as section_effects
from portal.reports.effects.sections import OBSTACLES
from portal.web import drafts
from portal.web.admin.record_editing import RecordEdit
from portal.web.admin.section_editing import REVIEW, back_to, reason_form
from portal.web.admin.section_forms import NamesField
from portal.web.admin.sections import apply_in_ledger, find_or_404
from portal.web.forms import Form, NumberField, Sent, TextField
from portal.web.http.access import requires, visitor

bp = Blueprint("shared_seats", __name__, url_prefix="/terms/<int:term_id>/sections")

FORM = "admin/section_share.html"
MOST_SHARING = 20  # sections


class SharedSeatsForm(Form):
    capacity = NumberField(_l("Shared seats"), most=MOST_SEATS)
    name = TextField(
        _l("Name"),
        longest=80,
        missing=_l("Name: enter at most 80 characters."),
        too_long=_l("Name: enter at most 80 characters."),
    )
    section = NamesField(
        _l("Sections"),
        description=_l(
            "One section per field, such as CSC 1100-01 or its CRN. Clear a field to"
            " remove the section. With fewer than two sections, sharing ends."
        ),
    )

    def __init__(
        self, sent: Sent | None, session: Session, offered: TermCatalog, now: SeatPool
    ) -> None:
        names = [each.name for each in now.members]
        super().__init__(sent, data={**vars(now), "section": names})
        self.session, self.offered, self.now = session, offered, now

    def check_together(self) -> None:
        """Check the sections, and build the pool that the fields describe."""
        self._check_departments()
        members = self._members()
        if len(members) == 1 and not self.now.id:
            self.refuse(_("Enter at least two sections."), "section")
        capacity, name = self.capacity.data, self.name.data
        if not self.errors:
            self.details = SeatPool(self.now.id, self.now.version, name, capacity, members)

    def _members(self) -> tuple[Member, ...]:
        known = {
            key: each
            for each in self.offered.sections
            for key in (name_key(section_name(each)), name_key(each.crn))
        }
        found: dict[int, Member] = {}
        for typed in self.section.data:
            section = known.get(name_key(typed))
            if section is None:
                self.refuse(self._unknown(typed[:60]), "section")
            elif why := self._obstacle(section):
                self.refuse(why, "section")
            else:
                found[section.id] = Member(section.id, section_name(section))
        if len(found) > MOST_SHARING:
            self.refuse(
                _("At most %(most)s sections can share seats.", most=MOST_SHARING), "section"
            )
        return tuple(sorted(found.values(), key=lambda each: (each.name, each.id)))

    def _check_departments(self) -> None:
        """Refuse a pool that already has sections which the visitor may not change."""
        members = self.offered.some(sorted(self.now.ids))
        if len(members) < len(self.now.ids) and not visitor().may(Right.CHANGE_SECTIONS):
            self.refuse(_("A deleted section shares these seats. Ask the registrar’s office."))
        for each in members:
            if why := self._elsewhere(each):
                self.refuse(why)

    @staticmethod
    def _elsewhere(section: SectionView) -> str:
        if visitor().may_in(Right.CHANGE_SECTIONS, section.department_id):
            return ""
        return _(
            "%(name)s belongs to another department. Ask the registrar’s office to share its"
            " seats.",
            name=section_name(section),
        )

    def _obstacle(self, section: SectionView) -> str:
        """Return why a section can't join the pool; blank if it can or already has."""
        if why := self._elsewhere(section):
            return why
        if section.id in self.now.ids and section.pool == (self.now.id or None):
            return ""
        if section.status == "CANCELED":
            return _("%(name)s has been canceled.", name=section_name(section))
        if section.pool:
            return _(
                "%(name)s already shares seats with other sections. Remove it there first.",
                name=section_name(section),
            )
        return ""

    def _unknown(self, typed: str) -> str:
        """Return that this term has no such section, and which term has."""
        if term := term_of_section(self.session, typed, other_than=self.offered.term.id):
            return _(
                "“%(name)s” is a section of %(term)s. Only sections of the same term can share"
                " seats.",
                name=typed,
                term=term,
            )
        return _(
            "This term has no section “%(name)s”. Enter a name from the list, or a CRN.",
            name=typed,
        )


@bp.route("/<int:section_id>/share", methods=["GET", "POST"])
@requires(Right.CHANGE_SECTIONS, Right.SCHEDULE)
def share(term_id: int, section_id: int) -> ResponseReturnValue:
    """Render the form or the effects of the submitted one; store it once it is confirmed."""
    sent, offered = drafts.sent_form(), catalog_of(term_id)
    with transaction() as session:
        stored = find_or_404(session, term_id, section_id, Right.CHANGE_SECTIONS)
        alone = (Member(section_id, stored.name),)
        name, seats = requisites.shown(stored.course_code), stored.details.capacity
        now = stored.pool or SeatPool(0, 0, name, seats, alone)
        form = SharedSeatsForm(sent, session, offered, now)
        context = {"term": offered.term, "stored": stored, "names": _own_names(offered)}
        change = RecordEdit(sent, form, now, stored.subject, back_to(stored), FORM, context)
        if stored.obstacle:
            form.refuse(OBSTACLES[stored.obstacle])
        if page := change.page_before_review(session):
            return page
    effects = section_effects.of_pool(now, form.details, term_id)

    def store(confirmed: RecordChange[Any]) -> str:
        touched = sections.share_seats(term_id, form.details, confirmed.by, confirmed.reason)
        apply_in_ledger(term_id, *touched)
        return _("Changed: %(name)s.", name=form.details.name)

    return change.confirm(
        store,
        reason=reason_form(effects),
        template=REVIEW,
        term=offered.term,
        stored=stored,
        effects=effects,
        cautions=[*section_warnings.of_pool(form.details, offered)],
    )


def _own_names(offered: TermCatalog) -> list[str]:
    """Return the names of the sections that the visitor may let share seats."""
    return [
        section_name(each)
        for each in offered.sections
        if each.status != "CANCELED" and visitor().may_in(Right.CHANGE_SECTIONS, each.department_id)
    ]
