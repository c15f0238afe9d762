"""What a form that asks sends, read and checked."""

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
PARTNER = "with-"  # and the number of the choice
OF_THE_FORM = ("csrf_token", "request", "back", "unsure")
MOST_TOGETHER = 6  # sections that one form is about
PLACES = ("", "/mine", "/plan", "/schedule")  # of a term, to come back to


def new_key() -> str:
    """A key under which an answer can be asked for again, however often a form is sent."""
    return uuid4().hex


def key() -> str:
    """The key of the form that was sent, one for the whole request where it had none."""
    if "request_key" not in g:
        g.request_key = request.form.get("request") or new_key()
    return str(g.request_key)


def is_unsure(error: Exception) -> bool:
    """Whether nobody knows what came of the form, which may have been sent before."""
    return isinstance(error, LedgerSilent) or "unsure" in request.form


def requester(term_id: int) -> Requester:
    """Who asks, under the key of the form; 400 where that is no key."""
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
    """What the form sends, or what was chosen in it before a login led back to it."""
    sent: MultiDict[str, str] = request.form if request.method == "POST" else request.args
    return sent


def credits_chosen() -> str:
    """The credits chosen, as the form has them; blank where none were."""
    return fields().get("credits", "")


def wait_wished(usual: bool = False) -> bool:  # noqa: FBT001, FBT002 - what holds where none was
    """Whether a place on the waitlist is welcome, should the last seat be gone."""
    return fields().get("wait", "1" if usual else "") == "1"


def partners() -> list[int]:
    """The sections chosen to be had along with the one asked for; 400 where they make no sense."""
    chosen = fields()
    return _numbers(chosen[name] for name in sorted(chosen) if name.startswith(PARTNER))


def along() -> list[int]:
    """The sections that the address names to be given up as well; 400 where it makes no sense."""
    return _numbers(request.args.getlist("along"))


def instead() -> int:
    """The section that the address names to be given up in exchange; 400 where it names none."""
    return _numbers([request.args.get("instead", "")])[0]


def query() -> str:
    """What the form's address ends with, from the question mark on; blank where there is none."""
    text = request.query_string.decode(errors="replace")
    return f"?{text}" if text else ""


def sent() -> dict[str, str]:
    """The choices that were sent, to be sent once more."""
    return {name: text for name, text in resubmission.listed().items() if name not in OF_THE_FORM}


def return_address(term_id: int) -> str:
    """The page of this term that the student came from, with its search and filters."""
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


# What a student was doing when their session ended, in words for the page that asks to log in.


def adding(term_id: int, section_id: int) -> str:
    """For the form that asks for a seat."""
    return _("Log in to continue adding %(name)s.", name=_named(term_id, section_id))


def swapping(term_id: int, section_id: int) -> str:
    """For the forms that exchange a seat."""
    return _("Log in to continue your swap: %(name)s.", name=_named(term_id, section_id))


def dropping(term_id: int, section_id: int) -> str:
    """For the form that gives a seat up."""
    return _("Log in to continue dropping %(name)s.", name=_named(term_id, section_id))


def leaving(term_id: int, section_id: int) -> str:
    """For the form that gives up a place on a waitlist."""
    name = _named(term_id, section_id)
    return _("Log in to continue leaving the waitlist of %(name)s.", name=name)


def planning(term_id: int, section_id: int) -> str:
    """For the form that puts a section into the plan."""
    return _("Log in to continue planning %(name)s.", name=_named(term_id, section_id))


def _with_plan(term_id: int) -> str:  # noqa: ARG001 - takes what its view takes
    return _("Log in to continue with your plan.")


def _plan_page(term_id: int) -> str:
    return f"/terms/{term_id}/plan"


with_plan = resumes(_with_plan, _plan_page)


def _named(term_id: int, section_id: int) -> str:
    """The section, unless it is not for everyone to know of: nobody is logged in here."""
    try:
        card = catalog_of(term_id).published(section_id)
    except (NoSuchTerm, SQLAlchemyError):
        card = None
    return section_name(card) if card and card.public else _("your section")
