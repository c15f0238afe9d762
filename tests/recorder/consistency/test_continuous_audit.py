"""The continuous audit finds every difference in parts, reports it once and checks it again."""

from datetime import timedelta

import pytest
from redis.exceptions import ResponseError
from rq import Queue
from sqlalchemy import select, update
from sqlalchemy.sql import func

from portal.backend import Backend
from portal.core.db import transaction
from portal.ledger.function_library import prefix
from portal.ledger.types import ReserveSpec
from portal.notifications.mail import compose
from portal.notifications.models import OutboxEntry
from portal.recorder.consistency import continuous_audit, partial_audit
from portal.recorder.consistency.differences import Difference
from portal.recorder.consistency.restore import restore
from portal.recorder.models import ContinuousAudit
from portal.recorder.recorder import drain
from portal.recorder.sweep import Sweeper
from tests.cast import Cast
from tests.notifications.stories import give_addresses
from tests.recorder.blocked_recorder import held_up
from tests.recorder.consistency.tampering import TAMPERINGS, a_term_to_tamper_with
from tests.recorder.random_actions import storm, storming
from tests.recorder.rush import Rush, a_rush, claims, drop, everyone_everywhere, spec


@pytest.fixture
def rush(backend: Backend) -> Rush:  # noqa: ARG001
    return a_term_to_tamper_with()


def state(rush: Rush) -> ContinuousAudit:
    with transaction() as session:
        return session.get_one(ContinuousAudit, rush.term)


@pytest.mark.parametrize("seed", range(21, 24))
def test_no_part_differs_after_a_rush(backend: Backend, seed: int) -> None:  # noqa: ARG001
    rush = a_rush(sections=4, students=12, capacity=3, waitlist=4)
    storm(rush, seed)
    assert continuous_audit.audit_next_part(rush.term) == []
    assert state(rush).whole_at


def test_no_part_differs_while_claims_continue(backend: Backend) -> None:  # noqa: ARG001
    rush = a_rush(sections=4, students=12, capacity=3, waitlist=4)
    with storming(rush):
        found = [continuous_audit.audit_next_part(rush.term) for _ in range(8)]
    assert found == [[]] * 8


@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_continuous_audit_finds_altered_data(rush: Rush, tampering: str) -> None:
    tamper, where = TAMPERINGS[tampering]
    assert continuous_audit.audit_next_part(rush.term) == []
    tamper(rush)
    assert where in {each["where"] for each in continuous_audit.audit_next_part(rush.term)}
    assert state(rush).found > 0


def test_part_ends_in_time_and_the_next_one_continues(backend: Backend) -> None:
    rush = a_rush(sections=120, students=2)
    claims(rush, everyone_everywhere(rush))
    backend.redis.hset(f"{prefix(rush.term)}:section:{rush.sections[-1]}", "capacity", 77)
    assert continuous_audit.audit_next_part(rush.term, seconds=0) == []
    assert state(rush).cursor == rush.sections[49]
    assert continuous_audit.audit_next_part(rush.term, seconds=0) == []
    assert [each["where"] for each in continuous_audit.audit_next_part(rush.term, seconds=0)] == [
        "ledger section"
    ]
    assert not state(rush).whole_at
    # Known differences are checked with every part.
    assert [each["where"] for each in continuous_audit.audit_next_part(rush.term, seconds=0)] == [
        "ledger section"
    ]
    assert (state(rush).cursor, state(rush).whole_at is not None) == (0, True)


def test_data_of_several_parts_is_no_difference(backend: Backend) -> None:
    rush = a_rush(sections=120, students=2)
    first, last = rush.sections[0], rush.sections[-1]
    soon = ReserveSpec(1, 2, backend.ledger.now() + 60_000)
    backend.ledger.put_section(rush.term, spec(last, version=2, reserves=(soon,)))
    for section in (first, last):
        claims(rush, [(student, section) for student in rush.students])
        drop(rush, rush.students[0], section)
    assert continuous_audit.audit_next_part(rush.term) == []
    assert backend.ledger.drops(rush.term, rush.students[0]) == {"2030-01-01": 2}
    backend.redis.hset(f"{prefix(rush.term)}:drops:{rush.students[0]}", "2030-01-01", 1)
    backend.redis.set(f"{prefix(rush.term)}:next", 1)
    found = {(each["where"], each["what"]) for each in continuous_audit.audit_next_part(rush.term)}
    drops = ("ledger drops", f"student {rush.students[0]}, 2030-01-01")
    assert found == {drops, ("ledger next", "value")}


