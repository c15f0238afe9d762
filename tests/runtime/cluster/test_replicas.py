"""A decision that no replica has is not acknowledged, and PostgreSQL does not hear of it."""

import signal

import pytest
from flask import Flask
from sqlalchemy import func, select

from portal.backend import Backend
from portal.core.db import transaction
from portal.ledger.errors import LedgerSilent, LedgerUnavailable
from portal.recorder import journal
from portal.recorder.models import LoggedEvent
from portal.recorder.recorder import drain
from tests.cast import Cast
from tests.demo_cluster import in_sync
from tests.recorder.rush import Rush, a_rush, claim
from tests.runtime.cluster.replicated_ledger import Stage, until
from tests.web.api.callers import caller


@pytest.fixture
def rush(backend: Backend) -> Rush:  # noqa: ARG001
    return a_rush(sections=2, students=3)


def recorded(rush: Rush) -> int:
    with transaction() as session:
        found = (
            select(func.count()).select_from(LoggedEvent).where(LoggedEvent.term_id == rush.term)
        )
        return session.scalar(found) or 0


def cut_off(stage: Stage, backend: Backend) -> None:
    """Leave the primary alone: no replica gets its decisions from now on."""
    stage.send(signal.SIGSTOP, *stage.replicas())
    backend.redis.client_kill_filter(_type="replica")


def test_a_decision_that_no_replica_has_is_unknown_and_asked_again_is_the_one_decision(
    stage: Stage, rush: Rush, backend: Backend
) -> None:
    student, section = rush.students[0], rush.sections[0]
    stage.send(signal.SIGSTOP, *stage.replicas())
    with pytest.raises(LedgerSilent):
        claim(rush, student, section, "key")
    with pytest.raises(LedgerUnavailable):  # what is said again is no more certain
        claim(rush, student, section, "key")
    stage.heal()
    answer = claim(rush, student, section, "key")
    assert (answer.outcome, answer.replayed) == ("enrolled", True)
    assert backend.ledger.seats(rush.term)[section].taken == 1


def test_where_no_replica_follows_claims_are_refused_and_nothing_is_half_done(
    stage: Stage, rush: Rush, backend: Backend, app: Flask, cast: Cast
) -> None:
    ada = caller(app, "ada")
    body = {"student_id": cast.ada.id, "semester_id": rush.term, "section_ids": rush.sections[:1]}
    assert ada.get("/me").status_code == 200
    known = journal.last_seq(rush.term)
    cut_off(stage, backend)
    answer = ada.post("/register", body, Idempotency_Key="the-morning")
    assert (answer.status_code, answer.json["type"]) == (503, "about:blank")
    assert "Nothing was changed" in answer.json["detail"]
    assert int(answer.headers["Retry-After"]) > 0
    assert journal.last_seq(rush.term) == known
    stage.heal()
    assert ada.post("/register", body, Idempotency_Key="the-morning").status_code == 200
    assert backend.ledger.registrations(rush.term, cast.ada.id).enrolled


def test_postgresql_never_gets_what_the_next_primary_does_not_know(
    stage: Stage, rush: Rush, backend: Backend
) -> None:
    student, section = rush.students[0], rush.sections[0]
    drain(rush.term)
    known, old = recorded(rush), stage.primary()
    backend.redis.config_set("min-replicas-to-write", 0)
    cut_off(stage, backend)
    with pytest.raises(LedgerSilent):
        claim(rush, student, section, "key")
    assert backend.ledger.registrations(rush.term, student).enrolled  # so it thinks
    with pytest.raises(LedgerUnavailable):
        drain(rush.term)
    stage.send(signal.SIGKILL, old)
    stage.send(signal.SIGCONT, *({1, 2, 3} - {old}))
    until(lambda: stage.promoted(instead_of=old), "nobody is promoted")
    until(lambda: in_sync(stage.url), "nobody follows the new one")
    assert recorded(rush) == known
    answer = claim(rush, student, section, "key")
    assert (answer.outcome, answer.replayed) == ("enrolled", False)
    drain(rush.term)
    assert recorded(rush) == journal.last_seq(rush.term)
