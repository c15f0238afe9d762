"""GET and POST /admin/terms/<t>/rules: credits, drops a day, skips, and deadlines."""

from datetime import date, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from portal.backend import Backend, backend
from portal.catalog.models import Term
from portal.catalog.term_catalog import catalog_of, forget
from portal.catalog.term_fields import TERM_RULES
from portal.core.db import transaction
from portal.ledger.function_library import prefix
from portal.ledger.types import SkipRule
from portal.notifications.models import Notification
from portal.people.models import Hold
from portal.recorder.consistency.audit import audit
from portal.recorder.promotion import promote
from portal.recorder.recorder import drain
from portal.windows.readiness import make_ready
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast
from tests.ledger_claims import claim
from tests.web import pages
from tests.web.admin.windows.windows import WHY, drops
from tests.web.ledger_outage import ledger_away
from tests.web.visitors import browser_of


def address(term: Term) -> str:
    return f"/admin/terms/{term.id}/rules"


def a_form(**fields: Any) -> dict[str, Any]:
    """Return valid values of all that a form must have."""
    usual = {name: str(rule.default) for name, rule in TERM_RULES.items() if rule.default}
    form = {"credit_limit": "18.5", "drops_per_day": "2", "places": "kept", "skip_limit": "2"}
    return {**usual, **form, **fields}


def as_it_is(admin: FlaskClient, term: Term) -> dict[str, str]:
    """Return the mark of the rules that the page showed."""
    page = admin.get(address(term), query_string=a_form()).text
    return {"seen": pages.hidden(page)["seen"]}


def now_set(term: Term) -> Any:
    forget()
    return catalog_of(term.id).term


def test_form_shows_the_current_rules(admin: FlaskClient, term: Term) -> None:
    page = admin.get(address(term)).text
    assert 'value="21"' in page
    assert all(f'name="{name}"' in page for name in TERM_RULES)
    assert 'name="places" value="kept" checked' in page


def test_new_rules_are_previewed_first(admin: FlaskClient, term: Term) -> None:
    page = unescape(admin.get(address(term), query_string=a_form(places="lost")).text)
    assert "Save these rules?" in page
    assert "removed after 2 skips" in page
    assert now_set(term).skip_rule is None


def test_rules_are_set_with_a_reason_and_audited(
    admin: FlaskClient, term: Term, cast: Cast
) -> None:
    form = a_form(places="lost", skip_reasons=["hold", "time_conflict"])
    assert admin.post(address(term), data=form | WHY | as_it_is(admin, term)).status_code == 303
    known = now_set(term)
    assert (str(known.credit_limit), known.drops_per_day) == ("18.50", 2)
    assert known.skip_rule == SkipRule(2, ("time_conflict", "hold"))
    (entry,) = entries()
    assert (entry.account_id, entry.action, entry.reason) == (
        cast.max.id,
        "term.rules",
        WHY["reason"],
    )
    assert entry.before
    assert entry.after
    assert (entry.before["skip_limit"], entry.after["skip_limit"]) == (None, 2)


def test_rules_need_a_reason(admin: FlaskClient, term: Term) -> None:
    assert admin.post(address(term), data=a_form()).status_code == 422
    assert now_set(term).drops_per_day == 3


def test_two_admins_dont_overwrite_each_other(admin: FlaskClient, term: Term) -> None:
    seen = as_it_is(admin, term)
    assert admin.post(address(term), data=a_form() | WHY | seen).status_code == 303
    answer = admin.post(address(term), data=a_form(drops_per_day="9") | WHY | seen)
    assert answer.status_code == 422
    assert "Someone else has changed the rules" in answer.text
    assert now_set(term).drops_per_day == 2


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"credit_limit": "lots"}, "Credit limit: enter a number from 0 to 100."),
        ({"credit_limit": "NaN"}, "Credit limit: enter a number"),
        ({"credit_limit": "12.345"}, "Credit limit: enter a number"),
        ({"drops_per_day": "-1"}, "Drops per day: enter a whole number"),
        (
            {"places": "lost", "skip_reasons": "nonsense"},
            "Not in the list: nonsense",
        ),
        (
            {"places": "lost", "skip_limit": "0"},
            "Skips until removal: enter a whole number from 1 to 100.",
        ),
    ],
)
def test_errors_are_shown_with_the_input(
    admin: FlaskClient, term: Term, fields: dict[str, str], error: str
) -> None:
    for answer in (
        admin.get(address(term), query_string=a_form(**fields)),
        admin.post(address(term), data=a_form(**fields) | WHY),
    ):
        assert answer.status_code == 422
        assert error in unescape(answer.text)
        assert all(value in answer.text for value in fields.values())


def test_students_above_a_new_limit_are_counted(admin: FlaskClient, term: Term, cast: Cast) -> None:
    window = builders.an_open_window(term)
    claim(cast.ada, builders.a_section(builders.a_course("CSC-1"), term), window)
    drain(term.id)
    page = admin.get(address(term), query_string=a_form(credit_limit="3")).text
    assert "1 student already has more credits than this limit." in page


