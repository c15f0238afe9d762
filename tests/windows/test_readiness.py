"""A term is made ready once for each catalog version and each opening."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import update

from portal.backend import Backend
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.ledger.function_library import prefix
from portal.operations.dead_letters import Watch
from portal.operations.scheduler import Lease, tick
from portal.recorder.recorder import drain
from portal.recorder.sweep import Sweeper
from portal.windows import readiness
from portal.windows.readiness import Target, make_ready
from tests import cast
from tests.cast import Cast
from tests.recorder.processes import running, wait_for


@pytest.fixture
def term(cast: Cast) -> Term:
    """Return a term with three sections that the ledger does not know."""
    assert cast
    return a_term_of_three()


def a_term_of_three() -> Term:
    term = cast.a_term()
    for number in range(3):
        cast.a_section(cast.a_course(f"CSC-{number}"), term)
    return term


def change_catalog(term: Term) -> None:
    changed = {"version": Section.version + 1, "capacity": 9}
    bump = {"catalog_version": Term.catalog_version + 1}
    with transaction() as session:
        session.execute(update(Section).where(Section.term_id == term.id).values(changed))
        session.execute(update(Term).where(Term.id == term.id).values(bump))


def test_preparation_sends_sections_and_reports_progress(backend: Backend, term: Term) -> None:
    backend.redis.flushall()
    assert readiness.readiness(term.id) is None
    assert make_ready(term.id)
    found = readiness.readiness(term.id)
    assert found
    assert (found.done, found.sections) == (3, 3)
    assert found.sent >= found.begun > 0
    assert len(backend.ledger.seats(term.id)) == 3


def test_preparation_runs_once_for_many_nodes(backend: Backend, term: Term) -> None:
    backend.redis.flushall()
    with ThreadPoolExecutor(6) as nodes:
        done = list(nodes.map(make_ready, [term.id] * 6))
    assert sorted(done) == [False] * 5 + [True]
    assert backend.redis.xlen(f"{prefix(term.id)}:journal") == 3


def test_changed_catalog_is_sent_again(backend: Backend, term: Term) -> None:
    make_ready(term.id)
    assert not make_ready(term.id)
    change_catalog(term)
    assert make_ready(term.id)
    assert {seats.capacity for seats in backend.ledger.seats(term.id).values()} == {9}


def test_ledger_that_lost_its_sections_gets_them_again(backend: Backend, term: Term) -> None:
    make_ready(term.id)
    lost = backend.redis.keys(f"{prefix(term.id)}:section:*")
    backend.redis.delete(f"{prefix(term.id)}:seats", *lost)
    assert make_ready(term.id)


def test_near_opening_makes_web_processes_fill_caches(backend: Backend, term: Term) -> None:
    make_ready(term.id)
    assert not backend.redis.exists(readiness.PRELOAD)
    window = cast.a_coming_window(term, minutes=10)
    drain(term.id)
    assert readiness.current_target(term.id).opening == window.opens
    assert make_ready(term.id)
    assert not make_ready(term.id)
    found = readiness.readiness(term.id)
    assert found
    assert int(backend.redis.get(readiness.PRELOAD) or 0) == found.preload > 0


def test_past_or_far_opening_needs_no_caches(term: Term) -> None:
    cast.an_open_window(term)
    cast.a_coming_window(term, minutes=16)
    drain(term.id)
    assert readiness.current_target(term.id).opening == 0
    assert Target(1, 0).met_by(Target(1, 5))
    assert not Target(1, 7).met_by(Target(1, 5))
    assert not Target(2, 0).met_by(Target(1, 5))


def test_web_process_fills_its_caches_and_reports(backend: Backend, term: Term) -> None:
    before = readiness.Process(0, 0, 0, 0)
    readiness.request_preload(backend.ledger.now())
    result = readiness.report("one", before)
    assert result.request == int(backend.redis.get(readiness.PRELOAD) or 0)
    assert result.profiles >= 4
    assert readiness.report("one", result).read == result.read  # nothing new was requested
    readiness.request_preload(result.request + 1)
    assert readiness.report("one", result).read > result.read
    # The process of the tests may report itself too, from an application of an earlier test.
    assert result.request + 1 in [each.request for each in readiness.processes()]
    assert term


def test_ended_process_is_no_longer_counted(backend: Backend) -> None:
    gone = readiness.Process(1, 1, 1, backend.ledger.now() - 5 * readiness.LOST)
    backend.redis.hset(readiness.PROCESSES, "gone", json.dumps(vars(gone)))
    assert gone not in readiness.processes()
    readiness.report("here", readiness.Process(0, 0, 0, 0))
    assert b"here" in backend.redis.hkeys(readiness.PROCESSES)
    assert b"gone" not in backend.redis.hkeys(readiness.PROCESSES)


def test_scheduler_prepares_a_term_before_an_opening(backend: Backend, term: Term) -> None:
    make_ready(term.id)
    window = cast.a_coming_window(term, minutes=10)
    drain(term.id)
    with running(("worker", "maintain")):
        tick(Sweeper(), Lease(backend.redis), Watch(backend.redis).check)
        wait_for(lambda: readiness.readiness(term.id).target.opening == window.opens)  # type: ignore[union-attr]
