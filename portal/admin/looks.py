"""Forms that are sent to be looked over: kept, and shown at an address that sends none again."""

import secrets

from flask import flash, redirect, request
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict

from portal.core.i18n import _
from portal.web import drafts
from portal.web.drafts import Form
from portal.web.http.access import visitor

OWN = ("csrf_token", "refused")


def look(place: str, refused: str = "") -> ResponseReturnValue:
    """Keep the form that was sent, and on to the page that shows it, with why it was refused."""
    number = secrets.randbits(53)
    form = MultiDict(each for each in request.form.items(multi=True) if each[0] not in OWN)
    form["refused"] = refused
    drafts.save(visitor().id, place, number, form)
    return redirect(f"{place}?draft={number}", 303)


def looked() -> Form | None:
    """The form that the address names; None where it names none, or one that is gone."""
    number = request.args.get("draft", type=int)
    found = drafts.load(visitor().id, request.path, number) if number else None
    if number and found is None:
        flash(_("What you had filled in is not kept any more. Begin again."))
    return found
