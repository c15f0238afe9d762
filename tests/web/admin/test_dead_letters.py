"""GET and POST /admin/operations/jobs/<id>/retry and …/discard, of a job that really failed."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from portal.backend import Backend
from portal.core.queue import enqueue
from portal.operations import dead_letters
from portal.operations.dead_letters import DeadLetter
from tests.audit_trail import entries
from tests.cast import Cast
from tests.recorder.processes import caught_up, ready, running, wait_for
from tests.recorder.rush import Rush, a_rush
from tests.registration import database_outage

WHY = {"reason": "The journal is mended."}


@pytest.fixture
def rush(admin: FlaskClient) -> Rush:  # noqa: ARG001
    """Return a term with an unreadable entry in its journal."""
    return a_rush(sections=1, students=1)


@pytest.fixture
def letter(backend: Backend, rush: Rush) -> DeadLetter:
    """Return the dead letter of a real worker."""
    backend.redis.xadd(journal(rush), {"event": "nonsense"}, id=unreadable(backend, rush))
    with running(("worker", "record"), ("scheduler",)):
        ready("record")
        enqueue(rush.term, ["record"])
        wait_for(lambda: dead_letters.counts(backend.redis)["record"])
    (found,) = dead_letters.find_all(backend.redis)
    return found


def journal(rush: Rush) -> str:
    return f"{{t:{rush.term}}}:journal"


def unreadable(backend: Backend, rush: Rush) -> str:
    last: Any = backend.redis.get(f"{{t:{rush.term}}}:seq")
    return f"{int(last) + 1}-0"


def address(letter: DeadLetter, action: str) -> str:
    return f"/admin/operations/jobs/{letter.id}/{action}"


def test_repaired_job_can_be_retried(
    admin: FlaskClient, backend: Backend, letter: DeadLetter, rush: Rush, cast: Cast
) -> None:
    page = admin.get("/admin/operations").text
    assert "1 job failed." in page
    assert address(letter, "retry") in page
    requested = admin.get(address(letter, "retry")).text
    assert "Record decisions" in requested
    assert "Traceback" in requested
    backend.redis.xdel(journal(rush), unreadable(backend, rush))
    assert admin.post(address(letter, "retry"), data=WHY).status_code == 303
    (entry,) = entries("job.%")
    assert (entry.account_id, entry.action) == (cast.max.id, "job.retry")
    assert (entry.subject, entry.reason) == (f"job:{letter.id}", WHY["reason"])
    assert entry.before["queue"] == "record"
    # A second request for the same letter changes nothing.
    assert not dead_letters.discard(backend.redis, letter)
    assert not dead_letters.retry(backend.redis, letter)
    with running(("worker", "record")):
        wait_for(lambda: caught_up(rush.term))
        wait_for(lambda: not backend.redis.exists(f"rq:job:{letter.id}"))
    assert "No failed jobs." in admin.get("/admin/operations").text


def test_dead_letter_is_discarded_after_confirmation(
    admin: FlaskClient, backend: Backend, letter: DeadLetter
) -> None:
    answer = admin.post(address(letter, "discard"), data={"reason": ""})
    assert (answer.status_code, len(dead_letters.find_all(backend.redis))) == (422, 1)
    with database_outage.away():
        assert admin.post(address(letter, "discard"), data=WHY).status_code == 503
    assert (entries("job.%"), len(dead_letters.find_all(backend.redis))) == ([], 1)
    assert admin.post(address(letter, "discard"), data=WHY).status_code == 303
    assert dead_letters.find_all(backend.redis) == []
    for action in ("retry", "discard"):  # another admin has settled it
        for again in (admin.get(address(letter, action)), admin.post(address(letter, action))):
            assert again.status_code == 409
            assert "This job no longer exists" in again.text
    assert [entry.action for entry in entries("job.%")] == ["job.discard"]
