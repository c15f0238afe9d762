"""Changing several sections at once: a form, the effects on each, the change, and its undoing."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import time

from flask import Blueprint, abort, flash, redirect, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from portal.catalog import formatting, sections
from portal.catalog.bulk_changes import CHANGES, earlier
from portal.catalog.record_details import Difference
from portal.catalog.section_fields import MOST_SEATS, NamedInstructor, SectionDetails
from portal.catalog.sections import (
    NotPossible,
    SeenSection,
    Stale,
    StoredSection,
    find_section,
    named_instructors,
)
from portal.catalog.term_catalog import SectionView, TermCatalog, catalog_of
from portal.core.db import transaction
from portal.core.i18n import _, _l, _n
from portal.exchange.importing.unread import unread_values
from portal.ledger.errors import LedgerUnavailable
from portal.people.roles import Right
from portal.recorder import read_with_fallback
from portal.registration.seat_counts import is_active
from portal.reports.effects import section_warnings
from portal.reports.effects import sections as effects
from portal.web import drafts
from portal.web.admin import underfilled
from portal.web.admin.sections import (
    SectionQuery,
    apply_in_ledger,
    in_words,
    make_status_change,
    may_add_rooms,
    names_of_unread,
)
from portal.web.forms import Form, ReasonForm, SelectOneField, Sent, TextField, render_form
from portal.web.http.access import demand, requires, visitor
from portal.web.http.layout import go

MOST = 100  # sections in the list, and in one step
STATUSES = {
    "publish": _l("Publish"),
    "confirm": _l("Confirm"),
    "reopen": _l("Reopen"),
    "cancel": _l("Cancel the sections"),
}
UNDO = "undo"  # the name of the forms that undo a change, apart from others
# Only to undo publishing: a form does not offer it.
UNPUBLISH = {"unpublish": _l("Make drafts again")}
UNDONE_BY = {
    "publish": "unpublish",
    "unpublish": "publish",
    "confirm": "reopen",
    "reopen": "confirm",
}

bp = Blueprint("bulk_edit", __name__, url_prefix="/terms/<int:term_id>/sections/several")


class BulkForm(Form):
    """What to change, and to what."""

    change = SelectOneField(
        _l("What to change"),
        choices=lambda: {
            "": _l("Choose"),
            **{name: each.label for name, each in CHANGES.items() if each.uses},
            **STATUSES,
        },
        missing=_l("Choose what to change."),
    )
    number = TextField(
        _l("Number"),
        required=False,
        longest=9,
        description=_l(
            "Such as 30. To remove five seats, choose “Add or remove seats” and enter -5."
        ),
    )
    room = TextField(
        _l("Room"),
        required=False,
        longest=80,
        description=_l("Blank for no room."),
        render_kw={"list": "rooms"},
    )
    instructor = TextField(
        _l("Instructor"),
        required=False,
        description=_l("A name from the list."),
        render_kw={"list": "instructors"},
    )

    rows = (("change", "number", "room", "instructor"),)

    def values(self, known: Sequence[NamedInstructor]) -> list[str]:
        """Return the values of the change; add an error if they don't fit it."""
        name = self.change.data
        if not name:
            self.refuse(_("Choose what to change."), "change")
        if name not in CHANGES:
            return []
        if CHANGES[name].uses == "instructor":
            wanted = self.instructor.data.casefold()
            found = [str(each.id) for each in known if each.name.casefold() == wanted]
            if not found:
                self.refuse(_("Choose an instructor from the list."), "instructor")
            return found
        if CHANGES[name].uses == "room":
            return [self.room.data]
        values = [self.number.data]
        try:
            CHANGES[name].apply(SectionDetails(), values, known)
        except ValueError:
            least = -MOST_SEATS if name == "more_seats" else 0
            facts = {"least": formatting.number(least), "most": formatting.number(MOST_SEATS)}
            wrong = _("%(field)s: enter a whole number from %(least)s to %(most)s.")
            self.refuse(wrong % {"field": self.number.label.text, **facts}, "number")
        return values


@dataclass(frozen=True)
class PlannedEdit:
    """A section as it is and as it will be, and what that means."""

    stored: StoredSection
    details: SectionDetails
    changes: Sequence[Difference] = ()
    sentences: Sequence[str] = ()
    cautions: Sequence[str] = ()

    @property
    def seen(self) -> SeenSection:
        return SeenSection(self.stored.term_id, self.stored.id, self.stored.version)


