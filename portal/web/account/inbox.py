"""The inbox: a person's notifications, the newest first."""

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from portal.catalog.models import Term
from portal.catalog.term_catalog import published_terms
from portal.core.db import transaction
from portal.core.i18n import _
from portal.live.publish import signal_student
from portal.notifications import inbox
from portal.notifications.kinds import KINDS, Kind, text_of
from portal.notifications.models import Notification, NotificationSetting
from portal.people.models import Account
from portal.people.roles import Right
from portal.registration.next_steps import NextStep
from portal.web.home import current_term
from portal.web.http.access import signed_in, visitor
from portal.web.http.layout import unread_count

bp = Blueprint("inbox", __name__, url_prefix="/inbox")
bp.add_app_template_global(inbox.unread, "inbox_of")
bp.add_app_template_global(text_of, "notification_text")
bp.add_app_template_test(lambda entry: KINDS[entry.kind].of_term, "of_term")

TOASTS = {kind.name for kind in KINDS.values() if kind.toast}


@bp.get("")
@signed_in
def index() -> ResponseReturnValue:
    """Render a page of notifications, those before the one in the address if there is one."""
    inbox.forget(visitor().id)  # the unread count must be as fresh as the list
    found = inbox.entries(visitor().id, request.args.get("before", type=int))
    shown = found[: inbox.PAGE]
    return render_template(
        "notifications/inbox.html",
        entries=shown,
        more=len(found) > len(shown),
        term=term_of_visitor(),
    )


@bp.get("/<int:notice>")
@signed_in
def follow(notice: int) -> ResponseReturnValue:
    """Redirect to the notification's page, and mark it as read."""
    found = _own(notice)
    _mark(notice)
    return redirect(text_of(found).step.url)


@bp.post("/<int:notice>/read")
@signed_in
def read(notice: int) -> ResponseReturnValue:
    """Mark one as read, in place or back on the page that showed it."""
    _own(notice)
    _mark(notice)
    if "HX-Request" in request.headers:
        return render_template("notifications/read.html", entry=_own(notice))
    return redirect(url_for("inbox.index", before=request.form.get("before") or None), 303)


@bp.post("/read")
@signed_in
def read_all() -> ResponseReturnValue:
    """Mark the notifications on the page and older ones as read, but none that came later."""
    through = request.form.get("through", type=int)
    if through is None:
        abort(400)
    _mark(through, older=True)
    return redirect(url_for("inbox.index"), 303)


@bp.get("/count")
@signed_in
def count() -> ResponseReturnValue:
    """Return the number of unread notifications, and messages for those new to the page."""
    inbox.forget(visitor().id)
    after = request.args.get("after", type=int)
    newer = [] if after is None else inbox.newer_than(visitor().id, after, TOASTS)
    return Markup().join([unread_count(visitor().id), *(_toast(each) for each in newer)])


def term_of_visitor() -> Term | None:
    """Return the term that a student came from, or viewed last, for a link back."""
    terms = published_terms() if visitor().student_id else []
    came_from = request.args.get("term", type=int) or (current_term() if terms else 0)
    return next((term for term in terms if term.id == came_from), next(iter(terms), None))


def _own(notice: int) -> Notification:
    return inbox.entry(visitor().id, notice) or abort(404)


def _mark(notice: int, *, older: bool = False) -> None:
    """Mark as read, and update the visitor's other pages."""
    inbox.mark(visitor().id, notice, older=older)
    for term in published_terms() if visitor().student_id else ():
        signal_student(term.id, visitor().student_id or 0, "notice")


def _toast(entry: Notification) -> Markup:
    text = text_of(entry)
    step = NextStep(text.step.label, url_for(".follow", notice=entry.id))
    return Markup(  # noqa: S704  the template escapes
        render_template(
            "fragments/toast.html",
            title=text.title,
            text=text.text[0],
            tone=text.tone,
            about=entry.section_id or 0,
            steps=[step],
        )
    )


# Settings for mail.

settings_bp = Blueprint("inbox_settings", __name__, url_prefix="/inbox/settings")


@settings_bp.get("")
@signed_in
def form() -> ResponseReturnValue:
    """Render each kind of notification, and whether it also comes by mail."""
    account = visitor().id
    with transaction() as session:
        address = session.scalar(select(Account.email).where(Account.id == account))
        unwanted = session.scalars(
            select(NotificationSetting.kind).where(
                NotificationSetting.account_id == account, NotificationSetting.by_mail.is_(False)
            )
        ).all()
    return render_template(
        "notifications/settings.html",
        kinds=_kinds(),
        wanted=KINDS.keys() - set(unwanted),
        address=address,
        term=term_of_visitor(),
    )


@settings_bp.post("")
@signed_in
def save() -> ResponseReturnValue:
    wanted = set(request.form.getlist("by_mail"))
    rows = [
        {"account_id": visitor().id, "kind": kind.name, "by_mail": kind.name in wanted}
        for kind in _kinds()
    ]
    setting = insert(NotificationSetting).values(rows)
    update = setting.on_conflict_do_update(
        index_elements=["account_id", "kind"], set_={"by_mail": setting.excluded.by_mail}
    )
    if rows:
        with transaction() as session:
            session.execute(update)
    flash(_("Settings saved."))
    return redirect(url_for("inbox_settings.form", term=request.args.get("term")), 303)


def _kinds() -> list[Kind]:
    """Return the kinds that the visitor may get; applicants get those of students."""
    who = visitor()
    roles = who.roles | ({"decider"} if who.decides else set())
    if who.may(Right.APPLY):
        roles |= {"student"}
    return [kind for kind in KINDS.values() if kind.role in roles]
