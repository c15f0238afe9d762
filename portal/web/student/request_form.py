"""The input of forms that ask before a change, read and checked."""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING
from uuid import uuid4

from flask import abort, g
from htmx_flask import request
from sqlalchemy.exc import SQLAlchemyError

from portal.catalog.term_catalog import NoSuchTerm, SectionView, catalog_of
from portal.core.correlation import correlation
from portal.core.i18n import _
from portal.ledger.errors import LedgerSilent
from portal.registration.credits import credit_choices, hundredths
from portal.registration.next_steps import section_name
from portal.registration.requests import Requester
from portal.web.account.login import safe_path
from portal.web.http import resubmission
from portal.web.http.access import visitor
from portal.web.http.admission import access_token
from portal.web.http.request_info import split_url
from portal.web.http.resuming import resumes

if TYPE_CHECKING:
    from werkzeug.datastructures import MultiDict


KEY = re.compile(r"[\w-]{8,64}", re.ASCII)
NUMBER = re.compile(r"\d{1,9}", re.ASCII)
PARTNER = "with-"  # followed by the number of the choice
OF_THE_FORM = ("csrf_token", "request", "back", "unsure")
MOST_TOGETHER = 6  # sections in one form
PLACES = ("", "/mine", "/plan", "/schedule")  # pages of a term to return to


def new_key() -> str:
    """Return a new idempotency key: however often a form is sent, it is decided once."""
    return uuid4().hex


def key() -> str:
    """Return the form's idempotency key; one for the whole request if the form had none."""
    if "request_key" not in g:
        g.request_key = request.form.get("request") or new_key()
    return str(g.request_key)


def is_unsure(error: Exception) -> bool:
    """Return whether the form's result is unknown; it may have been sent before."""
    return isinstance(error, LedgerSilent) or "unsure" in request.form


def requester(term_id: int) -> Requester:
    """Return the requester with the form's idempotency key; 400 if the key is invalid."""
    if not KEY.fullmatch(key()):
        abort(400)
    student, passed = visitor().student_id or 0, access_token()
    window = passed.window if passed else None
    return Requester(student, term_id, key(), correlation(), window)


def credits_wished(card: SectionView) -> int | None:
    """Return the chosen credits (hundredths) or None. Raise ValueError for others."""
    text = credits_chosen().strip()
    if text and text not in credit_choices(card):
        raise ValueError(text)
    return hundredths(Decimal(text)) if text else None


def fields() -> "MultiDict[str, str]":
    """Return the form's fields, or the choices made in it before a login led back to it."""
    sent: MultiDict[str, str] = request.form if request.method == "POST" else request.args
    return sent


def credits_chosen() -> str:
    """Return the chosen credits as the form has them; blank if there are none."""
    return fields().get("credits", "")


def wait_wished(usual: bool = False) -> bool:  # noqa: FBT001, FBT002 - what holds where none was
    """Return whether the student accepts a waitlist position if the last seat is gone."""
    return fields().get("wait", "1" if usual else "") == "1"


def partners() -> list[int]:
    """Return the sections chosen together with the requested one; 400 if they are invalid."""
    chosen = fields()
    return _numbers(chosen[name] for name in sorted(chosen) if name.startswith(PARTNER))


def along() -> list[int]:
    """Return the sections in the address to drop as well; 400 if they are invalid."""
    return _numbers(request.args.getlist("along"))


def instead() -> int:
    """Return the section in the address to swap out; 400 if there is none."""
    return _numbers([request.args.get("instead", "")])[0]


def query() -> str:
    """Return the query of the form's address with its question mark; blank if there is none."""
    text = request.query_string.decode(errors="replace")
    return f"?{text}" if text else ""


def sent() -> dict[str, str]:
    """Return the submitted choices, to send them again."""
    return {name: text for name, text in resubmission.listed().items() if name not in OF_THE_FORM}


def return_address(term_id: int) -> str:
    """Return the page of this term that the student came from, with its search and filters."""
    here = f"/terms/{term_id}"
    came = split_url(request.referrer)
    path = fields().get("back") or f"{came.path}{'?' + came.query if came.query else ''}"
    wanted = split_url(safe_path(path)).path
    return path if wanted in {here + place for place in PLACES} else here


def _numbers(texts: Iterable[str]) -> list[int]:
    found = list(texts)
    if len(found) > MOST_TOGETHER or not all(map(NUMBER.fullmatch, found)):
        abort(400)
    return list(dict.fromkeys(map(int, found)))


# Names of the tasks that an ended session interrupted, for the login page.


def adding(term_id: int, section_id: int) -> str:
    """Return the text for the form that requests a seat."""
    return _("Log in to continue adding %(name)s.", name=_named(term_id, section_id))


def swapping(term_id: int, section_id: int) -> str:
    """Return the text for the forms that swap a seat."""
    return _("Log in to continue your swap: %(name)s.", name=_named(term_id, section_id))


def dropping(term_id: int, section_id: int) -> str:
    """Return the text for the form that drops a seat."""
    return _("Log in to continue dropping %(name)s.", name=_named(term_id, section_id))


def leaving(term_id: int, section_id: int) -> str:
    """Return the text for the form that leaves a waitlist."""
    name = _named(term_id, section_id)
    return _("Log in to continue leaving the waitlist of %(name)s.", name=name)


def planning(term_id: int, section_id: int) -> str:
    """Return the text for the form that adds a section to the plan."""
    return _("Log in to continue planning %(name)s.", name=_named(term_id, section_id))


def _with_plan(term_id: int) -> str:  # noqa: ARG001 - takes what its view takes
    return _("Log in to continue with your plan.")


def _plan_page(term_id: int) -> str:
    return f"/terms/{term_id}/plan"


with_plan = resumes(_with_plan, _plan_page)


def _named(term_id: int, section_id: int) -> str:
    """Return the section's name if it is public: the visitor is not logged in here."""
    try:
        card = catalog_of(term_id).published(section_id)
    except (NoSuchTerm, SQLAlchemyError):
        card = None
    return section_name(card) if card and card.public else _("your section")