def test_killed_part_continues_after_its_last_slice(backend: Backend) -> None:
    rush = a_rush(sections=120, students=2)
    claims(rush, everyone_everywhere(rush))
    backend.redis.hset(f"{prefix(rush.term)}:section:{rush.sections[0]}", "capacity", 77)
    roster = f"{prefix(rush.term)}:roster:{rush.sections[60]}"
    backend.redis.rename(roster, f"{roster}:aside")
    backend.redis.set(roster, "of no use")
    with pytest.raises(ResponseError):
        continuous_audit.audit_next_part(rush.term)
    assert (state(rush).cursor, state(rush).found) == (rush.sections[49], 1)
    assert not state(rush).whole_at
    backend.redis.rename(f"{roster}:aside", roster)
    continuous_audit.audit_next_part(rush.term)
    assert (state(rush).cursor, state(rush).found) == (0, 1)
    assert state(rush).whole_at


def test_all_differences_are_checked_again_in_slices(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    rush = a_rush(sections=260, students=1)
    claims(rush, everyone_everywhere(rush))
    for section in rush.sections:
        backend.redis.hset(f"{prefix(rush.term)}:section:{section}", "capacity", 77)
    assert len(continuous_audit.audit_next_part(rush.term)) == 260
    assert (len(state(rush).sections), len(state(rush).differences)) == (260, continuous_audit.KEPT)
    backend.redis.hset(f"{prefix(rush.term)}:section:{rush.sections[-1]}", "capacity", 10)
    sizes, compare = [], partial_audit.compare

    def seen(term: int, sections: list[int]) -> list[Difference]:
        sizes.append(len(sections))
        return compare(term, sections)

    monkeypatch.setattr(partial_audit, "compare", seen)
    assert len(continuous_audit.audit_next_part(rush.term, seconds=0)) == 259
    assert (state(rush).found, len(state(rush).sections)) == (259, 259)
    assert max(sizes) == partial_audit.AT_ONCE


def test_slow_recorder_causes_no_differences(
    rush: Rush, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    drop(rush, rush.students[0], rush.sections[0])
    with held_up(rush.term, monkeypatch):
        assert continuous_audit.audit_next_part(rush.term) == []
    assert (state(rush).found, state(rush).whole_at) == (0, None)
    assert "waits for the recorder: 1 events" in caplog.text
    assert continuous_audit.audit_next_part(rush.term) == []
    assert state(rush).whole_at


def test_known_differences_stay_while_no_check_is_possible(
    rush: Rush, monkeypatch: pytest.MonkeyPatch
) -> None:
    TAMPERINGS["a section has another capacity"][0](rush)
    assert len(continuous_audit.audit_next_part(rush.term)) == 1
    before = state(rush)
    drop(rush, rush.students[0], rush.sections[1])
    with held_up(rush.term, monkeypatch):
        continuous_audit.audit_next_part(rush.term)
    assert (state(rush).found, state(rush).sections) == (1, before.sections)
    assert state(rush).differences == before.differences


def test_difference_alarms_once_until_it_is_repaired(
    rush: Rush, cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    give_addresses()
    TAMPERINGS["a seat was taken from the ledger"][0](rush)
    continuous_audit.audit_next_part(rush.term)
    continuous_audit.audit_next_part(rush.term)
    messages = [each for each in caplog.messages if each.startswith("ALARM reconcile")]
    assert len(messages) == 1
    assert "Fall 2030" in messages[0]
    with transaction() as session:
        (outgoing,) = session.scalars(select(OutboxEntry))
        mail = compose(session, outgoing)
    assert outgoing.account_id == cast.max.id
    assert "the audit found" in mail.message["Subject"]
    assert "fairseat repair" in str(mail.message.get_content())
    restore(rush.term)
    assert continuous_audit.audit_next_part(rush.term) == []
    assert (state(rush).found, state(rush).differences) == (0, [])


def test_scheduler_enqueues_a_due_part(backend: Backend) -> None:
    rush, sweeper = a_rush(sections=1, students=1), Sweeper()

    def called() -> int:
        sweeper.read_terms()
        sweeper.enqueue_due()
        return Queue("background", connection=backend.redis).count

    drain(rush.term)
    assert called() == 1
    Queue("background", connection=backend.redis).empty()
    continuous_audit.audit_next_part(rush.term)
    assert called() == 0
    with transaction() as session:
        session.execute(update(ContinuousAudit).values(at=func.now() - timedelta(minutes=6)))
    sweeper.enqueued.clear()
    assert called() == 1
