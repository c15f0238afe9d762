"""GET and POST /admin/terms/<t>/rules: credits, drops a day, and skipped waitlist positions."""

from html import unescape
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from portal.backend import backend
from portal.catalog.models import Term
from portal.catalog.term_catalog import catalog_of, forget
from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.ledger.types import SkipRule
from portal.notifications.models import Notification
from portal.people.models import Hold
from portal.recorder.consistency.audit import audit
from portal.recorder.promotion import promote
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.cast import Cast
from tests.ledger_claims import claim
from tests.web import pages
from tests.web.admin.windows.windows import WHY, drops
from tests.web.visitors import browser_of


def address(term: Term) -> str:
    return f"/admin/terms/{term.id}/rules"


def a_form(**fields: Any) -> dict[str, Any]:
    form = {"credit_limit": "18.5", "drops_per_day": "2", "places": "kept", "skip_limit": "2"}
    return {**form, **fields}


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
    assert 'name="places" value="kept" checked' in page


def test_new_rules_are_previewed_first(admin: FlaskClient, term: Term) -> None:
    page = unescape(admin.get(address(term), query_string=a_form(places="lost")).text)
    assert "Save these rules?" in page
    assert "removed after 2 skips" in page
    assert now_set(term).passes is None


def test_rules_are_set_with_a_reason_and_audited(
    admin: FlaskClient, term: Term, cast: Cast
) -> None:
    form = a_form(places="lost", skip_reasons=["hold", "time_conflict"])
    assert admin.post(address(term), data=form | WHY | as_it_is(admin, term)).status_code == 303
    known = now_set(term)
    assert (str(known.credit_limit), known.drops_per_day) == ("18.50", 2)
    assert known.passes == SkipRule(2, ("time_conflict", "hold"))
    with transaction() as session:
        entry = session.scalars(select(AuditEntry)).one()
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
        ({"credit_limit": "lots"}, "Credits: enter a number from 0 to 100."),
        ({"credit_limit": "NaN"}, "Credits: enter a number"),
        ({"credit_limit": "12.345"}, "Credits: enter a number"),
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
