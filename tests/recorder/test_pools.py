"""Pools are warmed up from the catalogue, promoted list by list, recorded and audited."""

import json

import pytest
from sqlalchemy import update

from portal.backend import Backend
from portal.catalog.models import Pool, Section, Term
from portal.catalog.term_catalog import catalog_of
from portal.core.db import transaction
from portal.ledger.types import Candidate, Reason
from portal.live.seat_counts import SeatCountCache
from portal.recorder import journal
from portal.recorder.consistency.audit import audit_term
from portal.recorder.promotion import promote
from portal.recorder.recorder import drain
from portal.windows.warmup import warm_up
from tests.cast import Cast
from tests.recorder.rush import Rush, a_rush, claim, drop


@pytest.fixture
def rush(cast: Cast) -> Rush:  # noqa: ARG001
    """Three sections that share two seats; the third has no more of its own than one."""
    rush = a_rush(sections=3, students=0, capacity=5)
    with transaction() as session:
        pool = Pool(term_id=rush.term, name="Ecology", capacity=2)
        session.add(pool)
        session.flush()
        mine = Section.term_id == rush.term
        pooled = {"pool_id": pool.id, "version": Section.version + 1}
        session.execute(update(Section).where(mine).values(pooled))
        session.execute(update(Section).where(Section.id == rush.sections[2]).values(capacity=1))
        session.execute(update(Term).values(catalog_version=Term.catalog_version + 1))
    assert warm_up(rush.term) == 3
    return rush


def students(cast: Cast) -> list[int]:
    return [who.id for who in (cast.ada, cast.ben, cast.cleo, cast.dan)]


def clean(rush: Rush) -> None:
    drain(rush.term, seconds=0)
    report = audit_term(rush.term)
    assert report["clean"], report["differences"]


def test_the_catalogue_tells_the_ledger_of_pools(backend: Backend, rush: Rush) -> None:
    seats = backend.ledger.seats(rush.term)
    assert {each.pool_capacity for each in seats.values()} == {2}
    assert [seats[section].open for section in rush.sections] == [2, 2, 1]
    (pool,) = {catalog_of(rush.term).sections[number].pool for number in range(3)}
    assert pool
    assert warm_up(rush.term) == 0
    clean(rush)


def test_freed_seats_go_from_list_to_list_by_the_time_waited(rush: Rush, cast: Cast) -> None:
    one, two, three = rush.sections
    ada, ben, cleo, dan = students(cast)
    claim(rush, ada, one)
    claim(rush, ben, one)
    claim(rush, cleo, three)
    claim(rush, dan, two)
    for who in (ada, ben):
        drop(rush, who, one)
    promote(rush.term, "tests")
    promoted = [
        (fact.payload["student"], fact.payload["section"])
        for fact in reversed(journal.latest(rush.term, 50))
        if fact.name == "promoted"
    ]
    assert promoted == [(cleo, three), (dan, two)]
    clean(rush)


def test_a_swap_within_a_pool_asks_those_passed_over_again_and_every_event_counts_right(
    backend: Backend, rush: Rush, cast: Cast
) -> None:
    one, two, three = rush.sections
    ada, ben, cleo, dan = students(cast)
    claim(rush, ada, one)
    claim(rush, dan, three)
    claim(rush, ben, two)
    claim(rush, ada, two, instead=one)
    claim(rush, cleo, two)
    drop(rush, dan, three)
    hold, free = (
        Candidate(who, (rush.window,), 100_000, rules=rules)
        for who, rules in ((ben, (Reason("hold"),)), (ada, ()))
    )
    backend.ledger.promote(rush.term, two, [hold, free], "tests")
    told = [fact.name for fact in reversed(journal.latest(rush.term, 4))]
    assert told == ["passed_over", "dropped", "reconsidered", "promoted"]
    clean(rush)


def test_the_audit_names_a_pool_that_is_not_as_recorded(backend: Backend, rush: Rush) -> None:
    clean(rush)
    [pool] = backend.redis.hkeys(f"{{t:{rush.term}}}:pools")
    backend.redis.srem(f"{{t:{rush.term}}}:pool:{int(pool)}", rush.sections[0])
    found = audit_term(rush.term)["differences"]
    assert [each["where"] for each in found] == ["ledger pool"]


def test_open_pages_hear_of_all_sections_whose_seats_have_gone(
    backend: Backend, rush: Rush, cast: Cast
) -> None:
    counts = SeatCountCache(backend.ledger.seats, lambda seats: f"{seats.open} open")
    counts.of(rush.term)
    claim(rush, cast.ada.id, rush.sections[0])
    [entry] = backend.redis.xrevrange(f"{{t:{rush.term}}}:journal", count=1)
    event = json.loads(entry[1][b"event"])
    assert counts.hear(rush.term, event) == set(rush.sections)
    assert counts.hear(rush.term, event) == set()
    assert counts.of(rush.term) == backend.ledger.seats(rush.term)
