"""Changing several sections at once: a form, the effects on each, the change, and its undoing."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from flask import Blueprint, flash, redirect, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from portal.catalog import sections
from portal.catalog.bulk_changes import CHANGES, MOST_SEATS
from portal.catalog.section_fields import NamedInstructor, SectionDetails
from portal.catalog.sections import (
    Difference,
    NotPossible,
    SeenSection,
    Stale,
    StoredSection,
    differences,
    find_section,
    named_instructors,
)
from portal.catalog.term_catalog import SectionView, TermCatalog, catalog_of
from portal.core.db import transaction
from portal.core.form_fields import whole_number
from portal.core.i18n import _, _l, _n
from portal.people.roles import Right
from portal.recorder import read_with_fallback
from portal.registration.seat_counts import is_active
from portal.reports.effects import section_warnings
from portal.reports.effects import sections as effects
from portal.web import drafts
from portal.web.admin import underfilled
from portal.web.admin.sections import STATUS_PAGES, SectionQuery, apply_in_ledger
from portal.web.forms import Form, ReasonForm, SelectOneField, TextField
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

if TYPE_CHECKING:
    from portal.catalog.views import MeetingView

    Sent = MultiDict[str, str]

MOST = 100  # sections in the list, and in one step
STATUSES = ("publish", "confirm", "reopen", "cancel")
UNDONE_BY = {"confirm": "reopen", "reopen": "confirm"}

bp = Blueprint("bulk_edit", __name__, url_prefix="/terms/<int:term_id>/sections/several")


class BulkForm(Form):
    """What to change, and to what."""

    change = SelectOneField(
        _l("What to change"),
        choices=lambda: {
            "": _l("Choose"),
            **{name: each.label for name, each in CHANGES.items() if each.uses},
            **{name: STATUS_PAGES[name].title for name in STATUSES},
        },
        missing=_l("Choose what to change."),
    )
    number = TextField(
        _l("Number"),
        required=False,
        longest=9,
        description=_l("Of seats, such as 30 or -5."),
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
        if not self.change.data:
            self.refuse(_("Choose what to change."), "change")
        uses = CHANGES[self.change.data].uses if self.change.data in CHANGES else ""
        if uses == "number":
            return self._number()
        if uses == "instructor":
            wanted = self.instructor.data.casefold()
            found = [str(each.id) for each in known if each.name.casefold() == wanted]
            if not found:
                self.refuse(_("Choose an instructor from the list."), "instructor")
            return found
        return [self.room.data] if uses else []

    def _number(self) -> list[str]:
        text = self.number.data
        signed = self.change.data == "more_seats"
        found = whole_number(text.removeprefix("-") if signed else text)
        if found is None or found > MOST_SEATS:
            self.refuse(
                _("Enter a whole number, such as 5 or -5.") if signed else _("Enter a number."),
                "number",
            )
        return [text]


@dataclass(frozen=True)
class PlannedEdit:
    """A section as it is and as it will be, and what that means."""

    stored: StoredSection
    details: SectionDetails
    changes: list[Difference]
    sentences: list[str]
    cautions: list[str]

    @property
    def seen(self) -> SeenSection:
        return SeenSection(self.stored.term_id, self.stored.id, self.stored.version)


@dataclass(frozen=True)
class Plan:
    """What a form changes, and the sections that stay as they are, each with why."""

    change: str
    edits: list[PlannedEdit]
    skipped: list[tuple[str, str]]

    @property
    def reverse(self) -> "Sent":
        """Return the form that undoes it; empty if nothing can."""
        found: Sent = MultiDict({"undo": "yes"})
        for each in self.edits:
            if self.change in CHANGES:
                name, values = CHANGES[self.change].earlier(each.stored.details)
                found.setlist(f"each_{each.stored.id}", values)
            elif not (name := UNDONE_BY.get(self.change, "")):
                return MultiDict()
            found["change"] = name
            found.add("section", str(each.stored.id))
            found[f"version_{each.stored.id}"] = str(each.stored.version + 1)
        return found


@bp.get("")
@requires(Right.CHANGE_SECTIONS)
def index(term_id: int) -> ResponseReturnValue:
    """Render the form, the effects of a form that was sent, or what was changed."""
    offered, sent = catalog_of(term_id), drafts.shown_draft()
    if sent is None:
        return _form_page(offered, BulkForm(formdata=None), request.args)
    if "done" in sent:
        return render_template(
            "admin/bulk_done.html",
            term=offered.term,
            cards=offered.some(sent.getlist("section", type=int)),
            undo=[each for each in sent.items(multi=True) if each[0] not in {"done", "refused"}]
            if "undo" in sent
            else [],
        )
    with transaction() as session:
        form, plan = _read(session, offered, sent)
    if plan is None:
        return _form_page(offered, form, sent)
    if plan.change == "cancel" and plan.edits:
        chosen = offered.some(each.stored.id for each in plan.edits)
        return underfilled.review_page(offered, chosen, MultiDict(), ReasonForm(formdata=None))
    if sent["refused"]:
        form.refuse(sent["refused"])
    reason = ReasonForm(sent)
    if "confirmed" in sent:
        reason.validate()
    page = render_template(
        "admin/bulk_review.html",
        term=offered.term,
        plan=plan,
        form=form,
        reason=reason,
        label=_label(plan.change),
        sent=[each for each in sent.items(multi=True) if _is_sent_again(each[0])],
        result=secrets.randbits(53),
    )
    return page, 422 if form.errors or reason.errors else 200


@bp.post("")
@requires(Right.CHANGE_SECTIONS)
def change(term_id: int) -> ResponseReturnValue:
    """Change all of the sections or none if confirmed; otherwise redirect to the effects."""
    offered, sent, by = catalog_of(term_id), request.form, visitor().id
    reason = ReasonForm()
    if "confirmed" not in sent or not reason.validate():
        return drafts.show_draft(request.path)
    result = sent.get("result", 0, type=int)
    address = f"{request.path}?draft={result}"
    if drafts.load(by, request.path, result):
        return redirect(address, 303)  # the same form, sent twice
    with transaction() as session:
        _form, plan = _read(session, offered, sent)
    if plan is None or plan.skipped or not plan.edits:  # something has changed since the review
        return drafts.show_draft(request.path)
    try:
        _carry_out(plan, by, reason.reason.data)
    except Stale as stale:
        if not sections.done_before(_action(plan), [each.seen for each in plan.edits], by):
            return _refused(plan, stale.section_id, _("someone else has changed it"))
    except NotPossible as refused:
        why = effects.obstacle(plan.change, refused.code).rstrip(".")
        return _refused(plan, refused.section_id, why)
    ids = [each.stored.id for each in plan.edits]
    undo = plan.reverse or MultiDict(("section", str(each)) for each in ids)
    undo["done"] = "yes"
    drafts.save(by, request.path, result, undo)
    apply_in_ledger(term_id, *ids)
    flash(_n("Changed: %(num)s section.", "Changed: %(num)s sections.", len(ids)))
    return go(address)


def _carry_out(plan: Plan, by: int, reason: str) -> None:
    ordered = sorted(plan.edits, key=lambda each: each.stored.id)
    if plan.change in CHANGES:
        sections.edit_sections([(each.seen, each.details) for each in ordered], by, reason)
    else:
        sections.change_status(plan.change, [each.seen for each in ordered], by, reason)


def _action(plan: Plan) -> str:
    return "edit" if plan.change in CHANGES else plan.change


def _label(name: str) -> str:
    if name in CHANGES:
        return str(CHANGES[name].label)
    return str(STATUS_PAGES[name].title)


def _is_sent_again(name: str) -> bool:
    """Return whether a field stays in the form that confirms; its versions are replaced."""
    gone = {"all", "reason", "confirmed", "refused", "result", "section", "csrf_token"}
    return name not in gone and not name.startswith("version_")


def _refused(plan: Plan, section_id: int, why: str) -> ResponseReturnValue:
    names = {each.stored.id: each.stored.name for each in plan.edits}
    refusal = _(
        "Nothing was changed. %(name)s: %(why)s. Check the list and try again.",
        name=names.get(section_id, str(section_id)),
        why=why,
    )
    return drafts.show_draft(request.path, refusal)


# Reading a form


def _read(session: Session, offered: TermCatalog, sent: "Sent") -> tuple[BulkForm, Plan | None]:
    """Return the form, and what it changes; no plan if it has errors."""
    form, known = BulkForm(sent), named_instructors(session)
    ids = dict.fromkeys(sent.getlist("section", type=int)[: MOST + 1])
    if "all" in sent:
        ids = dict.fromkeys(each.id for each in _found(offered, sent))
    if not ids:
        form.refuse(_("Select the sections to change."))
    if len(ids) > MOST:
        form.refuse(_("Select at most %(most)s sections.", most=MOST))
    name = sent.get("change", "")
    values: list[str] = []
    undo = "undo" in sent and name in CHANGES  # with the earlier values of each section
    if not undo and form.validate():
        values = form.values(known)
    if form.errors:
        return form, None
    plan = Plan(name, [], [])
    for number in ids:
        stored = find_section(session, offered.term.id, number)
        if stored is None:
            continue
        seen = sent.get(f"version_{number}", stored.version, type=int)
        try:
            details = _details(
                stored, name, sent.getlist(f"each_{number}") if undo else values, known
            )
            why = _obstacle(stored, details, name, stale=seen != stored.version)
        except ValueError:
            details, why = stored.details, _("Its earlier values no longer fit.")
        if why:
            plan.skipped.append((stored.name, why))
        else:
            plan.edits.append(PlannedEdit(stored, details, [], [], []))
    later = _as_planned(offered, plan.edits)
    explain = partial(_explained, session, later, offered, name)
    return form, replace(plan, edits=[explain(each) for each in plan.edits])


def _details(
    stored: StoredSection, change: str, values: Sequence[str], known: Sequence[NamedInstructor]
) -> SectionDetails:
    """Return what a section will be. Raise InvalidValues."""
    if change not in CHANGES:
        return stored.details
    return CHANGES[change].apply(stored.details, values, known)


def _obstacle(stored: StoredSection, details: SectionDetails, change: str, *, stale: bool) -> str:
    """Return why a section stays as it is; blank if it changes."""
    if stale:
        return _("Someone else has changed it.")
    if change not in CHANGES:
        return effects.status_refusal(change, stored, effects.occupancy(stored))
    if stored.obstacle:
        return effects.obstacle("edit", stored.obstacle)
    if details == stored.details:
        return _("Nothing would change.")
    reserved = sum(each.seats for each in details.reserves if is_active(each))
    if details.capacity < stored.details.capacity and reserved > details.capacity:
        return _n("%(num)s seat is reserved.", "%(num)s seats are reserved.", reserved)
    return ""


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


def _explained(
    session: Session, later: TermCatalog, offered: TermCatalog, change: str, edit: PlannedEdit
) -> PlannedEdit:
    """Return the planned edit with its effects and warnings."""
    stored, details = edit.stored, edit.details
    if change not in CHANGES:
        return replace(edit, sentences=effects.of_status(change, effects.occupancy(stored)))
    return replace(
        edit,
        changes=differences(stored.details, details),
        sentences=effects.of_change(session, stored, details, offered).sentences,
        cautions=section_warnings.of_section(
            session, later, stored.course_code, details, stored.id
        ),
    )


# The list to choose from


def _found(offered: TermCatalog, sent: Mapping[str, str]) -> list[SectionView]:
    """Return the sections that a search finds, without canceled ones."""
    wanted = SectionQuery.parse(sent)  # type: ignore[arg-type]
    counts = read_with_fallback.seats(offered.term.id)
    return [each for each in wanted.pick(offered, counts) if each.status != "CANCELED"]


def _form_page(offered: TermCatalog, form: BulkForm, sent: "Sent") -> ResponseReturnValue:
    found, wanted = _found(offered, sent), SectionQuery.parse(sent)
    with transaction() as session:
        known = named_instructors(session)
        rooms = _rooms(offered.sections)
    page = render_template(
        "admin/bulk_edit.html",
        term=offered.term,
        form=form,
        wanted=wanted,
        query=wanted.query,
        subjects=offered.subjects,
        cards=found[:MOST],
        total=len(found),
        most=MOST,
        ticked=set(sent.getlist("section", type=int)),
        all="all" in sent,
        counts=read_with_fallback.seats(offered.term.id),
        rooms=rooms,
        instructors=[each.name for each in known],
    )
    return page, 422 if form.errors else 200


def _rooms(offered: Sequence[SectionView]) -> list[str]:
    meetings: Iterator[MeetingView] = (each for card in offered for each in card.meetings)
    return sorted({each.room for each in meetings if each.room})
