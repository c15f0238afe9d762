"""A primary dies, a replica freezes, a term moves: nothing that was told is lost or split."""

import signal
import time
from collections.abc import Iterator

import pytest
from redis.crc import key_slot

from portal.backend import Backend
from portal.core import redis_clients
from portal.ledger.errors import LedgerSilent, LedgerUnavailable
from portal.ledger.function_library import prefix
from portal.live.hub import Hub
from portal.live.page import Page
from portal.people import visitors
from portal.recorder.consistency.audit import audit_term
from portal.recorder.recorder import catch_up
from portal.recorder.sweep import Sweeper, ledger_states
from tests.cast import Cast
from tests.live.hubs import end
from tests.recorder.rush import Rush, a_rush, claim
from tests.runtime.cluster.claimants import claiming
from tests.runtime.valkey_cluster.conftest import elsewhere
from tests.valkey_cluster import SERVERS, ValkeyCluster, until

pytestmark = pytest.mark.slow


@pytest.fixture
def rush(backend: Backend) -> Rush:  # noqa: ARG001
    return a_rush(sections=20, students=100, capacity=100)


@pytest.fixture
def hub(backend: Backend) -> Iterator[Hub]:
    redis = redis_clients.subscriber(backend.settings.queue_url)
    shard = backend.ledger.servers.shard_subscriber
    hub = Hub(redis, backend.ledger.seats, lambda seats, _staff: f"{seats.taken} taken", shard)
    yield hub
    end(hub)


@pytest.fixture
def page(hub: Hub, cast: Cast, rush: Rush) -> Page:
    """An open page that shows every section."""
    visitor = visitors.find(cast.ada.account_id)
    assert visitor
    page = Page(visitor, lambda: None)
    hub.add(page)
    page.term = rush.term
    hub.subscribe(page, frozenset(rush.sections), set())
    return page


def heard(page: Page) -> bool:
    """Return whether the page was told of a seat."""
    return "taken" in page.take_update().html


def all_is_kept(rush: Rush) -> None:
    """Every decision is recorded, and ledger and record agree."""
    assert catch_up(rush.term)
    assert audit_term(rush.term)["clean"]


def test_a_killed_primary_is_replaced_and_no_answered_decision_is_lost(
    cluster: ValkeyCluster, rush: Rush, page: Page
) -> None:
    other = elsewhere(cluster, rush)
    old, sweeper = cluster.primary_of(rush.term), Sweeper()
    sweeper.read_terms()
    with claiming(rush) as told:
        until(lambda: len(told.seats) > 10, "nobody can claim")
        cluster.send(signal.SIGKILL, old)
        assert claim(other, other.students[0], other.sections[0]).outcome == "enrolled"
        assert other.term in {term.id for term, _ in ledger_states(sweeper.terms)}
        until(lambda: cluster.replaced(rush.term, old), "nobody is promoted")
        cluster.servers[old].start()  # until then, no replica has what the new primary decides
        seats, back = len(told.seats), time.monotonic()
        until(lambda: len(told.seats) > seats and told.last > back, "nobody can claim")
        page.take_update()
        until(lambda: heard(page), "the page hears nothing")
    assert not told.lost()
    all_is_kept(rush)


def test_a_decision_that_no_replica_has_is_not_answered_even_if_asked_again(
    cluster: ValkeyCluster, rush: Rush, backend: Backend
) -> None:
    student, section = rush.students[0], rush.sections[0]
    home = cluster.primary_of(rush.term)
    cluster.send(signal.SIGSTOP, cluster.partner(home))
    with pytest.raises(LedgerSilent):
        claim(rush, student, section, "key")
    with pytest.raises(LedgerUnavailable):  # a stored answer is no more certain
        claim(rush, student, section, "key")
    cluster.heal()
    answer = claim(rush, student, section, "key")
    assert (answer.outcome, answer.replayed) == ("enrolled", True)
    assert backend.ledger.seats(rush.term)[section].taken == 1


def test_a_term_that_moves_to_another_primary_is_followed(
    cluster: ValkeyCluster, rush: Rush, page: Page
) -> None:
    old = cluster.primary_of(rush.term)
    new = cluster.another_primary(old)
    with claiming(rush) as told:
        until(lambda: len(told.seats) > 10, "nobody can claim")
        cluster.move(rush.term, new)
        seats = len(told.seats)
        until(lambda: len(told.seats) > seats + 10, "nobody can claim")
        page.take_update()
        until(lambda: heard(page), "the page hears nothing")
    assert not told.lost()
    assert not cluster.at(old).keys(f"{prefix(rush.term)}:*")
    all_is_kept(rush)


def test_while_a_term_moves_key_by_key_nothing_is_decided_anywhere(
    cluster: ValkeyCluster, rush: Rush
) -> None:
    old = cluster.primary_of(rush.term)
    new = cluster.another_primary(old)
    slot = key_slot(prefix(rush.term).encode())
    assert claim(rush, rush.students[0], rush.sections[0]).outcome == "enrolled"
    cluster.tell(new, "CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.name(old))
    cluster.tell(old, "CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.name(new))
    with pytest.raises(LedgerUnavailable) as refused:
        claim(rush, rush.students[1], rush.sections[0], "key")
    assert not isinstance(refused.value, LedgerSilent)  # it is known that nothing was done
    assert not cluster.at(new).keys(f"{prefix(rush.term)}:*")
    for number in (old, new):
        cluster.tell(number, "CLUSTER", "SETSLOT", slot, "STABLE")
    assert claim(rush, rush.students[1], rush.sections[0], "key").outcome == "enrolled"
    all_is_kept(rush)


def test_a_primary_that_misses_the_majority_refuses_and_loses_nothing(
    cluster: ValkeyCluster, rush: Rush
) -> None:
    home = cluster.primary_of(rush.term)
    others = {*range(SERVERS)} - {home, cluster.partner(home)}
    with claiming(rush) as told:
        until(lambda: len(told.seats) > 10, "nobody can claim")
        for number in others:
            cluster.send(signal.SIGSTOP, number)
        until(lambda: refused(rush), "it goes on alone")
        cluster.heal()
        seats = len(told.seats)
        until(lambda: len(told.seats) > seats, "nobody can claim")
    assert not told.lost()
    all_is_kept(rush)


def refused(rush: Rush) -> bool:
    """Return whether a claim is refused because the cluster is down."""
    try:
        claim(rush, rush.students[-1], rush.sections[-1], "alone")
    except LedgerUnavailable as error:
        return "CLUSTERDOWN" in str(error) or "cluster of the ledger is down" in str(error)
    return False
