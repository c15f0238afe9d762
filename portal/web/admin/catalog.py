"""The catalog: departments, subjects, courses, rooms and terms, to delete and restore."""

from collections.abc import Sequence

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.catalog import deletion, subjects
from portal.catalog.deletion import KINDS, CatalogRecord, InTheWay
from portal.core.db import transaction
from portal.core.i18n import _
from portal.people.roles import Right
from portal.web.confirm import NotPossible, Wording, confirm
from portal.web.http.access import requires, visitor
from portal.web.paging import page_number, search_text

bp = Blueprint("catalog", __name__, url_prefix="/catalog")
KIND = f"<any({','.join(KINDS)}):records>"


@bp.get(f"/{KIND}")
@requires(Right.SEE_SECTIONS)
def index(records: str) -> ResponseReturnValue:
    """Render the records of a kind, or its deleted ones, page by page."""
    search, page, deleted = search_text(), page_number(), "deleted" in request.args
    with transaction() as session:
        found, more = deletion.records(session, records, search, page, deleted=deleted)
    return render_template(
        "admin/catalog.html",
        kinds=KINDS,
        kind=records,
        deleted=deleted,
        text=search,
        found=found,
        page=page,
        more=more,
    )


@bp.route(f"/{KIND}/<int:number>/<any(delete,restore):act>", methods=["GET", "POST"])
@requires(Right.CHANGE_SECTIONS)
def change(records: str, number: int, act: str) -> ResponseReturnValue:
    """Delete a record, or restore it, once it is confirmed."""
    with transaction() as session:
        record = deletion.find(session, records, number) or abort(404)
        fits = (record.deleted_at is None) == (act == "delete")
        found = deletion.obstacles(session, record) if fits else []
    wording = _wording(act, record)
    address = url_for(".index", records=records, deleted="1" if record.deleted_at else None)

    def carry_out(reason: str) -> str:
        try:
            with transaction() as session:
                deletion.change(
                    session, record, delete=act == "delete", by=visitor().id, reason=reason
                )
        except InTheWay as way:
            raise NotPossible(refusal(act, way.obstacles)) from way
        subjects.forget()
        return wording.done

    back = address, str(KINDS[records].label)
    return confirm(wording.page(back, refusal=refusal(act, found) if found else ""), carry_out)


def _wording(act: str, record: CatalogRecord) -> Wording:
    name = record.code if record.code == record.title else f"{record.code} {record.title}"
    if act == "delete":
        return Wording(
            _("Delete %(name)s", name=name),
            _(
                "It disappears from lists, forms and exports. Its history stays, and you can"
                " restore it."
            ),
            _("%(name)s is deleted.", name=name),
            _("Delete"),
            danger=True,
        )
    return Wording(
        _("Restore %(name)s", name=name),
        _("It is in lists, forms and exports again."),
        _("%(name)s is restored.", name=name),
        _("Restore"),
    )


def refusal(act: str, found: Sequence[deletion.Obstacle]) -> str:
    """Return why it is not possible, with the names of the records in the way."""
    names = "; ".join(each.text for each in found)
    if act == "delete":
        return _("You can’t delete it while these depend on it: %(names)s.", names=names)
    return _("First restore what it needs: %(names)s.", names=names)
