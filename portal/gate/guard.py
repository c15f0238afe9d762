"""Refuses a claim without a pass, before Redis or PostgreSQL hears of it."""

from dataclasses import replace
from time import time
from typing import Any, cast

from flask import Flask, current_app, g, request, session
from flask.typing import ResponseReturnValue
from flask_login import current_user

from portal.access import View
from portal.errors import Words, answer
from portal.gate import passes
from portal.gate.passes import Pass
from portal.words import _l

HEADER = "Fairseat-Pass"
COOKIE = "pass"
STANDS = "Fairseat-Gate"  # the header that tells scripts how one stands at the gate
SIGN = {STANDS: "pass"}  # so that they can tell this refusal from others

REFUSED = Words(
    _l("It is not your turn yet"),
    _l("Nothing was changed. Open the list of sections: it says when your turn comes."),
)


def needs_pass(view: View) -> View:
    """Let a view be asked for changes only with a pass; pages may be read without."""
    view.needs_pass = True  # type: ignore[attr-defined]
    return view


def start(app: Flask) -> None:
    """Check passes before everything else, and once more when it is known who asks."""
    app.before_request(_check)


def finish(app: Flask) -> None:
    """Check that a pass is the visitor's own; to be started after the login."""
    app.before_request(_check_owner)


def access() -> Pass | None:
    """The pass of a request that was let through with one."""
    return cast("Pass | None", g.get("access"))


def carried() -> Pass | None:
    """The pass that a request brings, if it is ours and still good."""
    found = passes.read(request.headers.get(HEADER) or request.cookies.get(COOKIE, ""))
    return found if found and found.ends > time() * 1000 else None


def own(found: Pass | None) -> bool:
    """Whether a pass is of the account of this session; a bearer's is compared later."""
    if found is None:
        return False
    account, signed, _ = str(session.get("_user_id", "")).partition(".")
    return account == str(found.account) if signed else "Authorization" in request.headers


def _check() -> ResponseReturnValue | None:
    view: Any = current_app.view_functions.get(request.endpoint or "")
    if not getattr(view, "needs_pass", False) or request.method in {"GET", "HEAD", "OPTIONS"}:
        return None
    if not current_app.config["GATE"]:
        return None
    found, asked = carried(), request.view_args or {}
    if not own(found) or found is None or found.term != asked.get("term_id", found.term):
        return refused()
    if "section_id" in asked and not passes.fits(
        request.form.get("ticket", ""), found, asked["section_id"]
    ):
        return refused()
    g.access = found
    return None


def _check_owner() -> ResponseReturnValue | None:
    found = access()
    return refused() if found and current_user.id != found.account else None


def refused() -> ResponseReturnValue:
    """That it is not one's turn, in whatever form was asked for; asks nobody who that one is."""
    g.nobody = True
    term = (request.view_args or {}).get("term_id")
    return answer(403, replace(REFUSED, onward=f"/terms/{term}/room" if term else ""), SIGN)
