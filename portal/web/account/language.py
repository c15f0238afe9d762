"""Choosing the language of the pages."""

from flask import Blueprint, abort, redirect, request, session
from flask.typing import ResponseReturnValue
from flask_login import current_user
from sqlalchemy import update

from portal.core.db import transaction
from portal.core.i18n import LANGUAGES
from portal.people import visitors
from portal.people.models import Account
from portal.web.account.login import safe_path
from portal.web.http.access import public, visitor
from portal.web.http.languages import SESSION_KEY

bp = Blueprint("language", __name__)


@bp.post("/language")
@public
def choose() -> ResponseReturnValue:
    """Show the same page in another language; store the choice in the account or the browser."""
    language = request.form.get("language", "")
    if language not in LANGUAGES:
        abort(400)
    session[SESSION_KEY] = language
    if current_user.is_authenticated:
        _keep(visitor().id, language)
    return redirect(safe_path(request.form.get("next", "")), 303)


def _keep(account: int, language: str) -> None:
    with transaction() as db:
        db.execute(update(Account).where(Account.id == account).values(language=language))
    visitors.forget(account)
