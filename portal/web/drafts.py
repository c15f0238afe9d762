"""Filled-in forms that an admin has not confirmed yet, stored for a day."""

import json

from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import RequestEntityTooLarge

from portal.backend import backend
from portal.ledger.function_library import translate_errors

KEPT = 24 * 60 * 60  # seconds since the admin's last one
LAST = 10  # of an account, so that what one admin fills in can't crowd the ledger's memory
LONGEST = 2_000_000  # bytes: a list of as many students as a window takes

Form = MultiDict[str, str]


def save(account: int, place: str, draft: int, form: Form) -> None:
    """Keep an admin's form of an address under a number, instead of what was there.

    Raises RequestEntityTooLarge.
    """
    content = json.dumps(form.to_dict(flat=False)).encode()
    if len(content) > LONGEST:
        raise RequestEntityTooLarge
    (order, forms), name = _keys(account), _name(place, draft)
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


def load(account: int, place: str, draft: int) -> Form | None:
    """The form of the address that the admin has kept under the number, None where it is gone."""
    with translate_errors():
        found = backend().redis.hget(_keys(account)[1], _name(place, draft))
    return MultiDict(json.loads(found)) if found else None


def _keys(account: int) -> tuple[str, str]:
    """The names of an account's forms, the newest first, and the forms by name."""
    return f"drafts:{{{account}}}:order", f"drafts:{{{account}}}:forms"


def _name(place: str, draft: int) -> str:
    return f"{place}:{draft}"