def test_skipped_student_loses_the_position_and_is_notified(
    admin: FlaskClient, term: Term, cast: Cast
) -> None:
    form = a_form(places="lost", skip_limit="1", skip_reasons=["hold"])
    admin.post(address(term), data=form | WHY | as_it_is(admin, term))
    forget()
    window = builders.an_open_window(term)
    section = builders.a_section(builders.a_course("CSC-1"), term, capacity=1)
    for student in (cast.ada, cast.ben, cast.cleo):
        claim(student, section, window)
    with transaction() as session:
        session.add(Hold(student_id=cast.ben.id, kind="bursar", reason="A bill"))
    drops(cast.ada, section, window)
    promote(term.id, "tests")
    assert backend().ledger.registrations(term.id, cast.ben.id).waiting == ()
    assert backend().ledger.registrations(term.id, cast.cleo.id).enrolled
    drain(term.id)
    with transaction() as session:
        result = session.scalars(
            select(Notification).where(Notification.account_id == cast.ben.account_id)
        ).one()
    assert (result.kind, result.data["lost"]) == ("passed_over", True)
    ben = browser_of(admin.application, "ben")
    assert "You lost your waitlist position" in ben.get("/inbox").text
    assert "You lost your position" in ben.get(f"/terms/{term.id}/history").text
    assert audit()["clean"]


def test_unknown_term_has_no_rules(admin: FlaskClient) -> None:
    assert admin.get("/admin/terms/2000000000/rules").status_code == 404


# Deadlines

DAYS = {
    "add_deadline": "2030-09-06",
    "drop_deadline": "2030-10-04",
    "withdraw_deadline": "2030-11-15",
}


def save(admin: FlaskClient, term: Term, **fields: Any) -> int:
    page = admin.get(address(term), query_string=a_form(**fields)).text
    form = a_form(**fields) | WHY | {"seen": pages.hidden(page)["seen"]}
    return admin.post(address(term), data=form).status_code


def test_deadlines_are_set_with_a_reason_and_audited(admin: FlaskClient, term: Term) -> None:
    page = unescape(admin.get(address(term), query_string=a_form(**DAYS)).text)
    assert "none → Sep 6, 2030" in page
    assert save(admin, term, **DAYS) == 303
    assert now_set(term).add_deadline == date(2030, 9, 6)
    (entry,) = entries()
    assert entry.before
    assert entry.after
    assert (entry.before["add_deadline"], entry.after["add_deadline"]) == (None, "2030-09-06")
    assert 'value="2030-10-04"' in admin.get(address(term)).text
    assert "Oct 4, 2030" in admin.get(f"/admin/terms/{term.id}").text
    assert save(admin, term) == 303
    assert now_set(term).add_deadline is None


def test_a_deadline_passes_at_the_end_of_its_day_in_the_institutions_zone(
    admin: FlaskClient, term: Term, backend: Backend
) -> None:
    days = {**DAYS, "drop_deadline": "2030-11-02", "withdraw_deadline": "2030-11-03"}
    assert save(admin, term, **days) == 303
    known = backend.redis.hgetall(f"{prefix(term.id)}:deadlines")
    # Clocks go back on November 3.
    for name, end in (("drop", "2030-11-03T04:00"), ("withdraw", "2030-11-04T05:00")):
        ends = datetime.fromisoformat(f"{end}+00:00").timestamp()
        assert int(known[f"{name}_deadline".encode()]) == ends * 1000


def test_the_scheduler_sends_deadlines_that_the_ledger_missed(
    admin: FlaskClient, term: Term, backend: Backend
) -> None:
    with ledger_away(backend):
        save(admin, term, **DAYS)
    key = f"{prefix(term.id)}:deadlines"
    assert not backend.redis.exists(key)
    assert make_ready(term.id)
    assert backend.redis.hget(key, "drop_deadline")


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"add_deadline": "soon"}, "Enter a date such as 2030-08-26, or leave it blank."),
        ({"add_deadline": "2031-09-06"}, "Enter a day from Aug 25, 2029 to Dec 20, 2030."),
        ({"add_deadline": "1030-09-06"}, "Enter a day from Aug 25, 2029 to Dec 20, 2030."),
        (
            {"add_deadline": "2030-10-05", "drop_deadline": "2030-10-04"},
            "This day must not be before the one above.",
        ),
        (
            {"add_deadline": "2030-10-05", "withdraw_deadline": "2030-10-04"},
            "This day must not be before the one above.",
        ),
    ],
)
def test_impossible_deadlines_are_refused(
    admin: FlaskClient, term: Term, fields: dict[str, str], error: str
) -> None:
    answer = admin.get(address(term), query_string=a_form(**fields))
    assert answer.status_code == 422
    assert error in unescape(answer.text)
    assert now_set(term).add_deadline is None


def test_the_effects_of_a_deadline_in_the_past_are_named(admin: FlaskClient, cast: Cast) -> None:
    assert cast
    today = date.today()  # noqa: DTZ011  some day of a term that runs now
    begun, over = today - timedelta(60), today + timedelta(60)
    term = builders.a_term("This term", starts_on=begun, ends_on=over)
    passed = {
        "add_deadline": str(today - timedelta(20)),
        "drop_deadline": str(today + timedelta(9)),
    }
    page = unescape(admin.get(address(term), query_string=a_form(**passed)).text)
    assert "The last day to add has passed, so waitlists stop at once." in page
    with transaction() as session:
        session.get_one(Term, term.id).add_deadline = today - timedelta(20)
    page = unescape(admin.get(address(term), query_string=a_form(**passed)).text)
    assert "waitlists stop at once" not in page  # they stopped before
    assert "students can’t drop any more" not in page
