"""Service tokens of programs: a list of them, a form for another, and a way to revoke each."""

from time import time

from flask import Blueprint, abort, url_for
from flask.typing import ResponseReturnValue

from portal.core.i18n import _, _l
from portal.people import service_tokens
from portal.people.roles import Right, rights_of, service_scopes
from portal.people.tokens import NameTakenError, TokenRequest
from portal.web.account.access_tokens import valid_for
from portal.web.confirm import Confirmation, NotPossible, confirm
from portal.web.forms import ChoicesField, Form, ReasonField, TextField, render_form
from portal.web.http.access import requires, visitor

bp = Blueprint("service_tokens", __name__, url_prefix="/service-tokens")


class ServiceTokenForm(Form):
    name = TextField(
        _l("Name of the program"),
        longest=80,
        missing=_l("Enter the name of the program."),
        too_long=_l("Enter a name of at most %(most)s characters."),
        description=_l("The audit trail shows it with every change that the program makes."),
    )
    scopes = ChoicesField(
        _l("Allowed actions"),
        choices=lambda: service_scopes(rights_of(visitor().roles)),
        missing=_l("Choose at least one permission."),
    )
    days = valid_for("365")
    reason = ReasonField()


@bp.get("")
@requires(Right.SEE_SERVICE_TOKENS)
def index() -> ResponseReturnValue:
    """Render the tokens, and the form for another."""
    return _page(ServiceTokenForm(formdata=None))


@bp.post("")
@requires(Right.CHANGE_SERVICE_TOKENS)
def make() -> ResponseReturnValue:
    """Create a token and show it once."""
    form = ServiceTokenForm()
    if not form.validate():
        return _page(form)
    wanted = TokenRequest(form.name.data, tuple(form.scopes.data), int(form.days.data))
    try:
        secret = service_tokens.create(wanted, by=visitor().id, reason=form.reason.data)
    except NameTakenError:
        form.refuse(
            _("There is already a token with this name. Choose another name, or revoke it."), "name"
        )
        return _page(form)
    return _page(ServiceTokenForm(formdata=None), secret, wanted.name)


@bp.route("/<int:token>/revoke", methods=["GET", "POST"])
@requires(Right.CHANGE_SERVICE_TOKENS)
def revoke(token: int) -> ResponseReturnValue:
    """Revoke a token: it and the signed tokens made with it are refused at once."""
    live = service_tokens.live()
    found = next((each for each in live if each.id == token), None) or abort(404)
    page = Confirmation(
        title=_("Revoke “%(name)s”?", name=found.name),
        button=_("Revoke token"),
        back=(url_for(".index"), _("Service tokens")),
        facts=[(_("Allowed actions"), " ".join(found.scopes))],
        meaning=[_("Programs that use it stop working at once. You can’t undo this.")],
        danger=True,
    )

    def act(reason: str) -> str:
        try:
            name = service_tokens.revoke(token, by=visitor().id, reason=reason)
        except LookupError:
            raise NotPossible(_("It is already revoked.")) from None
        return _("Token “%(name)s” revoked.", name=name)

    return confirm(page, act)


def _page(form: ServiceTokenForm, secret: str = "", made: str = "") -> ResponseReturnValue:
    return render_form(
        "admin/service_tokens.html",
        form,
        status=201 if secret else 0,
        tokens=service_tokens.live(),
        now=int(time() * 1000),
        secret=secret,
        made=made,
    )
