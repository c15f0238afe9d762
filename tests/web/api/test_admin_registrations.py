"""Programs register and drop in a student's name, and rebuild read models."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from portal.backend import Backend, backend
from portal.core.bulkheads import MOST_BACKGROUND_JOBS
from portal.core.db import transaction
from portal.people.models import Hold
from portal.recorder.consistency import rebuild_runs
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast
from tests.owner_role import as_owner
from tests.recorder.processes import running, wait_for
from tests.web.api.callers import program

REASON = {"reason": "Advising appointment."}


def home(term: Any) -> str:
    return f"/admin/semesters/{term.id}/registrations"


def body(cast: Cast, section: Any) -> dict[str, Any]:
    return {"student_number": cast.ada.number, "section_id": section.id, **REASON}


def held(term: Any, student: Any) -> list[int]:
    return [each.section for each in backend().ledger.registrations(term.id, student.id).enrolled]


def test_a_program_registers_and_drops_through_the_ledger(
    app: Flask, term: Any, section: Any, cast: Cast
) -> None:
    advising = program(app, "registrations")
    added = advising.post(home(term), body(cast, section))
    assert (added.status_code, added.json["data"]["status"]) == (200, "enrolled")
    assert added.json["data"]["receipt"]
    assert held(term, cast.ada) == [section.id]
    dropped = advising.post(f"{home(term)}/drop", body(cast, section))
    assert (dropped.status_code, dropped.json["data"]["status"]) == (200, "dropped")
    assert held(term, cast.ada) == []
    drain(term.id, seconds=0)
    (entry,) = entries("selection.add")
    assert (entry.who, entry.reason) == ("Advising system", REASON["reason"])
    assert entry.subject == f"term:{term.id} section:{section.id} student:{cast.ada.id}"
    assert [each.who for each in entries("selection.drop")] == ["Advising system"]


def test_rules_are_not_overridden(app: Flask, term: Any, cast: Cast) -> None:
    full = builders.a_section(builders.a_course("ART-1000"), term, capacity=0)
    answer = program(app).post(home(term), body(cast, full))
    assert (answer.status_code, answer.json["type"]) == (409, "/api/docs#refused")
    assert [each["code"] for each in answer.json["data"]["reasons"]] == ["full"]
    assert held(term, cast.ada) == []


def test_a_refusal_tells_a_program_no_more_than_the_rule(
    app: Flask, term: Any, section: Any, cast: Cast
) -> None:
    with transaction() as session:
        session.add(Hold(student_id=cast.ada.id, kind="fees", reason="Unpaid fees"))
    answer = program(app).post(home(term), body(cast, section))
    assert answer.status_code == 409
    text = "There is a hold on the student’s record"
    assert answer.json["data"]["reasons"] == [{"code": "hold", "message": text}]
    assert answer.json["detail"] == f"{text}."
    assert "Unpaid" not in answer.text


def test_a_key_is_decided_once(app: Flask, term: Any, section: Any, cast: Cast) -> None:
    advising, key = program(app), {"Idempotency_Key": "visit-of-ada"}
    first = advising.post(home(term), body(cast, section), **key)
    again = advising.post(home(term), body(cast, section), **key)
    assert again.json["data"] == first.json["data"]
    assert again.headers["Idempotency-Replayed"] == "true"
    other = program(app, name="Other").post(home(term), body(cast, section), **key)
    assert other.status_code == 409  # a key is its program's


@pytest.mark.slow
def test_a_worker_takes_the_rebuild_from_its_queue(app: Flask, term: Any) -> None:
    operator, path = program(app), f"/admin/semesters/{term.id}/read-models"
    operator.post(f"{path}/rebuild", REASON)
    with running(("worker", "background")):
        wait_for(lambda: operator.get(path).json["data"]["rebuilds"][0]["done_at"])


def test_a_rebuild_has_its_effect_once(
    app: Flask, term: Any, section: Any, cast: Cast, backend: Backend
) -> None:
    program(app, name="Adviser").post(home(term), body(cast, section))
    drain(term.id, seconds=0)
    operator = program(app, "read-models", name="Nightly check")
    path = f"/admin/semesters/{term.id}/read-models"
    requested = operator.post(f"{path}/rebuild", REASON)
    assert requested.status_code == 202
    number = requested.json["data"]["rebuild_id"]
    assert any(b"rebuild" in each for each in backend.redis.lrange("rq:queue:background", 0, -1))
    with transaction() as session:
        session.execute(text("DELETE FROM enrollments"))
    for _ in range(2):  # a repeat after kill -9
        rebuild_runs.run(number)
    (run,) = operator.get(path).json["data"]["rebuilds"]
    assert (run["rebuild_id"], run["changed"]) == (number, 1)
    assert run["done_at"]
    (entry,) = entries("record.rebuilt")
    assert (entry.who, entry.reason) == ("Nightly check", REASON["reason"])


def rebuilds_of(term: Any) -> str:
    return f"/admin/semesters/{term.id}/read-models"


def queued(backend: Backend) -> list[bytes]:
    return backend.redis.lrange("rq:queue:background", 0, -1)


def test_a_term_has_one_pending_rebuild(app: Flask, term: Any, backend: Backend) -> None:
    operator, path = program(app), rebuilds_of(term)
    answers = [operator.post(f"{path}/rebuild", REASON).json["data"] for _ in "123"]
    assert {each["rebuild_id"] for each in answers} == {answers[0]["rebuild_id"]}
    assert {each["state"] for each in answers} == {"pending"}
    assert len(queued(backend)) == len(entries("record.rebuild")) == 1
    rebuild_runs.run(answers[0]["rebuild_id"])
    later = operator.post(f"{path}/rebuild", REASON).json["data"]
    assert later["rebuild_id"] != answers[0]["rebuild_id"]
    states = [each["state"] for each in operator.get(path).json["data"]["rebuilds"]]
    assert states == ["pending", "done"]


def test_a_full_queue_takes_no_rebuild(app: Flask, term: Any, backend: Backend) -> None:
    backend.redis.rpush("rq:queue:background", *range(MOST_BACKGROUND_JOBS))
    assert program(app).post(f"{rebuilds_of(term)}/rebuild", REASON).status_code == 503
    assert not entries("record.rebuild")


def test_a_rebuild_of_a_damaged_log_has_failed(
    app: Flask, term: Any, section: Any, cast: Cast
) -> None:
    operator, path = program(app), rebuilds_of(term)
    operator.post(home(term), body(cast, section))
    drain(term.id, seconds=0)
    with as_owner() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(text("DELETE FROM events"))
    requested = operator.post(f"{path}/rebuild", REASON).json["data"]
    rebuild_runs.run(requested["rebuild_id"])
    (run,) = operator.get(path).json["data"]["rebuilds"]
    assert (run["state"], run["done_at"]) == ("failed", None)
    (entry,) = entries("record.rebuild_failed")
    assert "LogDamaged" in entry.after["error"]
    assert operator.post(f"{path}/rebuild", REASON).json["data"]["state"] == "pending"
