"""Teachers of the catalogue, and the accounts that teach as them: found, linked and unlinked."""

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from portal.admin.reasons import read_reason
from portal.admin.times import Reading
from portal.catalog.term_catalog import SectionView, catalog_of, live_terms
from portal.core.db import transaction
from portal.core.i18n import _
from portal.people import teaching
from portal.people.models import Account
from portal.people.teaching import Meanwhile, Teaches
from portal.web.admin.students import searched
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

bp = Blueprint("teachers", __name__, url_prefix="/teachers")


@bp.get("")
@requires("admin")
def index() -> ResponseReturnValue:
    """The teachers whom a search fits, all or those without an account."""
    (text, page), without = searched(), request.args.get("show") == "without"
    with transaction() as session:
        found, more = teaching.teachers(session, text, page, without=without)
    return render_template(
        "admin/teachers.html", text=text, lines=found, page=page, more=more, without=without
    )


@bp.get("/<int:teacher_id>")
@requires("admin")
def show(teacher_id: int) -> ResponseReturnValue:
    """A teacher's sections and account; with a user name, what linking it will mean."""
    reading = Reading()
    with transaction() as session:
        line = _line(session, teacher_id)
        account = None if line.account else _account(session, reading)
    return _page(line, account, reading, 422 if reading.errors else 200)


@bp.post("/<int:teacher_id>")
@requires("admin")
def change(teacher_id: int) -> ResponseReturnValue:
    """Link the account that the page showed, or unlink it."""
    reading, deed = Reading(), request.form.get("deed")
    if deed not in {"link", "unlink"}:
        abort(400)
    with transaction() as session:
        line, account = _line(session, teacher_id), _account(session, reading)
    why = read_reason(reading, request.form)
    if account is None or reading.errors:
        return _page(line, account, reading, 422)
    try:
        act = teaching.link if deed == "link" else teaching.unlink
        act(teacher_id, account.id, by=visitor().id, why=why)
    except Meanwhile:
        reading.wrong("", _("Somebody else has changed this meanwhile. Look again."))
        return _page(line, account, reading, 409)
    told = {"name": account.name, "teacher": line.name}
    flash(
        _("%(name)s teaches as %(teacher)s now.", **told)
        if deed == "link"
        else _("%(name)s teaches as %(teacher)s no more.", **told)
    )
    return go(url_for("admin.teachers.show", teacher_id=teacher_id))


def _line(session: Session, teacher_id: int) -> Teaches:
    return teaching.teacher(session, teacher_id) or abort(404)


def _account(session: Session, reading: Reading) -> Account | None:
    """The account that is asked for, None where none is or there is no such account."""
    name = request.values.get("account", "").replace("\0", "").strip()
    found = teaching.account_of(session, name) if name else None
    if found is None and "account" in request.values:
        reading.wrong("account", _("No account has the user name %(name)s.", name=name or "–"))
    return found


def _page(
    line: Teaches, account: Account | None, reading: Reading, status: int
) -> ResponseReturnValue:
    with transaction() as session:
        also = teaching.others(session, account.id if account else line.account or 0)
        suggested = [] if line.account or account else teaching.suggested(session, line)
    page = render_template(
        "admin/teacher.html",
        line=line,
        account=account,
        also=[each for each in also if each.id != line.id],
        suggested=suggested,
        classes=_classes(line.id),
        reading=reading,
    )
    return page, status


def _classes(teacher_id: int) -> list[tuple[str, list[SectionView]]]:
    """What the teacher teaches, by term."""
    offers = [catalog_of(term.id) for term in live_terms()]
    found = [(each.term.name, each.taught_by(frozenset({teacher_id}))) for each in offers]
    return [(name, cards) for name, cards in found if cards]
