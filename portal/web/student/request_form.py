"""The input of forms that ask before a change, read and checked."""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from uuid import uuid4

from flask import abort, g
from htmx_flask import request
from sqlalchemy.exc import SQLAlchemyError

from portal.catalog.term_catalog import NoSuchTerm, SectionView, catalog_of
from portal.core.i18n import _, _l
from portal.ledger.errors import LedgerSilent
from portal.ledger.types import RequestContext
from portal.registration.credits import credit_choices, hundredths
from portal.registration.next_steps import section_name
from portal.web.account.login import safe_path
from portal.web.forms import Sent
from portal.web.http import resuming
from portal.web.http.request_context import request_context
from portal.web.http.request_info import split_url
from portal.web.http.resuming import resumes

KEY = re.compile(r"[\w-]{8,64}", re.ASCII)
NUMBER = re.compile(r"\d{1,9}", re.ASCII)
COREQUISITE = "with-"  # followed by the number of the choice
OF_THE_FORM = ("csrf_token", "request", "back", "unsure")
MOST_TOGETHER = 6  # sections in one form
PLACES = ("", "/mine", "/plan", "/schedule")  # pages of a term to return to


def new_key() -> str:
    """Return a new idempotency key: however often a form is sent, it is decided once."""
    return uuid4().hex


def idempotency_key() -> str:
    """Return the form's idempotency key; one for the whole request if the form had none."""
    if "idempotency_key" not in g:
        g.idempotency_key = request.form.get("request") or new_key()
    return str(g.idempotency_key)


def is_unsure(error: Exception) -> bool:
    """Return whether the form's result is unknown; it may have been sent before."""
    return isinstance(error, LedgerSilent) or "unsure" in request.form


def context(term_id: int) -> RequestContext:
    """Return the context of the form's request; 400 if its idempotency key is invalid."""
    if not KEY.fullmatch(idempotency_key()):
        abort(400)
    return request_context(term_id, idempotency_key())


def fields() -> Sent:
    """Return the form's fields, or the choices made in it before a login led back to it."""
    sent: Sent = request.form if request.method == "POST" else request.args
    return sent


def chosen_credits(view: SectionView, field: str = "credits") -> int | None:
    """Return the chosen credits (hundredths) or None. Raise ValueError for others."""
    text = fields().get(field, "").strip()
    if text and text not in credit_choices(view):
        raise ValueError(text)
    return hundredths(Decimal(text)) if text else None


def accepts_waitlist(usual: bool = False) -> bool:  # noqa: FBT001, FBT002 - what holds where none was
    """Return whether the student accepts a waitlist position if the last seat is gone."""
    return fields().get("wait", "1" if usual else "") == "1"


def corequisites() -> list[int]:
    """Return the sections chosen together with the requested one; 400 if they are invalid."""
    chosen = fields()
    return _numbers(chosen[name] for name in sorted(chosen) if name.startswith(COREQUISITE))


def along() -> list[int]:
    """Return the sections in the address to drop as well; 400 if they are invalid."""
    return _numbers(request.args.getlist("along"))


def swap_out() -> int:
    """Return the section in the address to swap out; 400 if there is none."""
    return _numbers([request.args.get("swap_out", "")])[0]


def query() -> str:
    """Return the query of the form's address with its question mark; blank if there is none."""
    text = request.query_string.decode(errors="replace")
    return f"?{text}" if text else ""


def sent() -> dict[str, str]:
    """Return the submitted choices, to send them again."""
    return {
        name: text for name, text in resuming.listed_fields().items() if name not in OF_THE_FORM
    }


def return_address(term_id: int) -> str:
    """Return the page of this term that the student came from, with its search and filters."""
    here = f"/terms/{term_id}"
    came = split_url(request.referrer)
    path = fields().get("back") or f"{came.path}{'?' + came.query if came.query else ''}"
    wanted = split_url(safe_path(path)).path
    return path if wanted in {here + anchor for anchor in PLACES} else here


def _numbers(texts: Iterable[str]) -> list[int]:
    found = list(texts)
    if len(found) > MOST_TOGETHER or not all(map(NUMBER.fullmatch, found)):
        abort(400)
    return list(dict.fromkeys(map(int, found)))


# What the login page says about the tasks that an ended session interrupted.


def _about(text: object) -> Callable[[int, int], str]:
    """Return a function that names the section of a task if it is public: no one is logged in."""

    def say(term_id: int, section_id: int) -> str:
        try:
            view = catalog_of(term_id).published(section_id)
        except (NoSuchTerm, SQLAlchemyError):
            view = None
        name = section_name(view) if view and view.public else _("your class")
        return str(text) % {"name": name}

    return say


resumes_adding = resumes(_about(_l("Log in to continue adding %(name)s.")))
resumes_swapping = resumes(_about(_l("Log in to continue your swap: %(name)s.")))
resumes_dropping = resumes(_about(_l("Log in to continue dropping %(name)s.")))
resumes_leaving = resumes(_about(_l("Log in to continue leaving the waitlist for %(name)s.")))
resumes_planning = resumes(_about(_l("Log in to continue planning %(name)s.")))
resumes_section = resumes(_about(_l("Log in to see %(name)s.")))
resumes_plan = resumes(
    lambda term_id: _("Log in to continue with your plan."),  # noqa: ARG005
    lambda term_id: f"/terms/{term_id}/plan",
)
