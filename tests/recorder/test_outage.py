"""After an outage of PostgreSQL or the ledger, everything continues without a restart."""

import time

import pytest

from portal.backend import Backend
from portal.core.queue import enqueue
from portal.ledger.types import Outcome
from portal.recorder.consistency.audit import audit
from portal.runtime import embedded_postgres, embedded_valkey
from portal.runtime.embedded_servers import Servers
from tests.recorder.processes import caught_up, events, ready, running, wait_for
from tests.recorder.rush import a_rush, claim, claims, everyone_everywhere

pytestmark = pytest.mark.slow


def test_claims_continue_without_postgresql_and_are_recorded_later(
    backend: Backend, servers: Servers
) -> None:
    rush = a_rush(sections=5, students=100)
    database = next(child for child in servers.children if child.name == "postgres")
    with running(("worker", "record"), ("scheduler",)) as processes:
        ready("record")
        wait_for(lambda: caught_up(rush.term))
        database.stop()
        try:
            for student, section in everyone_everywhere(rush):
                answer = claim(rush, student, section)
                enqueue(rush.term, answer.wake)
            time.sleep(2)
            assert backend.redis.xlen(f"{{t:{rush.term}}}:journal") >= 100
        finally:
            database.start()
            assert servers.sockets
            wait_for(lambda: embedded_postgres.answers(servers.sockets))
        wait_for(lambda: caught_up(rush.term))
        assert [process.poll() for process in processes] == [None, None]
    assert events(rush.term) >= 100
    assert audit()["clean"]


def test_workers_and_scheduler_return_with_the_ledger(backend: Backend, servers: Servers) -> None:
    ledger = next(child for child in servers.children if child.name == "valkey")
    with running(("worker", "record"), ("scheduler",)) as processes:
        ready("record")
        ledger.stop()
        time.sleep(2)
        ledger.start()
        assert servers.sockets
        wait_for(lambda: embedded_valkey.answers(servers.sockets))
        backend.redis.connection_pool.disconnect()
        rush = a_rush(sections=1, students=2)  # the servers of the tests store nothing on disk
        claims(rush, everyone_everywhere(rush))
        wait_for(lambda: caught_up(rush.term))
        assert [process.poll() for process in processes] == [None, None]
    assert claim(rush, rush.students[0], rush.sections[0]).outcome is Outcome.REFUSED