@dataclass(frozen=True)
class LastChange:
    """A change of the last day, and the fields that undo it, if something can be undone."""

    at: datetime
    label: str
    number: int  # of sections
    address: str  # of the page that follows the change
    undo: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Plan:
    """What a form changes, and the sections that stay as they are, each with why."""

    change: str
    edits: list[PlannedEdit]
    skipped: list[tuple[str, str]]

    @property
    def action(self) -> str:
        """Return what the audit trail calls it."""
        return _action(self.change)

    @property
    def reverse(self) -> Sent:
        """Return the form that undoes it, without `undo` if nothing can."""
        ids = [str(each.stored.id) for each in self.edits]
        found: Sent = MultiDict(("section", each) for each in ids)
        found.update(
            {f"version_{each.stored.id}": str(each.stored.version + 1) for each in self.edits}
        )
        found.update({"did": self.change, "at": str(int(time()))})
        if self.change in UNDONE_BY:
            found.update({"undo": "yes", "change": UNDONE_BY[self.change]})
        if self.change in CHANGES:
            found["undo"] = "yes"
            for each in self.edits:
                found["change"], values = earlier(self.change, each.stored.details)
                found.setlist(f"each_{each.stored.id}", values)
        return found


@bp.get("")
@requires(Right.CHANGE_SECTIONS, Right.SCHEDULE)
def index(term_id: int) -> ResponseReturnValue:
    """Render the form, the effects of a form that was sent, or what was changed."""
    offered = catalog_of(term_id)
    if number := request.args.get("done", type=int):
        return _done_page(offered, drafts.load(visitor().id, request.path, number, UNDO))
    sent = drafts.shown_draft()
    if sent is None:
        return _form_page(offered, BulkForm(formdata=None), request.args)
    with transaction() as session:
        form, plan = _read(session, offered, sent)
        if plan is None or "edit" in sent:
            return _form_page(offered, form, sent)
        if plan.change == "cancel" and plan.edits:
            chosen = offered.some(each.stored.id for each in plan.edits)
            form_of_reason = ReasonForm(formdata=None)
            return underfilled.review_page(offered, chosen, sent, form_of_reason, plan.skipped)
        plan = _explained(session, offered, plan)
        of_all = {each.stored.id: each.stored.name for each in plan.edits}
        cautions = names_of_unread(session, of_all) if plan.change == "publish" else []
    reason = ReasonForm(sent)
    if "confirmed" in sent:
        reason.validate()
    if sent["refused"]:
        reason.refuse(sent["refused"])
    return render_form(
        "admin/bulk_review.html",
        reason,
        term=offered.term,
        plan=plan,
        cautions=cautions,
        label=_label(plan.change),
        undoes="undo" in sent,
        sent=[each for each in sent.items(multi=True) if _is_sent_again(each[0])],
        result=secrets.randbits(53),
    )


@bp.post("")
@requires(Right.CHANGE_SECTIONS, Right.SCHEDULE)
def change(term_id: int) -> ResponseReturnValue:
    """Change all of the sections or none if confirmed; otherwise redirect to the effects."""
    offered, sent, by = catalog_of(term_id), request.form, visitor().id
    if "confirmed" not in sent or not ReasonForm().validate():
        return drafts.show_draft(request.path)
    with transaction() as session:
        _form, plan = _read(session, offered, sent)
    result = sent.get("result", type=int) or abort(400)
    if plan is None or plan.change == "cancel":
        return drafts.show_draft(request.path)
    address, seen = f"{request.path}?done={result}", _seen(term_id, sent)

    def repeated() -> bool:  # the same form was sent twice
        marked = drafts.load(by, request.path, result, UNDO)
        return marked is not None and sections.done_before(plan.action, seen, by)

    if plan.skipped or not plan.edits:  # something has changed since the review
        return redirect(address, 303) if repeated() else drafts.show_draft(request.path)
    reverse, undoes = plan.reverse, "undo" in sent
    if undoes:
        reverse["undid"] = "yes"
    drafts.save(by, request.path, result, reverse, UNDO)
    try:
        _carry_out(plan, by, sent["reason"])
    except Stale as stale:
        if not repeated():
            return _refused(plan, stale.section_id, _("it has changed since"))
    except NotPossible as refused:
        why = effects.obstacle(plan.change, refused.code).rstrip(".")
        return _refused(plan, refused.section_id, why)
    ids = [each.stored.id for each in plan.edits]
    apply_in_ledger(term_id, *ids)
    if undoes:
        flash(_n("Undone: %(num)s section.", "Undone: %(num)s sections.", len(ids)))
    else:
        flash(_n("Changed: %(num)s section.", "Changed: %(num)s sections.", len(ids)))
    return go(address)


