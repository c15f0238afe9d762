"""Messages of the payment provider, and the pages of the built-in test provider."""

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import select

from portal.applications import fees, payments
from portal.applications.models import OPEN, Application, Charge
from portal.applications.payments.provider import InvalidMessage
from portal.applications.payments.test_provider import TestProvider
from portal.catalog.formatting import money
from portal.core.db import transaction
from portal.people.roles import Right
from portal.web.http.access import public, requires, visitor
from portal.web.http.extensions import csrf
from portal.web.http.layout import go

bp = Blueprint("payments", __name__, url_prefix="/payments")

CHOICES = {"paid", "failed", "timeout"}
MOST_BYTES = 64 * 1024


@bp.post("/stripe")
@public
@csrf.exempt  # type: ignore[untyped-decorator]
def receive() -> ResponseReturnValue:
    """Handle a message that the provider has signed."""
    source = payments.provider()
    if source is None or source.name != "stripe":
        abort(404)
    if (request.content_length or 0) > MOST_BYTES:
        abort(413)
    try:
        message = source.read(request.get_data(), request.headers.get("Stripe-Signature", ""))
    except InvalidMessage:
        abort(400)
    if message:
        fees.receive(message)
    return "", 204


@bp.route("/test/<int:charge_id>", methods=["GET", "POST"])
@requires(Right.APPLY)
def choose(charge_id: int) -> ResponseReturnValue:
    """Render the checkout of the test provider, or do what was chosen there."""
    source = payments.provider()
    if not isinstance(source, TestProvider):
        abort(404)
    charge, term = _open_charge(charge_id)
    if request.method != "POST":
        amount = money(charge.amount, charge.currency)
        return render_template("payments/test.html", amount=amount)
    if (outcome := request.form.get("outcome", "")) not in CHOICES:
        abort(400)
    source.choose(charge.reference, outcome)
    back = url_for("student.back_from_fee", term_id=term, application_id=charge.application_id)
    return go(back)


def _open_charge(number: int) -> tuple[Charge, int]:
    """Return the visitor's open charge and its term, else 404."""
    mine = Application.account_id == visitor().id, Charge.id == number, Charge.state == OPEN
    found = select(Charge, Application.term_id).join(Application).where(*mine)
    with transaction() as session:
        row = session.execute(found).one_or_none()
    return (row[0], row[1]) if row else abort(404)
