"""My access tokens: a list of them, a form for another, and a way to end each."""

from dataclasses import dataclass, field
from time import time

from flask import (
    Blueprint,
    abort,
    flash,
    make_response,
    render_template,
    request,
    url_for,
)
from flask.typing import ResponseReturnValue

from portal.core.i18n import _, _l
from portal.people import tokens
from portal.people.models import AccessKey
from portal.people.tokens import MOST, SCOPES, Wish
from portal.web.http.access import signed_in, visitor
from portal.web.http.extensions import limiter
from portal.web.http.layout import go

bp = Blueprint("tokens", __name__, url_prefix="/tokens")

NAME_LENGTH = 80
DAYS = (30, 90, 365)  # for which one may be valid
USUAL = 90
MAY = {
    "read": _l("See what I have: my sections, my places in line, what is offered"),
    "register": _l("Act for me: pick, cancel, join and leave waitlists"),
}


@dataclass
class Reading:
    """What the form says, and what is wrong with it by field."""

    name: str = ""
    scopes: tuple[str, ...] = ("read",)
    days: int = USUAL
    errors: dict[str, list[str]] = field(default_factory=dict)

    def wrong(self, name: str, message: str) -> None:
        """Say what is wrong with a field."""
        self.errors.setdefault(name, []).append(message)


@bp.get("")
@signed_in
def index() -> ResponseReturnValue:
    """The visitor's tokens, and the form for another."""
    return _page(Reading())


@bp.post("")
@signed_in
@limiter.limit("20/hour")
def make() -> ResponseReturnValue:
    """Make a token and show it, this once; or say all that is wrong with the wish."""
    reading = _read()
    secret = "" if reading.errors else _made(reading)
    if not secret:
        return _page(reading), 422
    answer = make_response(_page(Reading(), secret=secret, made=reading.name), 201)
    answer.headers["Cache-Control"] = "no-store"
    return answer


@bp.get("/<int:token>/revoke")
@signed_in
def ask(token: int) -> ResponseReturnValue:
    """Whether it is really to end."""
    return render_template("account/revoke.html", token=_own(token))


@bp.post("/<int:token>/revoke")
@signed_in
def revoke(token: int) -> ResponseReturnValue:
    """End it: whoever sends it is refused within two seconds."""
    for name in tokens.revoke(visitor().id, token) or abort(404):
        flash(_("“%(name)s” is revoked.", name=name), "message")
    return go(url_for(".index"))


def _read() -> Reading:
    given = request.form
    reading = Reading(
        name=" ".join(given.get("name", "").replace("\0", "").split()),
        scopes=tuple(scope for scope in SCOPES if scope in given.getlist("scopes")),
        days=given.get("days", 0, type=int),
    )
    if not 0 < len(reading.name) <= NAME_LENGTH:
        most = _("Say what the token is for, in %(most)s characters at most.", most=NAME_LENGTH)
        reading.wrong("name", most)
    if not reading.scopes:
        reading.wrong("scopes", _("Choose what the token may do."))
    if reading.days not in DAYS:
        reading.wrong("days", _("Choose how long the token is good."))
    return reading


def _made(reading: Reading) -> str:
    """The secret of a new token; blank where there can be none, with the reason in `reading`."""
    try:
        return tokens.make(visitor().id, Wish(reading.name, reading.scopes, reading.days))
    except tokens.NameTakenError:
        reading.wrong(
            "name", _("You have a token of this name. Choose another, or revoke that one.")
        )
    except tokens.TooManyError:
        most = _(
            "You have %(most)s tokens, which is the most. Revoke one you don’t need.", most=MOST
        )
        reading.wrong("name", most)
    return ""


def _own(token: int) -> AccessKey:
    mine = tokens.of_account(visitor().id)
    return next((each for each in mine if each.id == token), None) or abort(404)


def _page(reading: Reading, **made: str) -> str:
    return render_template(
        "account/tokens.html",
        tokens=tokens.of_account(visitor().id),
        form=reading,
        may=MAY,
        periods=DAYS,
        now=int(time() * 1000),
        **made,
    )
