"""/admin/operations/audits/<term>: an audit that a page requests and a worker runs."""

from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import update
from sqlalchemy.sql import func

from portal.backend import Backend
from portal.core.db import transaction
from portal.operations import figures
from portal.recorder.consistency import audit_runs, continuous_audit, fence
from portal.recorder.journal import last_seq
from portal.recorder.models import AuditRun
from portal.recorder.recorder import drain
from tests.audit_trail import entries
from tests.cast import Cast
from tests.recorder.processes import running, wait_for
from tests.recorder.rush import Rush, a_rush, claims, everyone_everywhere
from tests.web.ledger_outage import ledger_away


@pytest.fixture
def rush(admin: FlaskClient) -> Rush:  # noqa: ARG001
    """Return a term with two full sections, recorded."""
    rush = a_rush(sections=2, students=4, capacity=2)
    claims(rush, everyone_everywhere(rush))
    drain(rush.term)
    return rush


def page(rush: Rush, more: str = "") -> str:
    return f"/admin/operations/audits/{rush.term}{more}"


def run_of(rush: Rush) -> Any:
    with transaction() as session:
        return audit_runs.latest(session, rush.term, 1)[0]


def test_no_audit_starts_while_the_queue_is_unavailable(
    admin: FlaskClient, backend: Backend, rush: Rush
) -> None:
    with ledger_away(backend):
        answer = admin.post(page(rush))
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    with transaction() as session:
        assert audit_runs.latest(session, rush.term, 1) == []


def test_worker_runs_the_audit_and_the_page_names_the_requester(
    admin: FlaskClient, rush: Rush, cast: Cast
) -> None:
    assert "never" in admin.get("/admin/operations").text
    assert "No audit yet. Start one to compare now." in admin.get(page(rush)).text
    assert admin.post(page(rush)).status_code == 303
    waiting = admin.get(page(rush, "/run")).text
    assert "running" in waiting
    assert 'hx-trigger="every 1s"' in waiting
    assert "Start an audit" not in waiting
    with running(("worker", "background")):
        wait_for(lambda: run_of(rush).ended_at)
    shown = admin.get(page(rush)).text
    assert "no difference" in shown
    assert f"{last_seq(rush.term)} events" in shown
    assert ">Max<" in shown
    assert "every 1s" not in shown
    assert "no difference" in admin.get("/admin/operations").text
    (entry,) = entries("record.audited")
    assert (entry.account_id, entry.subject) == (
        cast.max.id,
        f"term:{rush.term} run:{run_of(rush).id}",
    )


def test_page_shows_differences(admin: FlaskClient, backend: Backend, rush: Rush) -> None:
    backend.redis.hset(f"{{t:{rush.term}}}:section:{rush.sections[0]}", "capacity", "99")
    admin.post(page(rush))
    audit_runs.run(run_of(rush).id)
    shown = admin.get(page(rush)).text
    assert "1 difference" in shown
    assert "ledger section" in shown
    assert f"section {rush.sections[0]}, capacity" in shown
    assert "1 difference" in admin.get("/admin/operations").text


def test_only_one_audit_runs_at_a_time(admin: FlaskClient, rush: Rush) -> None:
    for _ in range(2):
        admin.post(page(rush))
    with transaction() as session:
        assert len(audit_runs.latest(session, rush.term, 9)) == 1


def test_audit_without_a_worker_blocks_no_other(admin: FlaskClient, rush: Rush) -> None:
    admin.post(page(rush))
    lost = run_of(rush)
    with transaction() as session:
        session.execute(update(AuditRun).values(moved_at=func.now() - 2 * audit_runs.STALLED_AFTER))
    admin.post(page(rush))
    assert run_of(rush).id != lost.id
    audit_runs.run(lost.id)  # its worker starts it late
    with transaction() as session:
        stored = session.get_one(AuditRun, lost.id)
    assert stored.error == "Its worker was lost."


def test_failed_audit_says_so(
    admin: FlaskClient, rush: Rush, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*_: object) -> None:
        raise ValueError("no idea")

    admin.post(page(rush))
    monkeypatch.setattr(audit_runs, "audit_term", break_down)
    audit_runs.run(run_of(rush).id)
    assert "ValueError: no idea" in admin.get(page(rush)).text


def test_audit_shows_its_progress(admin: FlaskClient, rush: Rush) -> None:
    admin.post(page(rush))
    progress = audit_runs.Progress(run_of(rush).id)
    progress.report("reading", 0, 0)
    progress.report("comparing", 40, 80)
    shown = " ".join(admin.get(page(rush, "/run")).text.split())
    assert "Comparing: 40 of 80 events" in shown
    assert "50%" in admin.get("/admin/operations").text


def test_unknown_term_is_not_found(admin: FlaskClient) -> None:
    for answer in (
        admin.get("/admin/operations/audits/9999"),
        admin.post("/admin/operations/audits/9999"),
    ):
        assert answer.status_code == 404


def test_continuous_audit_is_shown_and_alarms(
    admin: FlaskClient, backend: Backend, rush: Rush
) -> None:
    continuous_audit.audit_next_part(rush.term)
    assert "Last check" in admin.get(page(rush)).text
    assert "the audit found" not in admin.get("/admin/operations").text
    backend.redis.delete(f"{{t:{rush.term}}}:roster:{rush.sections[0]}")
    continuous_audit.audit_next_part(rush.term)
    shown = admin.get(page(rush)).text
    assert "2 differences" in shown
    assert "ledger roster" in shown
    figures.forget()
    assert "the audit found 2 differences" in admin.get("/admin/operations").text


def test_fenced_term_alarms(admin: FlaskClient, rush: Rush) -> None:
    fence.put_up(rush.term, "a test")
    assert "Students can’t register until you restore it" in admin.get("/admin/operations").text
