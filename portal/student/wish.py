"""What a confirm form sends, read and checked."""

import re
from decimal import Decimal, InvalidOperation
from urllib.parse import urlsplit
from uuid import uuid4

from flask import abort, g
from htmx_flask import request

from portal.access import visitor
from portal.ops.correlation import correlation
from portal.people.login import safe_path
from portal.seats.desk import Asked

KEY = re.compile(r"[\w-]{8,64}", re.ASCII)


def new_key() -> str:
    """A key under which an answer can be asked for again, however often a form is sent."""
    return uuid4().hex


def key() -> str:
    """The key of the form that was sent, one for the whole request where it had none."""
    if "request_key" not in g:
        g.request_key = request.form.get("request") or new_key()
    return str(g.request_key)


def unsure() -> bool:
    """Whether the form has been sent before, and nobody knows what came of it."""
    return "unsure" in request.form


def asked(term_id: int, section_id: int) -> Asked:
    """Who asks about which section; 400 where the form's key is no key."""
    if not KEY.fullmatch(key()):
        abort(400)
    return Asked(visitor().student_id or 0, term_id, section_id, key(), correlation())


def credits_wished() -> Decimal | None:
    """The credits chosen, None where the form offers no choice; raises ValueError."""
    text = request.form.get("credits", "").strip()
    if not text:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation as error:
        raise ValueError(text) from error
    if not amount.is_finite() or not 0 <= amount < 1000:
        raise ValueError(text)
    return amount


def wait_wished() -> bool:
    """Whether a place on the waitlist is welcome, should the last seat be gone."""
    return bool(request.form.get("wait") == "1")


def back_to(term_id: int) -> str:
    """The page of this term that the student came from, with its search and filters."""
    here = f"/terms/{term_id}"
    came = urlsplit(request.referrer or "")
    path = request.form.get("back") or f"{came.path}{'?' + came.query if came.query else ''}"
    wanted = urlsplit(safe_path(path)).path
    return path if wanted in {here, f"{here}/mine"} else here
