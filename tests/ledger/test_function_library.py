"""Missing functions are loaded, and a ledger without a server is reported as unavailable."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import ResponseError

from portal.core import batching
from portal.core.ledger_servers import OneServer
from portal.core.redis_clients import commands
from portal.ledger.client import Ledger
from portal.ledger.errors import LedgerSilent, LedgerUnavailable
from portal.ledger.function_library import CODE
from portal.ledger.types import Decision, Outcome
from portal.runtime.data_folder import DataFolder
from portal.runtime.embedded_servers import Servers
from tests.ledger.lost_answers import LossyWire
from tests.ledger.requests import TERM, Desk, codes
from tests.recorder.processes import wait_for


def loads(redis: Redis) -> int:
    """Return how often functions were loaded since the statistics were reset."""
    stats: dict[str, Any] = redis.info("commandstats")
    return stats.get("cmdstat_function|load", {}).get("calls", 0)


def test_same_code_is_loaded_once(desk: Desk) -> None:
    desk.redis.config_resetstat()
    Ledger(OneServer(desk.redis))
    assert loads(desk.redis) == 0


def test_other_code_is_replaced(desk: Desk) -> None:
    desk.redis.function_load(CODE + "-- of yesterday", replace=True)
    desk.redis.config_resetstat()
    Ledger(OneServer(desk.redis))
    assert loads(desk.redis) == 1
    (library,) = desk.redis.function_list(library="fairseat", withcode=True)
    assert any(CODE.encode().partition(b"\n")[2] in each for each in library)


def test_many_processes_may_start_at_once(desk: Desk, address: str) -> None:
    desk.redis.function_flush()
    with ThreadPoolExecutor(16) as pool:
        desks = list(pool.map(Desk, [address] * 16))
    assert all(each.ledger.registrations(TERM, 501).enrolled == () for each in desks)
    for each in desks:
        each.redis.connection_pool.disconnect()


def test_a_server_without_the_required_replicas_is_unavailable(desk: Desk) -> None:
    desk.section(12)
    desk.ledger = Ledger(OneServer(desk.redis), replicas=1)
    with pytest.raises(LedgerUnavailable, match="0 of 1 replicas"):
        desk.claim(501, 12)


def test_lost_functions_are_loaded_again(desk: Desk) -> None:
    desk.section(12)
    desk.redis.function_flush()
    assert desk.claim(501, 12).outcome == Outcome.ENROLLED
    desk.redis.function_flush()
    assert desk.section(13).seq
    desk.redis.function_flush()
    assert desk.ledger.head(TERM, 12, 1) == []


def test_ledger_is_unavailable_until_the_server_starts(tmp_path: Path) -> None:
    servers = Servers(DataFolder(tmp_path / "var"), durable=True, database_url="none is needed")
    servers.folder.own()
    servers.start()
    address = servers.redis_url
    servers.stop()
    ledger = Ledger(OneServer(commands(address)))
    for ask in (ledger.now, lambda: ledger.seats(TERM), lambda: ledger.registrations(TERM, 501)):
        with pytest.raises(LedgerUnavailable):
            ask()
    servers = Servers(servers.folder, durable=True, database_url="none is needed")
    servers.start()
    moved = commands(servers.redis_url)
    ledger.library.servers = OneServer(moved)
    assert ledger.registrations(TERM, 501).enrolled == ()
    moved.connection_pool.disconnect()
    servers.stop()
    servers.folder.release()


@pytest.fixture
def wire(desk: Desk, address: str, tmp_path: Path) -> Iterator[tuple[LossyWire, Desk]]:
    """Return a desk whose connection can lose answers; section 12 has two seats."""
    desk.section(12)
    with LossyWire(address, tmp_path / "wire") as lossy:
        far = Desk(lossy.address)
        yield lossy, far
        far.redis.connection_pool.disconnect()


def test_request_with_a_lost_answer_is_repeated_under_its_key(wire: tuple[LossyWire, Desk]) -> None:
    lossy, desk = wire
    lossy.lose = 1
    answer = desk.claim(501, 12, idempotency_key="k")
    assert (answer.outcome, answer.replayed) == (Outcome.ENROLLED, True)
    assert answer.wake == () or "record" in answer.wake
    assert desk.roster(12) == [501]


def test_request_without_a_key_is_not_repeated(wire: tuple[LossyWire, Desk]) -> None:
    lossy, desk = wire
    lossy.lose = 1
    with pytest.raises(LedgerSilent):
        desk.claim(501, 12)
    assert codes(desk.claim(501, 12)) == ["already_enrolled"]


def test_request_is_repeated_only_once(wire: tuple[LossyWire, Desk]) -> None:
    lossy, desk = wire
    lossy.lose = 2
    with pytest.raises(LedgerSilent):
        desk.claim(501, 12, idempotency_key="k")


def test_outcome_is_unknown_if_the_ledger_is_gone_at_the_repeat(
    wire: tuple[LossyWire, Desk],
) -> None:
    lossy, desk = wire
    lossy.lose = 1
    Path(lossy.address.removeprefix("unix://")).unlink()
    with pytest.raises(LedgerSilent):
        desk.claim(501, 12, idempotency_key="k")


CROWD = range(501, 511)  # students


@contextmanager
def at_once(
    wire: tuple[LossyWire, Desk], server: Redis, *others: Callable[[Desk], object]
) -> Iterator[list[Future[Any]]]:
    """Let a crowd claim section 12 in one moment, while another claim waits for its answer."""
    lossy, _ = wire
    far = Desk(lossy.address, timeout=60)
    together = Barrier(len(CROWD) + len(others) + 1)

    def claim(student: int) -> Decision:
        return far.claim(student, 12, idempotency_key=f"{student}")

    def begin(act: Callable[[], object]) -> object:
        together.wait(60)
        return act()

    calls = [*(partial(claim, it) for it in CROWD), *(partial(each, far) for each in others)]
    with ThreadPoolExecutor(together.parties) as pool:
        server.client_pause(60_000, all=False)
        first = pool.submit(claim, 500)
        assert lossy.carried.acquire(timeout=60)
        answers = [pool.submit(begin, each) for each in calls]
        together.wait(60)
        batchers = far.ledger.library._batchers.values()  # noqa: SLF001
        waiting = len(answers)
        wait_for(lambda: sum(len(it._next.questions) for it in batchers) == waiting)  # noqa: SLF001
        try:
            yield answers
        finally:
            server.client_unpause()
            assert first.result(60).outcome == Outcome.ENROLLED
            far.redis.connection_pool.disconnect()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a batch wait until the call before it is answered, however slow the machine is."""
    monkeypatch.setattr(batching, "LONGEST", 60)