def _done_page(offered: TermCatalog, undo: Sent | None) -> ResponseReturnValue:
    """Render what was changed, with a button that undoes it."""
    if undo is None:
        flash(_("This change can no longer be undone here."))
        return redirect(request.path)
    return render_template(
        "admin/bulk_done.html",
        term=offered.term,
        views=offered.some(undo.getlist("section", type=int)),
        undo=[*undo.items(multi=True)] if "undo" in undo else [],
        undone="undid" in undo,
    )


def _last_changes(term_id: int) -> list[LastChange]:
    """Return what the visitor changed in the last day, newest first; none without the ledger."""
    found, by = list[LastChange](), visitor().id
    try:
        stored = drafts.every(by, request.path, UNDO)
    except LedgerUnavailable:
        return []
    for number, form in stored:
        after = _seen(term_id, form)
        before = [replace(each, version=each.version - 1) for each in after]
        did = form.get("did", "")
        if not did or not sections.done_before(_action(did), before, by):
            continue  # it was refused, or the version of the portal before stored it
        undo = [*form.items(multi=True)] if "undo" in form and sections.unchanged(after) else []
        at = datetime.fromtimestamp(int(form["at"]), UTC)
        address = f"{request.path}?done={number}"
        found.append(LastChange(at, _label(did), len(after), address, undo))
    return found


def _action(change: str) -> str:
    """Return what the audit trail calls a change."""
    return "edit" if change in CHANGES else change


def _carry_out(plan: Plan, by: int, reason: str) -> None:
    ordered = sorted(plan.edits, key=lambda each: each.stored.id)
    if plan.change in CHANGES:
        wanted = [(each.seen, each.details) for each in ordered]
        sections.edit_sections(wanted, by, reason, new_rooms=may_add_rooms())
    else:
        make_status_change(plan.change, [each.seen for each in ordered], by, reason)


def _seen(term_id: int, sent: Sent) -> list[SeenSection]:
    """Return the sections that the review showed, with their versions."""
    ids = sent.getlist("section", type=int)
    return [SeenSection(term_id, each, sent.get(f"version_{each}", 0, type=int)) for each in ids]


def _label(name: str) -> str:
    return str(CHANGES[name].label if name in CHANGES else (STATUSES | UNPUBLISH)[name])


def _is_sent_again(name: str) -> bool:
    """Return whether a field stays in the form that confirms; its versions are replaced."""
    gone = {"all", "reason", "confirmed", "refused", "result", "section", "csrf_token", "edit"}
    return name not in gone | {"did", "at", "undid"} and not name.startswith("version_")


def _refused(plan: Plan, section_id: int, why: str) -> ResponseReturnValue:
    names = {each.stored.id: each.stored.name for each in plan.edits}
    refusal = _(
        "Nothing was changed. %(name)s: %(why)s. Check the list and try again.",
        name=names.get(section_id, str(section_id)),
        why=why,
    )
    return drafts.show_draft(request.path, refusal)


# Reading a form


def _read(session: Session, offered: TermCatalog, sent: Sent) -> tuple[BulkForm, Plan | None]:
    """Return the form, and what it changes without its effects; no plan if it has errors."""
    form, known = BulkForm(sent), named_instructors(session)
    name, values = sent.get("change", ""), list[str]()
    undo = "undo" in sent and name in CHANGES  # with the earlier values of each section
    if not undo and not ("undo" in sent and name in UNPUBLISH) and form.validate():
        values = form.values(known)
    ids = dict.fromkeys(sent.getlist("section", type=int)[: MOST + 1])
    if "all" in sent:
        ids = dict.fromkeys(each.id for each in _found(offered, sent))
    if not ids:
        form.refuse(_("Select the sections to change."))
    if len(ids) > MOST:
        form.refuse(_("Select at most %(most)s sections.", most=MOST))
    if form.errors:
        return form, None
    plan = Plan(name, [], [])
    for number in ids:
        stored = find_section(session, offered.term.id, number)
        if stored is None:
            continue
        demand(Right.CHANGE_SECTIONS, stored.department_id)
        unseen = 0 if "confirmed" in sent else stored.version
        stale = stored.version != sent.get(f"version_{number}", unseen, type=int)
        theirs = sent.getlist(f"each_{number}") if undo else values
        try:
            details = (
                CHANGES[name].apply(stored.details, theirs, known) if name in CHANGES else None
            )
            why = _("It has changed since.") if stale else _obstacle(stored, details, name)
        except ValueError:
            details, why = None, _("Its earlier values no longer fit.")
        if why:
            plan.skipped.append((stored.name, why))
        else:
            plan.edits.append(PlannedEdit(stored, details or stored.details))
    return form, plan


