"""Reports by mail: the page on which people of the office subscribe to them, and end that."""

from datetime import time
from typing import ClassVar

from flask import Blueprint, abort, request, url_for
from flask.typing import ResponseReturnValue
from wtforms.validators import InputRequired

from portal.catalog.term_catalog import current_terms
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.core.moments import milliseconds
from portal.people.roles import Right
from portal.reports import subscriptions
from portal.reports.subscriptions import (
    DAY_LABELS,
    RESULTS,
    STATES,
    Schedule,
    SubscriptionRefused,
    SubscriptionView,
)
from portal.reports.term_reports import open_to
from portal.web.confirm import Confirmation, confirm, done
from portal.web.forms import Form, SelectOneField, TimeField, render_form
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

bp = Blueprint("report_subscriptions", __name__, url_prefix="/report-subscriptions")


class SubscriptionForm(Form):
    """A report of a term, and on which days and when it comes."""

    rows: ClassVar[tuple[tuple[str, ...], ...]] = (("report", "term"), ("days", "at"))

    report = SelectOneField(
        _l("Report"),
        choices=lambda: {name: each.label for name, each in open_to(visitor()).items()},
        missing=_l("Choose a report."),
    )
    term = SelectOneField(
        _l("Term"),
        choices=lambda: {str(each.id): each.name for each in current_terms() if not each.practice},
        missing=_l("Choose a term."),
    )
    days = SelectOneField(_l("How often"), choices=DAY_LABELS)
    at = TimeField(
        _l("Time"),
        [InputRequired(_l("Time: fill in this field."))],
        default=time(8),
        invalid_value_message=_l("Time: enter a time such as 14:30."),
    )

    @property
    def schedule(self) -> Schedule:
        """Return the days and the time, once they are valid."""
        return Schedule(self.days.data, self.at.data)


@bp.get("")
@requires(Right.SUBSCRIBE)
def index() -> ResponseReturnValue:
    """Render the visitor's subscriptions, and the form for another."""
    chosen = {name: request.args.get(name, "") for name in ("report", "term")}
    return _page(SubscriptionForm(formdata=None, **chosen))


@bp.post("")
@requires(Right.SUBSCRIBE)
def subscribe() -> ResponseReturnValue:
    form = SubscriptionForm()
    if not form.validate():
        return _page(form)
    try:
        term = int(form.term.data)
        subscriptions.subscribe(visitor().id, form.report.data, term, form.schedule)
    except SubscriptionRefused as refused:
        form.refuse(refused.text)
        return _page(form, 409)
    return done(_("You get this report by email from now on."), url_for(".index"))


@bp.route("/<int:subscription_id>/edit", methods=["GET", "POST"])
@requires(Right.SUBSCRIBE)
def edit(subscription_id: int) -> ResponseReturnValue:
    """Change the days and the time; this starts it again if it has stopped."""
    found = _mine(subscription_id)
    form = SubscriptionForm(obj=found.row)
    del form.report, form.term
    page = Confirmation(
        title=_("Change when the report comes"),
        button=_("Save"),
        back=(url_for(".index"), _("Reports by email")),
        facts=_facts(found),
        meaning=() if found.row.next_at else [_("It has stopped. This starts it again.")],
    )

    def act(_reason: str) -> str | None:
        try:
            subscriptions.change(visitor().id, subscription_id, form.schedule)
        except SubscriptionRefused as refused:
            form.refuse(refused.text)
            return None
        except LookupError:
            abort(404)
        return _("Saved.")

    return confirm(page, act, form)


@bp.route("/<int:subscription_id>/end", methods=["GET", "POST"])
@requires(Right.SUBSCRIBE)
def end(subscription_id: int) -> ResponseReturnValue:
    found = _find(subscription_id)
    if found is None and request.method == "POST":  # the same form was sent again
        return go(url_for(".index"))
    page = Confirmation(
        title=_("Stop sending the report"),
        button=_("Stop sending it"),
        back=(url_for(".index"), _("Reports by email")),
        facts=_facts(found or abort(404)),
        meaning=[
            _("You no longer get this report by email. You can ask for it again at any time.")
        ],
        danger=True,
    )

    def act(_reason: str) -> str:
        subscriptions.end(visitor().id, subscription_id)
        return _("You no longer get this report.")

    return confirm(page, act, Form())


@bp.post("/<int:subscription_id>/send")
@requires(Right.SUBSCRIBE)
def send(subscription_id: int) -> ResponseReturnValue:
    """Mail the report now, as a test."""
    _mine(subscription_id)
    try:
        subscriptions.send_now(visitor().id, subscription_id)
    except SubscriptionRefused as refused:
        form = SubscriptionForm(formdata=None)
        form.refuse(refused.text)
        return _page(form, 409)
    except LookupError:
        abort(404)
    return done(_("The report is on its way to you."), url_for(".index"))


def _mine(subscription_id: int) -> SubscriptionView:
    """Return a subscription of the visitor, or 404."""
    return _find(subscription_id) or abort(404)


def _find(subscription_id: int) -> SubscriptionView | None:
    with transaction() as session:
        return subscriptions.find(session, visitor().id, subscription_id)


def _facts(found: SubscriptionView) -> list[tuple[str, str]]:
    return [
        (_("Report"), f"{found.label}, {found.term}"),
        (_("How often"), found.schedule.label),
    ]


def _page(form: SubscriptionForm, status: int = 0) -> ResponseReturnValue:
    with transaction() as session:
        found = subscriptions.subscriptions_of(session, visitor().id)
    return render_form(
        "admin/report_subscriptions.html",
        form,
        status=status,
        found=found,
        moments=milliseconds,
        states=STATES,
        results=RESULTS,
    )
