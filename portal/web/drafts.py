"""Forms that an admin has filled in but not confirmed, stored for a day.

A form that is looked over before anything changes goes through three steps, at one address. A POST
stores the form as a draft and redirects to `?draft=<number>`, which shows its errors or its effects
and submits nothing again. The POST from there has the field `confirmed`, and makes the change.
"""

import json
import secrets

from flask import flash, redirect, request
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import RequestEntityTooLarge

from portal.backend import backend
from portal.core.i18n import _
from portal.ledger.function_library import translate_errors
from portal.web.forms import Sent
from portal.web.http.access import visitor

KEPT = 24 * 60 * 60  # seconds since the admin's last one
LAST = 10  # per account and kind, so that one admin can't fill the ledger's memory
LONGEST = 2_000_000  # bytes: enough for the longest list of students


def save(account: int, path: str, draft: int, form: Sent, kind: str = "drafts") -> None:
    """Store an admin's form of a page under a number, and replace an older one.

    Each `kind` of forms is counted for itself.
    Raise RequestEntityTooLarge.
    """
    content = json.dumps(form.to_dict(flat=False)).encode()
    if len(content) > LONGEST:
        raise RequestEntityTooLarge
    (order, forms), name = _keys(account, kind), _name(path, draft)
    with translate_errors():
        sent = backend().redis.pipeline()
        sent.lrem(order, 0, name)
        sent.lpush(order, name)
        sent.hset(forms, name, content)
        for key in (order, forms):
            sent.expire(key, KEPT)
        _, number, *_ = sent.execute()
        if number > LAST and (gone := backend().redis.rpop(order, number - LAST)):
            backend().redis.hdel(forms, *gone)


def load(account: int, path: str, draft: int, kind: str = "drafts") -> Sent | None:
    """Return the form that the admin stored under the number; None if it is gone."""
    with translate_errors():
        found = backend().redis.hget(_keys(account, kind)[1], _name(path, draft))
    return MultiDict(json.loads(found)) if found else None


def every(account: int, path: str, kind: str) -> list[tuple[int, Sent]]:
    """Return the forms of a page that the admin has stored, with their numbers, newest first."""
    order, forms = _keys(account, kind)
    with translate_errors():
        stored = backend().redis.lrange(order, 0, LAST - 1)
        names = [each.decode() if isinstance(each, bytes) else each for each in stored]
        mine = [each for each in names if each.startswith(f"{path}:")]
        found = backend().redis.hmget(forms, mine) if mine else []
    return [
        (int(name.removeprefix(f"{path}:")), MultiDict(json.loads(form)))
        for name, form in zip(mine, found, strict=True)
        if form
    ]


def _keys(account: int, kind: str) -> tuple[str, str]:
    """Return the keys of an account's list of forms, the newest first, and of the forms by name."""
    return f"{kind}:{{{account}}}:order", f"{kind}:{{{account}}}:forms"


def _name(path: str, draft: int) -> str:
    return f"{path}:{draft}"


# Submitted forms to review: each is stored and shown at an address that submits nothing again.

OWN = ("csrf_token", "refused")


def show_draft(path: str, refused: str = "") -> ResponseReturnValue:
    """Store the submitted form; redirect to the page that shows it, with why it was refused."""
    number = secrets.randbits(53)
    form = MultiDict(each for each in request.form.items(multi=True) if each[0] not in OWN)
    form["refused"] = refused
    save(visitor().id, path, number, form)
    return redirect(f"{path}?draft={number}", 303)


def shown_draft() -> Sent | None:
    """Return the form in the address; None if there is none, or it is gone."""
    number = request.args.get("draft", type=int)
    found = load(visitor().id, request.path, number) if number else None
    if number and found is None:
        flash(_("Your entries are no longer stored. Start again."))
    return found


def sent_form() -> Sent | None:
    """Return the form that was posted, or the one stored as a draft; None if there is neither."""
    return request.form if request.method == "POST" else shown_draft()