def _obstacle(stored: StoredSection, details: SectionDetails | None, change: str) -> str:
    """Return why a section stays as it is; blank if it changes."""
    if details is None:
        empty = effects.Occupancy(0, 0, stored.prior, None)
        in_it = effects.occupancy(stored) if change in UNPUBLISH else empty
        return effects.status_refusal(change, stored, in_it)
    if stored.obstacle:
        return effects.obstacle("edit", stored.obstacle)
    if details == stored.details:
        return _("Nothing would change.")
    reserved = sum(each.seats for each in details.reserves if is_active(each))
    if details.capacity < stored.details.capacity and reserved > details.capacity:
        return _n("%(num)s seat is reserved.", "%(num)s seats are reserved.", reserved)
    return ""


# The effects


def _explained(session: Session, offered: TermCatalog, plan: Plan) -> Plan:
    """Return the plan with the effects and warnings of each section."""
    if plan.change in CHANGES:
        later = _as_planned(offered, plan.edits)
        edits = [_with_effects(session, offered, later, each) for each in plan.edits]
    else:
        ids = [each.stored.id for each in plan.edits] if plan.change == "publish" else []
        unread = unread_values(session, ids)
        edits = [
            replace(
                each,
                sentences=effects.of_status(plan.change, effects.occupancy(each.stored)),
                cautions=[in_words(unread[each.stored.id])] if each.stored.id in unread else [],
            )
            for each in plan.edits
        ]
    return replace(plan, edits=edits)


def _with_effects(
    session: Session, offered: TermCatalog, later: TermCatalog, edit: PlannedEdit
) -> PlannedEdit:
    stored, details = edit.stored, edit.details
    warnings = section_warnings.of_section(session, later, stored.course_code, details, stored.id)
    return replace(
        edit,
        changes=stored.differences(details),
        sentences=effects.of_change(session, stored, details, offered).sentences,
        cautions=warnings,
    )


def _as_planned(offered: TermCatalog, edits: Sequence[PlannedEdit]) -> TermCatalog:
    """Return the catalog after the change, to see which of the sections then clash."""
    wanted = {each.stored.id: each.details for each in edits}
    later = [_later(each, wanted.get(each.id)) for each in offered.sections]
    return replace(offered, sections=tuple(later))


def _later(section: SectionView, details: SectionDetails | None) -> SectionView:
    if details is None:
        return section
    return replace(
        section,
        capacity=details.capacity,
        meetings=details.meetings,
        instructors=tuple(each.name for each in details.instructors),
        instructor_ids=tuple(each.id for each in details.instructors),
    )


# The list to choose from


def _found(offered: TermCatalog, sent: Sent) -> list[SectionView]:
    """Return the sections that a search finds, without canceled ones."""
    wanted = SectionQuery.parse(sent)
    counts = read_with_fallback.seats(offered.term.id)
    return [
        each
        for each in wanted.pick(offered, counts)
        if each.status != "CANCELED" and visitor().may_in(Right.CHANGE_SECTIONS, each.department_id)
    ]


def _form_page(offered: TermCatalog, form: BulkForm, sent: Sent) -> ResponseReturnValue:
    found, wanted = _found(offered, sent), SectionQuery.parse(sent)
    with transaction() as session:
        known = named_instructors(session)
    return render_form(
        "admin/bulk_edit.html",
        form,
        term=offered.term,
        wanted=wanted,
        query=wanted.query,
        subjects=offered.subjects,
        views=found[:MOST],
        total=len(found),
        most=MOST,
        ticked=set(sent.getlist("section", type=int)),
        all="all" in sent,
        counts=read_with_fallback.seats(offered.term.id),
        rooms=sorted({each.room for view in offered.sections for each in view.meetings} - {""}),
        instructors=[each.name for each in known],
        last=_last_changes(offered.term.id),
    )
