"""An approval that the ledger can't carry out yet: what pages and programs say meanwhile."""

from collections.abc import Iterator
from html import unescape

import pytest
from flask.testing import FlaskClient

from portal.applications import service
from portal.backend import backend
from portal.catalog.models import Section
from portal.core.queue import NO_TERM
from tests.applications.deciders import HERE, press
from tests.applications.stories import an_application, has_seat, history, steps, the
from tests.cast import Cast
from tests.statements import looked_up
from tests.web.ledger_outage import ledger_away
from tests.web.pages import words

QUEUE = "/admin/applications"
STATE = "Approved, takes effect soon"
DECIDED = "This application has already been decided."


@pytest.fixture
def asked(free: Section, cast: Cast) -> int:
    """Return a late add of Ada's."""
    return an_application("late_add", cast.ada, free)


@pytest.fixture
def approved(admin: FlaskClient, asked: int) -> Iterator[int]:
    """Yield it, approved while the ledger is away; it comes back after the test."""
    with ledger_away(backend()):
        answer = press(admin, asked, "approve", QUEUE)
        assert (answer.status_code, answer.location) == (303, QUEUE)
        yield asked


def shown(browser: FlaskClient, address: str, status: int = 200) -> str:
    """Return the text of a page."""
    answer = browser.get(address)
    assert answer.status_code == status
    return words(unescape(answer.text))


def test_queue_of_an_admin_says_so(admin: FlaskClient, approved: int) -> None:
    page = shown(admin, QUEUE)
    assert "Approved: Late add, MAT 1-02. It is carried out once the ledger is back." in page
    assert "No application matches." in page
    assert "Open 1" in page
    for state in ("acting", ""):
        assert f"{STATE} View : Late add, MAT 1-02, Ada" in shown(admin, f"{QUEUE}?state={state}")
    assert the(approved).state == "acting"


def test_page_of_an_admin_offers_no_decision(admin: FlaskClient, approved: int) -> None:
    page = admin.get(f"{QUEUE}/{approved}")
    text = words(unescape(page.text))
    assert f"State {STATE}" in text
    assert "Max Fine." in text
    assert 'name="decision"' not in page.text
    for decision in ("approve", "decline", "more"):
        answer = press(admin, approved, decision, QUEUE)
        assert answer.status_code == 409
        assert "The application has changed since you opened this page." in unescape(answer.text)
    assert history(approved) == ["submit", "approve"]


def test_decider_of_the_department_does_not_see_it(iris: FlaskClient, approved: int) -> None:
    assert "No application matches." in shown(iris, HERE)
    assert iris.get(f"{HERE}/{approved}").status_code == 404


def test_pages_of_the_student_say_so(
    ada: FlaskClient, approved: int, free: Section, cast: Cast
) -> None:
    mine = f"/terms/{free.term_id}/applications"
    assert STATE in shown(ada, mine)
    page = shown(ada, f"{mine}/{approved}")
    assert f"{STATE} Sent (done) In review: Registrar (done) Decision" in page
    assert "It is being carried out. This takes a moment." in page
    assert "Max" not in page  # who approves is known once it is carried out
    told = ada.get(f"/api/v1/applications/{approved}").get_json()["data"]
    assert (told["status"], told["decided_at"]) == ("acting", None)
    assert steps(cast.ada.account_id) == ["sent"]


def test_student_can_no_longer_withdraw_it(ada: FlaskClient, approved: int, free: Section) -> None:
    address = f"/terms/{free.term_id}/applications/{approved}/withdraw"
    page = shown(ada, address, 409)
    assert DECIDED in page
    assert "It is not decided." not in page
    assert DECIDED in unescape(ada.post(address).text)
    assert the(approved).state == "acting"


def test_worker_carries_it_out_once_the_ledger_is_back(
    admin: FlaskClient, ada: FlaskClient, asked: int, free: Section, cast: Cast
) -> None:
    with ledger_away(backend()):
        press(admin, asked, "approve", QUEUE)
        service.act_all()
    assert the(asked).state == "acting"
    (job,) = looked_up(service.due_jobs, [])
    assert (job.term, job.job) == (NO_TERM, "act")
    service.act_all()
    assert has_seat(cast.ada, free)
    assert not list(looked_up(service.due_jobs, []))
    assert "State Approved" in shown(admin, f"{QUEUE}/{asked}")
    assert STATE not in shown(ada, f"/terms/{free.term_id}/applications/{asked}")
    assert steps(cast.ada.account_id) == ["sent", "approved"]
