"""Pools are sent from the catalog, promoted across waitlists, recorded and audited."""

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
    """Return three sections that share two seats; the third has only one of its own."""
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


def test_ledger_gets_pools_from_the_catalog(backend: Backend, rush: Rush) -> None:
    seats = backend.ledger.seats(rush.term)
    assert {each.pool_capacity for each in seats.values()} == {2}
    assert [seats[section].open for section in rush.sections] == [2, 2, 1]
    (pool,) = {catalog_of(rush.term).sections[number].pool for number in range(3)}
    assert pool
    assert warm_up(rush.term) == 0
    clean(rush)


def test_freed_pool_seats_go_to_the_longest_waiting_students(rush: Rush, cast: Cast) -> None:
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


def test_swap_within_a_pool_retries_skipped_students_with_right_counts(
    backend: Backend, rush: Rush, cast: Cast
) -> None:
    one, two, three = rush.sections
    ada, ben, cleo, dan = students(cast)
    claim(rush, ada, one)
    claim(rush, dan, three)
    claim(rush, ben, two)
    claim(rush, ada, two, swap_out=one)
    claim(rush, cleo, two)
    drop(rush, dan, three)
    hold, free = (
        Candidate(who, (rush.window,), 100_000, rules=rules)
        for who, rules in ((ben, (Reason("hold"),)), (ada, ()))
    )
    backend.ledger.promote(rush.term, two, [hold, free], "tests")
    result = [fact.name for fact in reversed(journal.latest(rush.term, 4))]
    assert result == ["passed_over", "dropped", "reconsidered", "promoted"]
    clean(rush)


def test_audit_names_an_altered_pool(backend: Backend, rush: Rush) -> None:
    clean(rush)
    [pool] = backend.redis.hkeys(f"{{t:{rush.term}}}:pools")
    backend.redis.srem(f"{{t:{rush.term}}}:pool:{int(pool)}", rush.sections[0])
    found = audit_term(rush.term)["differences"]
    assert [each["where"] for each in found] == ["ledger pool"]


def test_open_pages_get_counts_of_all_sections_in_the_pool(
    backend: Backend, rush: Rush, cast: Cast
) -> None:
    counts = SeatCountCache(backend.ledger.seats, lambda seats, _staff: f"{seats.open} open")
    counts.of(rush.term)
    claim(rush, cast.ada.id, rush.sections[0])
    [entry] = backend.redis.xrevrange(f"{{t:{rush.term}}}:journal", count=1)
    event = json.loads(entry[1][b"event"])
    assert counts.update(rush.term, event) == set(rush.sections)
    assert counts.update(rush.term, event) == set()
    assert counts.of(rush.term) == backend.ledger.seats(rush.term)