@pytest.mark.usefixtures("patient")
def test_a_crowd_whose_answers_are_lost_together_is_answered_at_the_repeat(
    wire: tuple[LossyWire, Desk], desk: Desk
) -> None:
    lossy, _ = wire
    with at_once(wire, desk.redis) as claims:
        lossy.lose = 1
        desk.redis.client_unpause()
        answers = [each.result(60) for each in claims]
    assert all(each.replayed for each in answers)  # they shared what was lost
    outcomes = Counter(each.outcome for each in answers)
    assert outcomes == {Outcome.ENROLLED: 1, Outcome.WAITLISTED: 5, Outcome.REFUSED: 4}
    assert len(desk.roster(12)) == 2


@pytest.mark.usefixtures("patient")
def test_a_crowd_whose_answers_are_lost_twice_reads_that_the_outcome_is_unknown(
    wire: tuple[LossyWire, Desk], desk: Desk
) -> None:
    lossy, _ = wire
    with at_once(wire, desk.redis) as claims:
        lossy.lose = 2
        desk.redis.client_unpause()
        assert all(isinstance(each.exception(60), LedgerSilent) for each in claims)
    assert len(desk.roster(12)) == 2


@pytest.mark.usefixtures("patient")
def test_one_call_that_fails_leaves_the_others_of_its_moment_their_answers(
    wire: tuple[LossyWire, Desk], desk: Desk
) -> None:
    lossy, _ = wire
    desk.section(12, capacity=30, version=2)

    def wrong(far: Desk) -> object:
        return far.ledger.library.ask("submit", TERM, {"changes": 1}, again=True)

    with at_once(wire, desk.redis, wrong) as answers:
        lossy.lose = 1
        desk.redis.client_unpause()
        *claims, failed = answers
        assert {each.result(60).outcome for each in claims} == {Outcome.ENROLLED}
        assert isinstance(failed.exception(60), ResponseError)


@pytest.mark.usefixtures("patient")
def test_a_server_that_is_loading_has_done_nothing(
    wire: tuple[LossyWire, Desk], desk: Desk
) -> None:
    lossy, _ = wire
    with at_once(wire, desk.redis) as claims:
        lossy.is_loading = True
        desk.redis.client_unpause()
        errors = [each.exception(60) for each in claims]
    assert {type(each) for each in errors} == {LedgerUnavailable}
    assert desk.roster(12) == [500]


def test_what_is_refused_at_the_repeat_may_have_been_done(
    wire: tuple[LossyWire, Desk], desk: Desk
) -> None:
    lossy, far = wire
    lossy.lose = 1
    lossy.on_loss = lambda: desk.redis.config_set("min-replicas-to-write", 1)
    try:
        with pytest.raises(LedgerSilent):
            far.claim(501, 12, idempotency_key="k")
    finally:
        desk.redis.config_set("min-replicas-to-write", 0)
    assert desk.roster(12) == [501]


def test_refused_connection_means_nothing_was_sent(desk: Desk, tmp_path: Path) -> None:
    ledger = desk.ledger
    ledger.library.servers = OneServer(commands(f"unix://{tmp_path}/nobody.sock"))
    with pytest.raises(LedgerUnavailable) as refused:
        desk.claim(501, 12, idempotency_key="k")
    assert not isinstance(refused.value, LedgerSilent)


@pytest.mark.parametrize("trouble", ["min-replicas-to-write", "replicaof"])
def test_ledger_that_cannot_write_is_unavailable(desk: Desk, trouble: str) -> None:
    desk.section(12)
    try:
        if trouble == "replicaof":
            desk.redis.replicaof("127.0.0.1", 1)
        else:
            desk.redis.config_set(trouble, 1)
        with pytest.raises(LedgerUnavailable):
            desk.claim(501, 12, idempotency_key="k")
        assert desk.ledger.registrations(TERM, 501).enrolled == ()
    finally:
        desk.redis.replicaof("NO", "ONE")
        desk.redis.config_set("min-replicas-to-write", 0)
    assert desk.claim(501, 12, idempotency_key="k").outcome == Outcome.ENROLLED
