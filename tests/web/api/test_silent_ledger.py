"""The ledger's answer is lost, or the ledger is down."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from portal.backend import backend as parts
from portal.core import redis_clients
from portal.core.ledger_servers import OneServer
from portal.ledger.client import Ledger
from portal.web.api.idempotency import KEY_HEADER, REPLAYED_HEADER
from tests import cast as builders
from tests.cast import Cast
from tests.ledger.lost_answers import LossyWire
from tests.web.api.callers import Caller
from tests.web.pages import held, seat


@pytest.fixture
def wire(ada: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LossyWire]:
    """Return a connection between the portal and its ledger that can lose answers."""
    assert ada.get("/me").status_code == 200
    near = parts().settings.redis_url
    with LossyWire(near, tmp_path / "wire") as lossy:
        redis = redis_clients.commands(lossy.address, timeout=0.5)
        with monkeypatch.context() as patch:
            patch.setattr(parts(), "ledger", Ledger(OneServer(redis)))
            yield lossy
        redis.close()


def test_unanswered_request_gets_its_key_for_a_retry(
    ada: Caller, wire: LossyWire, term: Any, body: dict[str, Any], cast: Cast
) -> None:
    wire.lose = 2
    answer = ada.post("/register", body)
    assert (answer.status_code, answer.json["type"]) == (503, "/api/docs#silent")
    assert int(answer.headers["Retry-After"]) > 0
    key = answer.headers[KEY_HEADER]
    again = ada.post("/register", body, Idempotency_Key=key)
    assert (again.status_code, again.headers[REPLAYED_HEADER]) == (200, "true")
    assert held(term, cast.ada) == body["section_ids"]


def test_decision_is_returned_if_nothing_more_can_be_read(
    ada: Caller, wire: LossyWire, term: Any, body: dict[str, Any], cast: Cast
) -> None:
    mine = builders.a_section(builders.a_course("CSC-2"), term)
    seat(cast.ada, mine)
    wire.cut_after = b"fairseat_submit"
    answer = ada.post("/register", body | {"section_ids": [mine.id, *body["section_ids"]]})
    assert answer.status_code == 200
    assert [
        (each["status"], bool(each["registration_id"])) for each in answer.json["data"]["results"]
    ] == [("already_registered", False), ("enrolled", True)]


def test_drop_is_returned_if_nothing_more_can_be_read(
    ada: Caller, ben: Caller, wire: LossyWire, section: Any, cast: Cast
) -> None:
    seat(cast.ada, section)
    seat(cast.cleo, section)
    body = {"student_id": cast.ben.id, "semester_id": section.term_id, "wait": True}
    assert ben.post("/register", body | {"section_ids": [section.id]}).status_code == 200
    wire.cut_after = b"fairseat_drop"
    gone = {"student_id": cast.ada.id, "section_id": section.id}
    answer = ada.post("/register/drop", gone)
    assert answer.status_code == 200
    assert answer.json["data"]["waitlist_processed"] is None


def test_unavailable_ledger_is_a_503_with_the_same_key(
    ada: Caller, wire: LossyWire, body: dict[str, Any]
) -> None:
    wire.is_cut = True
    answer = ada.post("/register", body, Idempotency_Key="the-morning")
    assert (answer.status_code, answer.mimetype) == (503, "application/problem+json")
    wire.is_cut = False
    assert ada.post("/register", body, Idempotency_Key="the-morning").status_code == 200
