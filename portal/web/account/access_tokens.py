"""My access tokens: a list of them, a form for another, and a way to revoke each."""

from time import time

from flask import Blueprint, abort, render_template, url_for
from flask.typing import ResponseReturnValue

from portal.core.i18n import _, _l, _n
from portal.people import tokens
from portal.people.models import ApiToken
from portal.people.roles import PERSONAL_SCOPES
from portal.people.tokens import MAX_TOKENS, TokenRequest
from portal.web.confirm import Confirmation, confirm
from portal.web.forms import ChoicesField, Form, SelectOneField, TextField
from portal.web.http.access import signed_in, visitor
from portal.web.http.extensions import limiter

bp = Blueprint("tokens", __name__, url_prefix="/tokens")

DAYS = (30, 90, 365)  # choices of a token's validity


def valid_for(default: str) -> SelectOneField:
    """Return the field of a token's validity in days."""
    return SelectOneField(
        _l("Valid for"),
        choices=lambda: {str(days): _n("%(num)s day", "%(num)s days", days) for days in DAYS},
        missing=_l("Choose how long the token is valid."),
        default=default,
    )


class TokenForm(Form):
    name = TextField(
        _l("Purpose"),
        longest=80,
        missing=_l("Enter a purpose of at most 80 characters."),
        too_long=_l("Enter a purpose of at most %(most)s characters."),
        description=_l("For example: “My calendar script”."),
    )
    scopes = ChoicesField(
        _l("Allowed actions"),
        choices={name: each.label for name, each in PERSONAL_SCOPES.items()},
        missing=_l("Choose at least one permission."),
        default=["read"],
    )
    days = valid_for("90")


@bp.get("")
@signed_in
def index() -> ResponseReturnValue:
    """Render the visitor's tokens, and the form for another."""
    return _page(TokenForm(formdata=None))


@bp.post("")
@signed_in
@limiter.limit("20/hour")
def make() -> ResponseReturnValue:
    """Create a token and show it once."""
    form = TokenForm()
    secret = _make(form) if form.validate() else ""
    if not secret:
        return _page(form), 422
    return _page(TokenForm(formdata=None), secret, form.name.data), 201


@bp.route("/<int:token>/revoke", methods=["GET", "POST"])
@signed_in
def revoke(token: int) -> ResponseReturnValue:
    """Revoke a token once it is confirmed: it is refused within two seconds."""
    page = Confirmation(
        title=_("Revoke “%(name)s”?", name=_own(token).name),
        button=_("Revoke token"),
        back=(url_for(".index"), _("Access tokens")),
        meaning=[_("Programs that use it stop working at once. You can’t undo this.")],
        danger=True,
    )

    def act(_reason: str) -> str:
        [name] = tokens.revoke(visitor().id, token) or abort(404)
        return _("Token “%(name)s” revoked.", name=name)

    return confirm(page, act, Form())


def _make(form: TokenForm) -> str:
    """Return the secret of a new token; "" and an error in the form if there can be none."""
    wanted = TokenRequest(form.name.data, tuple(form.scopes.data), int(form.days.data))
    try:
        return tokens.create(visitor().id, wanted)
    except tokens.NameTakenError:
        why = _(
            "You already have a token with this name. Choose another name, or revoke that token."
        )
    except tokens.TooManyError:
        why = _(
            "You have reached the limit of %(most)s tokens. Revoke one that you don’t need.",
            most=MAX_TOKENS,
        )
    form.refuse(why, "name")
    return ""


def _own(token: int) -> ApiToken:
    """Return the visitor's token, or 404."""
    mine = tokens.live_tokens(visitor().id)
    return next((each for each in mine if each.id == token), None) or abort(404)


def _page(form: TokenForm, secret: str = "", made: str = "") -> str:
    return render_template(
        "account/tokens.html",
        tokens=tokens.live_tokens(visitor().id),
        form=form,
        now=int(time() * 1000),
        secret=secret,
        made=made,
    )
