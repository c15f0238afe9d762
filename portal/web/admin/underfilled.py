"""Under-filled sections: a list of them, by limits, to cancel several in one step."""

from collections.abc import Callable, Sequence
from typing import Any

from flask import Blueprint, flash, request, url_for
from flask.typing import ResponseReturnValue

from portal.catalog import sections
from portal.catalog.sections import NotPossible, SeenSection, Stale
from portal.catalog.term_catalog import SectionView, TermCatalog, catalog_of
from portal.catalog.views import section_order
from portal.core.i18n import _, _n
from portal.core.sorting import Sorting
from portal.ledger.types import SeatCounts
from portal.people.roles import Right
from portal.recorder import read_with_fallback
from portal.registration.next_steps import section_name
from portal.reports.effects.sections import obstacle, of_losses
from portal.reports.underfilled import Limits, sections_to_cancel
from portal.web import drafts
from portal.web.admin.sections import apply_in_ledger
from portal.web.forms import ReasonForm, Sent, render_form
from portal.web.http.access import demand, requires, visitor
from portal.web.http.layout import go

MOST = 200  # sections in the list, and in one step
# Columns that sort the list; the emptiest sections come first.
SORTS: dict[str, Callable[[tuple[SectionView, SeatCounts]], Any]] = {
    "filled": lambda found: (found[1].taken / found[1].capacity, found[1].taken),
    "section": lambda found: section_order(found[0]),
    "taken": lambda found: found[1].taken,
    "seats": lambda found: found[1].capacity,
    "waiting": lambda found: found[1].waiting,
}

bp = Blueprint("underfilled", __name__, url_prefix="/terms/<int:term_id>/underfilled")


@bp.get("")
@requires(Right.SEE_SECTIONS, Right.SCHEDULE)
def index(term_id: int) -> ResponseReturnValue:
    """Render the under-filled sections, the emptiest first; or the effects of canceling some."""
    catalog, draft = catalog_of(term_id), drafts.shown_draft()
    if draft is None:
        return _list_page(catalog, ReasonForm(None), request.args)
    form = ReasonForm(draft)
    ticked = _ticked(catalog, draft, form)
    if form.errors:
        return _list_page(catalog, form, draft)
    if "confirmed" in draft:
        form.validate()
    if draft["refused"]:
        form.refuse(draft["refused"])
    return review_page(catalog, ticked, draft, form)


def review_page(
    catalog: TermCatalog,
    chosen: list[SectionView],
    sent: Sent,
    form: ReasonForm,
    skipped: Sequence[tuple[str, str]] = (),
) -> ResponseReturnValue:
    """Render the effects of canceling the chosen sections; its form is sent to `cancel`.

    `skipped` are the names of others that can't be canceled, each with why.
    """
    to_cancel, limits = sections_to_cancel(catalog, chosen), Limits.parse(sent)
    args: dict[str, Any] = limits.args()
    return render_form(
        "admin/underfilled_review.html",
        form,
        term=catalog.term,
        limits=limits,
        to_cancel=to_cancel,
        skipped=skipped,
        back=url_for(request.endpoint or "", term_id=catalog.term.id, **args),
        losses=of_losses(
            sum(each.known for each in to_cancel),
            sum(each.waiting for each in to_cancel),
            sum(each.prior for each in to_cancel),
        ),
    )


@bp.post("")
@requires(Right.CHANGE_SECTIONS, Right.SCHEDULE)
def cancel(term_id: int) -> ResponseReturnValue:
    """Cancel all of them or none if confirmed; otherwise redirect to the effects."""
    catalog, form, by = catalog_of(term_id), ReasonForm(), visitor().id
    ids = sorted(section.id for section in _ticked(catalog, request.form, form))
    if form.errors or not form.validate() or "confirmed" not in request.form:
        return drafts.show_draft(request.path)
    versions = {each: request.form.get(f"version_{each}", 0, type=int) for each in ids}
    seen = [SeenSection(term_id, each, version) for each, version in versions.items()]
    try:
        sections.change_status("cancel", seen, by, form.reason.data)
    except Stale as stale:
        if not sections.done_before("cancel", seen, by):  # otherwise the same form was sent again
            changed = _("someone else has changed it")
            return _nothing_canceled(catalog, stale.section_id, changed)
    except NotPossible as refused:
        why = obstacle("cancel", refused.code).rstrip(".")
        return _nothing_canceled(catalog, refused.section_id, why)
    apply_in_ledger(term_id, *ids)
    flash(_n("Canceled: %(num)s section.", "Canceled: %(num)s sections.", len(ids)))
    limits: dict[str, Any] = Limits.parse(request.form).args()
    return go(url_for("admin.underfilled.index", term_id=term_id, **limits))


def _ticked(catalog: TermCatalog, sent: Sent, form: ReasonForm) -> list[SectionView]:
    """Return the chosen sections; add an error if there are none or too many."""
    chosen = catalog.some(sent.getlist("section", type=int)[: MOST + 1])
    for each in chosen:
        demand(Right.CHANGE_SECTIONS, each.department_id)
    if not chosen:
        form.refuse(_("Select the sections to cancel."))
    if len(chosen) > MOST:
        form.refuse(_("Select at most %(most)s sections.", most=MOST))
    return chosen


def _nothing_canceled(catalog: TermCatalog, section_id: int, why: str) -> ResponseReturnValue:
    section = catalog.section(section_id)
    name = section_name(section) if section else catalog.gone.get(section_id, str(section_id))
    refusal = _(
        "Nothing was canceled. %(name)s: %(why)s. Check the list and try again.", name=name, why=why
    )
    return drafts.show_draft(request.path, refusal)


def _list_page(catalog: TermCatalog, form: ReasonForm, sent: Sent) -> ResponseReturnValue:
    limits, sorting = Limits.parse(sent), Sorting.parse(SORTS, sent)
    found = [
        (section, seats)
        for section, seats in limits.pick(catalog, read_with_fallback.seats(catalog.term.id))
        if visitor().may_in(Right.SEE_SECTIONS, section.department_id)
    ]
    found = sorted(found, key=SORTS[sorting.key], reverse=sorting.down)
    return render_form(
        "admin/underfilled.html",
        form,
        term=catalog.term,
        limits=limits,
        sorting=sorting,
        subjects=catalog.subjects,
        found=found[:MOST],
        total=len(found),
        ticked=set(sent.getlist("section", type=int)),
    )
