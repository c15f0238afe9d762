"""What a student was doing when their session ended, in words for the page that asks to log in."""

from sqlalchemy.exc import SQLAlchemyError

from portal.catalog.term_catalog import NoSuchTerm, catalog_of
from portal.core.i18n import _
from portal.registration.next_steps import section_name
from portal.web.http.resuming import resumes


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
