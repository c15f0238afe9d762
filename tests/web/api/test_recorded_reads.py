"""While the ledger is down, the API returns the last recorded state and says so."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

import pytest

from portal.recorder.recorder import drain
from portal.registration import limits
from portal.runtime import embedded_valkey
from portal.runtime.embedded_servers import Servers
from tests import cast as builders
from tests.cast import Cast
from tests.ledger_claims import claim
from tests.operations.test_health import stalled, without
from tests.web.api.callers import Caller
from tests.web.pages import seat

HEADER = "Fairseat-Recorded-At"
Fault = Callable[[Servers], AbstractContextManager[None]]
FAULTS: dict[str, Fault] = {
    "stopped": lambda servers: without(servers, "valkey", embedded_valkey.answers),
    "frozen": lambda servers: stalled(servers, "valkey"),
}


@pytest.fixture
def recorded(ada: Caller, term: Any, cast: Cast) -> Any:
    """Return a recorded term in which Ada has a seat and waits for another."""
    mine = builders.a_section(builders.a_course("CSC-1"), term)
    full = builders.a_section(builders.a_course("MAT-1"), term, capacity=1)
    seat(cast.ada, mine)
    seat(cast.ben, full)
    assert claim(cast.ada, full).outcome == "waitlisted"
    drain(term.id)
    assert ada.get("/me").status_code == 200
    return term


@pytest.fixture(params=FAULTS.values(), ids=FAULTS)
def away(request: Any, servers: Servers, recorded: Any, reads: dict[str, Any]) -> Iterator[None]:  # noqa: ARG001
    """Read everything, then stop or freeze the ledger."""
    with request.param(servers):
        limits.forget_windows()
        yield


@pytest.fixture
def paths(recorded: Any, cast: Cast) -> list[str]:
    of_ada, of_term = f"/students/{cast.ada.id}", f"?semester_id={recorded.id}"
    return [
        f"{of_ada}/registrations",
        f"{of_ada}/registrations{of_term}",
        f"{of_ada}/waitlist",
        f"/sections/available{of_term}",
        f"/sections/available{of_term}&free=true",
        f"/windows{of_term}",
    ]


@pytest.fixture
def reads(ada: Caller, paths: list[str]) -> dict[str, Any]:
    """Return each response while the ledger was up."""
    return {path: steady(ada.get(path).json) for path in paths}


def steady(answer: Any) -> Any:
    """Return a response's data without values that change with the clock."""
    return {
        name: result for name, result in answer["data"].items() if name not in {"now", "sentence"}
    }


@pytest.mark.usefixtures("away")
def test_reads_from_the_record_are_equal_and_marked(ada: Caller, reads: dict[str, Any]) -> None:
    for path, before in reads.items():
        answer = ada.get(path)
        assert answer.status_code == 200, path
        assert steady(answer.json) == before
        assert datetime.fromisoformat(answer.headers[HEADER]).tzinfo
        assert "last recorded" in answer.json["message"]


@pytest.mark.usefixtures("away")
def test_record_decides_nothing(
    ada: Caller, paths: list[str], reads: dict[str, Any], cast: Cast
) -> None:
    [mine] = reads[paths[0]]["registrations"]
    about = {"student_id": cast.ada.id, "section_id": mine["section_id"]}
    for path, body in (
        ("/register/drop", about),
        ("/register", {"student_id": cast.ada.id, "section_ids": [mine["section_id"]]}),
    ):
        answer = ada.post(path, body)
        assert (answer.status_code, HEADER in answer.headers) == (503, False)
        assert int(answer.headers["Retry-After"]) > 0


def test_reads_from_the_ledger_are_not_marked(ada: Caller, paths: list[str]) -> None:
    for path in paths:
        answer = ada.get(path)
        assert HEADER not in answer.headers
        assert answer.json["message"] == ""


def test_instructors_and_admins_can_read_the_record(
    admin: Caller, iris: Caller, recorded: Any, cast: Cast, servers: Servers
) -> None:
    path = f"/students/{cast.ada.id}/registrations"
    before = admin.get(path).json["data"]
    assert iris.get(path).status_code == 404
    with stalled(servers, "valkey"):
        limits.forget_windows()
        assert admin.get(path).json["data"] == before
        assert iris.get(path).status_code == 404
        listed = iris.get("/sections/available", semester_id=recorded.id)
        assert len(listed.json["data"]["sections"]) == 2


def test_record_lists_no_sections_after_selection_ended(
    ada: Caller, recorded: Any, servers: Servers
) -> None:
    ledger = builders.backend().ledger
    (window,) = ledger.windows(recorded.id)
    ledger.close_window(recorded.id, window.id, "tests")
    drain(recorded.id)
    limits.forget_windows()
    with stalled(servers, "valkey"):
        data = ada.get("/sections/available", semester_id=recorded.id).json["data"]
    assert (data["sections"], data["answer"]) == ([], "ended")
