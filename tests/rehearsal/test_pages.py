"""/admin/rehearsals: begun by a button, watched while it is played, stopped, read afterwards."""

import pytest
from flask import Flask
from flask.testing import FlaskClient
from rq import Queue
from sqlalchemy import select

from portal.backend import Backend
from portal.core.db import transaction
from portal.people.models import AuditEntry
from portal.rehearsal import book
from portal.rehearsal.models import Rehearsal
from tests import cast as builders
from tests.cast import Cast
from tests.rehearsal.told import REPORT, STANDING
from tests.web.outage import ledger_away
from tests.web.visitors import browser_of

HERE = "/admin/rehearsals"
FORM = {"students": "5", "minutes": "1"}


@pytest.fixture
def admin(app: Flask, cast: Cast) -> FlaskClient:  # noqa: ARG001
    return browser_of(app, "max")


def latest() -> Rehearsal:
    with transaction() as session:
        return book.latest(session, 1)[0]


def test_the_button_calls_a_worker_and_leads_to_its_page(
    admin: FlaskClient, backend: Backend, cast: Cast
) -> None:
    assert HERE in admin.get("/admin/operations").text
    answer = admin.post(HERE, data=FORM)
    number = latest().id
    assert (answer.status_code, answer.headers["Location"]) == (303, f"{HERE}/{number}")
    assert f"rehearsal-{number}" in Queue("errands", connection=backend.redis).job_ids
    shown = admin.get(f"{HERE}/{number}").text
    assert "Waits for a worker" in shown
    assert 'hx-trigger="every 1s"' in shown
    with transaction() as session:
        (entry,) = session.scalars(select(AuditEntry))
    assert (entry.action, entry.account_id) == ("rehearsal.begin", cast.max.id)


def test_another_one_has_to_wait(admin: FlaskClient) -> None:
    admin.post(HERE, data=FORM)
    answer = admin.post(HERE, data=FORM)
    assert answer.status_code == 409
    assert "Another rehearsal is under way" in answer.text


def test_it_is_begun_beside_an_open_window_only_by_who_says_so(admin: FlaskClient) -> None:
    window = builders.an_open_window(builders.a_term())
    assert 'name="anyway"' not in admin.get(HERE).text
    answer = admin.post(HERE, data=FORM)
    assert answer.status_code == 422
    assert f"{window.name} of" in answer.text
    assert 'name="anyway"' in answer.text
    assert admin.post(HERE, data=FORM | {"anyway": "1"}).status_code == 303


@pytest.mark.parametrize("wrong", [{"students": "501"}, {"students": "x"}, {"minutes": "0"}])
def test_what_is_too_much_or_no_number_is_refused(
    admin: FlaskClient, wrong: dict[str, str]
) -> None:
    answer = admin.post(HERE, data=FORM | wrong)
    assert answer.status_code == 422
    assert "Give a whole number from" in answer.text
    with transaction() as session:
        assert book.latest(session, 1) == []


def test_none_is_begun_while_no_worker_can_be_called(admin: FlaskClient, backend: Backend) -> None:
    with ledger_away(backend):
        assert admin.post(HERE, data=FORM).status_code == 503
    with transaction() as session:
        assert book.latest(session, 1) == []


def test_who_watches_sees_how_it_stands(admin: FlaskClient) -> None:
    admin.post(HERE, data=FORM)
    number = latest().id
    book.note(number, step="playing", now=STANDING)
    shown = admin.get(f"{HERE}/{number}/now").text
    assert "Rush" in shown
    assert 'value="0.3"' in shown
    assert "9.5" in shown


def test_it_is_stopped_by_a_button(admin: FlaskClient) -> None:
    admin.post(HERE, data=FORM)
    number = latest().id
    assert admin.post(f"{HERE}/{number}/stop").status_code == 303
    assert latest().stopping
    assert "stopping" in admin.get(f"{HERE}/{number}").text
    assert not book.note(number)


def test_its_report_stays(admin: FlaskClient) -> None:
    admin.post(HERE, data=FORM)
    number = latest().id
    book.note(number, now=STANDING)
    book.end(number, step="done", report=REPORT)
    shown = " ".join(admin.get(f"{HERE}/{number}").text.split())
    assert "FAIRSEAT_ROOM=640/3200" in shown
    assert "takes 3 web processes" in shown
    assert "18 of 20" in shown
    assert "no difference" in shown
    assert "every 1s" not in shown
    assert "done" in admin.get(HERE).text


def test_its_report_says_whether_who_played_it_was_too_busy(admin: FlaskClient) -> None:
    admin.post(HERE, data=FORM)
    advice = REPORT["advice"] | {"reached": False, "crowded": True}
    book.end(latest().id, step="done", report=REPORT | {"advice": advice})
    shown = admin.get(f"{HERE}/{latest().id}").text
    assert "They bear this at least" in shown
    assert "at their limit" not in shown


def test_one_that_failed_says_why(admin: FlaskClient) -> None:
    admin.post(HERE, data=FORM)
    book.end(latest().id, error="NotPlayableError: The portal is not ready.")
    assert "The portal is not ready." in admin.get(f"{HERE}/{latest().id}").text
    assert "failed" in admin.get(HERE).text


def test_they_are_for_admins(app: Flask, admin: FlaskClient) -> None:
    admin.post(HERE, data=FORM)
    for who in ("ada", "iris"):
        other = browser_of(app, who)
        assert other.get(HERE).status_code == 403
        assert other.post(HERE, data=FORM).status_code == 403
        assert other.post(f"{HERE}/{latest().id}/stop").status_code == 403
    assert not latest().stopping


def test_there_is_no_page_of_one_that_is_not_there(admin: FlaskClient) -> None:
    assert admin.get(f"{HERE}/999999").status_code == 404
    assert admin.get(f"{HERE}/{2**31}").status_code == 404
