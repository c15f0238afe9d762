"""GET /api/v1/metrics/lag and /projections/health: for operators and their monitors."""

import pytest
from sqlalchemy import text

from portal.backend import Backend
from portal.core.db import transaction
from portal.ledger.types import AdminAdjustment, Claim
from portal.recorder import status as lags
from portal.recorder.consistency import continuous_audit, fence
from portal.recorder.events import IMPORT_PREFIX
from portal.recorder.journal import JournalGap
from portal.recorder.recorder import UnknownStudents, drain
from tests.recorder.rush import Rush, a_rush, claims, everyone_everywhere
from tests.web.api.callers import Caller

DAYS = ((0, "2030-01-01"),)


@pytest.fixture
def rush(admin: Caller) -> Rush:  # noqa: ARG001
    rush = a_rush(sections=2, students=4)
    claims(rush, everyone_everywhere(rush))
    drain(rush.term)
    return rush


def test_lag_of_recorded_events_is_reported(admin: Caller, rush: Rush) -> None:  # noqa: ARG001
    spans = admin.get("/metrics/lag").json["data"]["spans"]
    assert [each["span"] for each in spans] == ["5m", "1h", "24h", "30d"]
    for each in spans:
        assert (each["events"], each["failures"]) == (8, 0)
        assert 0 <= each["p50"] <= each["p95"] <= each["p99"] <= each["slowest"]


def test_lag_is_reported_by_event_and_stage(admin: Caller, rush: Rush) -> None:  # noqa: ARG001
    spans = admin.get("/metrics/lag/stages").json["data"]["spans"]
    assert [each["span"] for each in spans] == ["24h", "7d", "30d"]
    for span in spans:
        reached = {each["stage"]: each for each in span["stages"] if each["event"] == "enrolled"}
        assert list(reached) == ["created", "recorded", "projected"]
        for each in reached.values():
            assert each["events"] == 8
            assert 0 <= each["p50"] <= each["p95"] <= each["p99"] <= each["slowest"]


def test_lag_by_stage_counts_failed_attempts(admin: Caller) -> None:
    rush, unknown = a_rush(sections=1, students=1), 900_001
    claims(rush, [(unknown, rush.sections[0])])
    with pytest.raises(UnknownStudents):
        drain(rush.term)
    day = admin.get("/metrics/lag/stages").json["data"]["spans"][0]
    found = [(each["event"], each["stage"], each["events"]) for each in day["stages"]]
    assert found == [("enrolled", "failed", 1)]


def test_batches_add_up_and_failures_are_counted(admin: Caller, backend: Backend) -> None:
    rush = a_rush(sections=1, students=2)
    drain(rush.term)
    claims(rush, everyone_everywhere(rush))
    drain(rush.term)
    backend.redis.set(f"{{t:{rush.term}}}:seq", 1)
    with pytest.raises(JournalGap):
        drain(rush.term)
    last = admin.get("/metrics/lag").json["data"]["spans"][-1]
    assert (last["events"], last["failures"]) == (2, 1)


def test_setup_and_imports_are_not_measured(admin: Caller, backend: Backend) -> None:
    rush = a_rush(sections=50, students=2)
    imported = AdminAdjustment(
        rush.students[0], Claim(rush.sections[0], 300), None, 9900, (), DAYS, 9
    )
    backend.ledger.adjust_batch(
        rush.term,
        {"a-key": imported},
        overrides=["window_unscheduled"],
        reason="an import",
        actor="account:1",
        correlation=f"{IMPORT_PREFIX}1",
    )
    drain(rush.term)
    assert {each["events"] for each in admin.get("/metrics/lag").json["data"]["spans"]} == {0}
    assert backend.ledger.registrations(rush.term, rush.students[0]).enrolled
    claims(rush, [(rush.students[1], rush.sections[0])])
    drain(rush.term)
    assert {each["events"] for each in admin.get("/metrics/lag").json["data"]["spans"]} == {1}


@pytest.mark.parametrize(
    ("buckets", "part", "bound"),
    [([10, 0, 0], 0.5, 5), ([50, 45, 5], 0.95, 10), ([50, 45, 5], 0.99, 13), ([1], 0.99, 5)],
)
def test_percentile_is_the_bound_of_its_bucket(buckets: list[int], part: float, bound: int) -> None:
    assert lags.percentile(buckets, part, slowest=13) == bound


def test_lag_is_null_without_events(admin: Caller) -> None:
    span = admin.get("/metrics/lag").json["data"]["spans"][0]
    assert (span["events"], span["p99"], span["slowest"]) == (0, None, None)


def test_lags_are_kept_for_a_month(admin: Caller, rush: Rush) -> None:  # noqa: ARG001
    with transaction() as session:
        session.execute(text("UPDATE lag_minutes SET minute = minute - interval '31 days'"))
        lags.forget_lags(session)
        assert session.scalar(text("SELECT count(*) FROM lag_minutes")) == 0


def test_current_record_is_well(admin: Caller, rush: Rush) -> None:
    continuous_audit.audit_next_part(rush.term)
    (term,) = admin.get("/projections/health").json["data"]["projections"]
    assert (term["semester_id"], term["status"], term["differences"]) == (rush.term, "well", 0)
    assert term["decided"] == term["recorded"] == 12
    assert term["compared_at"]


def test_worst_status_is_reported(admin: Caller, backend: Backend, rush: Rush) -> None:
    def status() -> str:
        (term,) = admin.get("/projections/health").json["data"]["projections"]
        return str(term["status"])

    backend.ledger.reconsider(rush.term, rush.sections[0])
    claims(rush, everyone_everywhere(rush))
    assert status() == "behind"
    backend.redis.hset(f"{{t:{rush.term}}}:section:{rush.sections[0]}", "capacity", 77)
    continuous_audit.audit_next_part(rush.term)
    assert status() == "differs"
    fence.put_up(rush.term, "a test")
    assert status() == "fenced"
