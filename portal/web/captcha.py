"""The captcha pages: a proof of work by the browser, or a code from a mail."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.core.i18n import _
from portal.notifications import mail
from portal.protection import captcha, captcha_codes
from portal.protection.captcha import NotProven
from portal.web.account.login import safe_path
from portal.web.http import admission
from portal.web.http.access import signed_in, visitor

bp = Blueprint("captcha", __name__, url_prefix="/captcha")
bp.add_app_template_global(admission.captcha_needed, "captcha_needed")
bp.add_app_template_global(admission.proven, "captcha_proven")


@bp.get("")
@signed_in
def index() -> ResponseReturnValue:
    """Render the page that runs the check, or says that it is done."""
    return _page()


@bp.get("/challenge")
@signed_in
def challenge() -> ResponseReturnValue:
    """Return a puzzle for the visitor's browser, without Redis and PostgreSQL."""
    return captcha.challenge(visitor().id)


@bp.post("")
@signed_in
def solve() -> ResponseReturnValue:
    """Check the solution, from a script or from a form."""
    try:
        admission.prove(request.form.get("payload", ""))
    except NotProven as refused:
        return (refused.text if "HX-Request" in request.headers else _page(refused)), 422
    return _done()


@bp.get("/code")
@signed_in
def code() -> ResponseReturnValue:
    """Render the form for a code that has been sent."""
    return render_template("captcha/code.html", onward=_onward())


@bp.post("/code")
@signed_in
def enter() -> ResponseReturnValue:
    try:
        captcha_codes.check(visitor().id, request.form.get("code", ""))
    except NotProven as refused:
        page = render_template("captcha/code.html", onward=_onward(), refused=refused)
        return page, 422
    admission.remember_proof()
    return _done()


@bp.post("/code/mail")
@signed_in
def send() -> ResponseReturnValue:
    """Send a code to the visitor's email address."""
    address = mail.send_code(visitor().id)
    if not address:
        return _page(unreached=True), 422
    flash(_("A code is on its way to %(address)s.", address=address))
    return redirect(url_for(".code", next=_onward()), 303)


def _page(refused: NotProven | None = None, *, unreached: bool = False) -> str:
    return render_template(
        "captcha/page.html", onward=_onward(), refused=refused, unreached=unreached
    )


def _done() -> ResponseReturnValue:
    """Redirect to the page that the visitor came from; a script gets an event instead."""
    if "HX-Request" in request.headers:
        return "", 204, {"HX-Trigger": "fs:proven"}
    flash(_("Checked: you are not a robot."))
    return redirect(_onward(), 303)


def _onward() -> str:
    return safe_path(request.values.get("next", ""))
