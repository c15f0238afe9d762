"""Applications follow the deadlines of a term: until when they can be sent, and what they pass."""

from dataclasses import replace
from datetime import date
from html import unescape

from flask.testing import FlaskClient

from portal.applications import service
from portal.applications.kinds import KINDS
from portal.applications.models import APPROVED
from portal.catalog.models import Section, Term
from portal.catalog.views import TermView
from tests.applications.stories import an_application, decider
from tests.cast import Cast, set_deadlines
from tests.registration.makers import TERM
from tests.web.pages import held as seats_of


def last_days(term: TermView) -> dict[str, date]:
    return {name: kind.last_day(term) for name, kind in KINDS.items()}


def test_last_days_follow_the_deadlines() -> None:
    before = last_days(TERM)
    assert before["late_add"] == date(2030, 9, 16)
    later = replace(TERM, add_deadline=date(2030, 9, 13), drop_deadline=date(2030, 10, 4))
    after = last_days(later)
    assert (after["late_add"], after["late_drop"]) == (date(2030, 9, 27), date(2030, 10, 18))
    assert after["withdrawal"] == before["withdrawal"]
    whole = last_days(replace(later, withdraw_deadline=date(2030, 11, 15)))
    assert whole["late_drop"] == whole["withdrawal"] == date(2030, 11, 15)
    assert whole["visiting"] == before["visiting"]


def test_an_early_deadline_shortens_no_time_to_apply_and_the_term_ends_it() -> None:
    early = last_days(replace(TERM, add_deadline=date(2030, 8, 1)))
    assert early["late_add"] == last_days(TERM)["late_add"]
    late = last_days(replace(TERM, add_deadline=date(2030, 12, 19)))
    assert late["late_add"] == TERM.ends_on


def test_the_form_says_when_no_application_is_needed(
    ada: FlaskClient, free: Section, held: Section, term: Term
) -> None:
    address = f"/terms/{term.id}/applications/new"
    set_deadlines(term, add_deadline=2, drop_deadline=2)
    page = unescape(ada.get(f"{address}/late_add?section={free.id}").text)
    assert "You can add classes yourself until" in page
    page = unescape(ada.get(f"{address}/withdrawal?section={held.id}").text)
    assert "You can drop classes yourself until" in page
    set_deadlines(term, add_deadline=-2, drop_deadline=-2)
    for kind in ("late_add", "withdrawal"):
        assert "yourself until" not in ada.get(f"{address}/{kind}").text


def test_approved_applications_pass_the_deadlines(
    free: Section, held: Section, term: Term, cast: Cast
) -> None:
    set_deadlines(term, add_deadline=-2, drop_deadline=-2, withdraw_deadline=2)
    for kind, section in (("late_add", free), ("withdrawal", held)):
        sent = an_application(kind, cast.ada, section)
        assert service.approve(sent, decider(sent, cast.max.id)).state == APPROVED
    assert seats_of(term, cast.ada) == [free.id]


def test_no_withdrawal_begins_after_its_last_day(
    ada: FlaskClient, held: Section, term: Term
) -> None:
    set_deadlines(term, withdraw_deadline=-2)
    answer = ada.post(f"/terms/{term.id}/applications/new/withdrawal", data={"section": held.id})
    assert answer.status_code == 422
    assert "The last day to apply has passed." in unescape(answer.text)
