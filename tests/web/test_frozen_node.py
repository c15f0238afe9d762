"""A request stuck in a frozen web node, whose key was meanwhile answered by another node."""

import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import psutil
import pytest
import requests
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import text

from portal.backend import backend
from portal.core.db import transaction
from portal.core.settings import Settings
from portal.ledger.types import Registrations
from portal.registration import plans
from portal.registration.plans import Plan
from tests import cast as builders
from tests.cast import Cast
from tests.ledger_claims import claim
from tests.live.nodes import Node, a_node
from tests.live.tabs import cookie
from tests.recorder.processes import wait_for
from tests.registration.plan_makers import line
from tests.web.api.callers import ROOT, caller
from tests.web.pages import address, press, seat, words
from tests.web.visitors import browser_of

KEY = "one-key-of-many"
WAITING = text("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'holds'::regclass")


@dataclass(frozen=True)
class Stuck:
    """Sends requests of ada's to a node that is frozen before it asks the ledger."""

    node: Node
    headers: dict[str, str]

    def post(self, path: str, meanwhile: Callable[[], None], **sent: Any) -> requests.Response:
        """The answer of a request that goes on once `meanwhile` has happened.

        It waits for PostgreSQL to tell of holds when the node is stopped.
        """
        with ThreadPoolExecutor() as pool:
            with transaction() as session:
                session.execute(text("LOCK TABLE holds IN ACCESS EXCLUSIVE MODE"))
                late = pool.submit(self._send, path, sent)

                def waits() -> bool:
                    nonlocal late
                    if late.done() and late.result().status_code == 503:
                        # A node refuses requests while it takes PostgreSQL for silent.
                        time.sleep(1)
                        late = pool.submit(self._send, path, sent)
                    assert not late.done(), late.result().text
                    return bool(session.scalar(WAITING))

                wait_for(waits)
                self._signal(signal.SIGSTOP)
            try:
                meanwhile()
            finally:
                self._signal(signal.SIGCONT)
            return late.result()

    def form(self, path: str, meanwhile: Callable[[], None], **form: str) -> requests.Response:
        """The same for a form under the key."""
        return self.post(path, meanwhile, data={"request": KEY, **form})

    def _send(self, path: str, sent: dict[str, Any]) -> requests.Response:
        sent = {**sent, "headers": {**self.headers, **sent.get("headers", {})}}
        return requests.post(self.node.origin + path, allow_redirects=False, timeout=120, **sent)

    def _signal(self, how: signal.Signals) -> None:
        assert self.node.child.process
        for each in psutil.Process(self.node.child.process.pid).children(recursive=True):
            each.send_signal(how)


@pytest.fixture(scope="module")
def node(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:  # noqa: ARG001
    with a_node(tmp_path_factory.mktemp("node"), app="tests.web.open_node:app") as found:
        yield found


@pytest.fixture
def stuck(node: Node, application: Flask, cast: Cast) -> Stuck:
    return Stuck(node, {"Cookie": cookie(application, cast.ada.account_id)})


@pytest.fixture
def section(term: Any) -> Any:
    return builders.a_section(builders.a_course(title="Data Structures"), term, capacity=1)


@pytest.fixture
def freed(app: Flask, section: Any, cast: Cast) -> Callable[[], None]:
    """Gives back the section's only seat, which ben has until then."""
    seat(cast.ben, section)
    return lambda: press(browser_of(app, "ben"), section, "drop")


def registrations(section: Any, student: Any) -> Registrations:
    return backend().ledger.registrations(section.term_id, student.id)


def test_claim_reported_as_refused_is_never_enrolled(
    stuck: Stuck, freed: Callable[[], None], ada: FlaskClient, section: Any, cast: Cast
) -> None:
    path = address(section, "pick")

    def meanwhile() -> None:
        assert ada.post(path, data={"request": KEY}).status_code == 422
        freed()

    late = stuck.form(path, meanwhile)
    assert late.status_code == 422
    assert "You already sent this" in words(late.text)
    assert not registrations(section, cast.ada).enrolled
    assert press(ada, section, "pick").status_code == 303  # a new form has a key of its own


def test_drop_reported_as_refused_drops_no_seat(
    stuck: Stuck, ada: FlaskClient, section: Any, cast: Cast
) -> None:
    path = address(section, "drop")

    def meanwhile() -> None:
        assert ada.post(path, data={"request": KEY}).status_code == 422
        seat(cast.ada, section)

    assert stuck.form(path, meanwhile).status_code == 422
    assert registrations(section, cast.ada).enrolled


def test_leave_reported_as_refused_keeps_the_position(
    stuck: Stuck, ada: FlaskClient, section: Any, cast: Cast
) -> None:
    path = address(section, "leave")
    seat(cast.ben, section)

    def meanwhile() -> None:
        assert ada.post(path, data={"request": KEY}).status_code == 422
        assert claim(cast.ada, section).outcome == "waitlisted"

    assert stuck.form(path, meanwhile).status_code == 422
    assert registrations(section, cast.ada).waiting


def test_plan_reported_as_refused_is_never_enrolled(
    stuck: Stuck, freed: Callable[[], None], ada: FlaskClient, section: Any, cast: Cast
) -> None:
    path = f"/terms/{section.term_id}/plan/submit"
    plan = plans.write(Plan((line(section.id, wait=False),)))

    def meanwhile() -> None:
        assert ada.post(path, data={"request": KEY, "plan": plan}).status_code == 422
        freed()

    late = stuck.form(path, meanwhile, plan=plan)
    assert late.status_code == 422
    assert "You already sent this" in words(late.text)
    assert not registrations(section, cast.ada).enrolled


def test_api_request_reported_as_refused_is_never_enrolled(
    stuck: Stuck, freed: Callable[[], None], app: Flask, section: Any, cast: Cast
) -> None:
    ada = caller(app, "ada")
    body = {
        "student_id": cast.ada.id,
        "semester_id": section.term_id,
        "section_ids": [section.id],
    }

    def meanwhile() -> None:
        assert ada.post("/register", body, Idempotency_Key=KEY).status_code == 409
        freed()

    headers = ada.headers(Idempotency_Key=KEY)
    late = stuck.post(f"{ROOT}/register", meanwhile, json=body, headers=headers)
    assert (late.status_code, late.headers["Idempotency-Replayed"]) == (409, "true")
    assert not registrations(section, cast.ada).enrolled


def test_claim_granted_meanwhile_is_reported_and_counts_once(
    stuck: Stuck, ada: FlaskClient, section: Any, cast: Cast
) -> None:
    path = address(section, "pick")

    def meanwhile() -> None:
        assert ada.post(path, data={"request": KEY}).status_code == 303

    assert stuck.form(path, meanwhile).status_code == 303
    assert registrations(section, cast.ada).enrolled
    assert backend().ledger.seats(section.term_id)[section.id].taken == 1
