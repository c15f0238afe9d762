"""A ledger in a cluster: each term is whole on one primary, and every reader finds it."""

from dataclasses import replace

import pytest
from flask import Flask
from prometheus_client import CollectorRegistry

from portal import backend as connections
from portal.backend import Backend
from portal.core.ledger_servers import ClusterServers
from portal.core.settings import Settings, SettingsError
from portal.ledger.client import Ledger
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.function_library import prefix
from portal.operations import prometheus
from portal.operations.health_checks import Checks
from portal.recorder.consistency.audit import audit_term
from portal.recorder.consistency.restore import restore
from portal.recorder.promotion import promote
from portal.recorder.recorder import drain
from portal.recorder.sweep import Sweeper
from portal.runtime.commands.backups import _delete_other_terms
from portal.waiting_room import room
from tests.cast import Cast
from tests.ledger_claims import send_claim
from tests.recorder.ledger_dump import dump
from tests.recorder.processes import wait_for
from tests.recorder.rush import ENROLL_EVERYONE, Rush, claim, claims, drop, everyone_everywhere
from tests.valkey_cluster import ValkeyCluster
from tests.web.api.callers import caller


def swap(backend: Backend, rush: Rush, student: int, out: int, wanted: int) -> str:
    answer = send_claim(
        backend.ledger,
        rush.term,
        student=student,
        section=wanted,
        idempotency_key="a-swap",
        credits=300,
        credit_limit=ENROLL_EVERYONE,
        windows=[rush.window],
        wait=False,
        swap_out=out,
        actor=f"student:{student}",
        correlation="rush",
    )
    return str(answer.outcome)


def test_claims_swaps_and_promotions_are_decided_recorded_audited_and_restored(
    backend: Backend, rushes: list[Rush]
) -> None:
    for rush in rushes:
        one, other = rush.sections
        first, second, third, fourth, _ = rush.students
        for student in (first, second, third):
            claim(rush, student, one, f"claim-{student}")
        assert claim(rush, first, one, f"claim-{first}").replayed
        assert claim(rush, fourth, one, wait=False).reasons[0].code == "full"
        assert swap(backend, rush, first, one, other) == "enrolled"
        assert backend.ledger.vacant(rush.term) == {one}
        promote(rush.term, "rush")
        assert drop(rush, second, one).outcome == "dropped"
        assert backend.ledger.registrations(rush.term, third).enrolled[0].section == one
        drain(rush.term)
        report = audit_term(rush.term)
        assert (report["clean"], report["unrecorded"]) == (True, 0)
        before = dump(rush.term)
        assert restore(rush.term).report["clean"]
        assert dump(rush.term) == before


def test_a_term_is_on_one_primary_and_every_primary_has_the_functions(
    cluster: ValkeyCluster, rushes: list[Rush]
) -> None:
    for rush in rushes:
        claims(rush, everyone_everywhere(rush))
        home = cluster.primary_of(rush.term)
        for number in cluster.primaries():
            found = cluster.at(number).keys(f"{prefix(rush.term)}:*")
            assert bool(found) == (number == home)
            assert cluster.at(number).function_list(library="fairseat")


def test_one_sweep_sees_the_terms_of_all_primaries(rushes: list[Rush]) -> None:
    for rush in rushes:
        claims(rush, everyone_everywhere(rush))
    sweeper = Sweeper()
    sweeper.read_terms()
    sweeper.turn_windows()
    sweeper.enqueue_due()
    assert {(rush.term, "record") for rush in rushes} <= set(sweeper.enqueued)


def test_waiting_rooms_are_where_their_terms_are(backend: Backend, rushes: list[Rush]) -> None:
    for rush in rushes:
        student = rush.students[0]
        room.enter(rush.term, rush.window, student)
        room.advance_all([rush.term])
        assert room.queue_entry(rush.term, rush.window, student).kind == "called"
        key = f"{prefix(rush.term)}:room:{rush.window}"
        assert backend.ledger.redis(rush.term).exists(key)


def test_health_and_metrics_speak_of_all_primaries(backend: Backend, rushes: list[Rush]) -> None:
    checks = Checks(backend.settings)
    for rush in rushes:
        claims(rush, everyone_everywhere(rush))
        drain(rush.term)
    assert not {"ledger", "replicas", "record"} & set(checks.missing())
    assert checks.replicas == 1
    registry = CollectorRegistry()
    registry.register(prometheus.Gathering())
    read = registry.get_sample_value
    wait_for(lambda: read("fairseat_ledger_up") == 1)  # a busy machine may leave it out at first
    assert read("fairseat_replicas_in_sync") == 1
    assert (read("fairseat_ledger_memory_bytes") or 0) > 0
    for rush in rushes:
        assert read("fairseat_unrecorded_events", {"term": str(rush.term)}) == 0


def test_a_restored_backup_deletes_other_terms_on_every_primary(
    backend: Backend, rushes: list[Rush]
) -> None:
    kept, gone = rushes
    _delete_other_terms(backend, {kept.term})
    assert backend.ledger.seats(kept.term)
    assert not backend.ledger.seats(gone.term)


@pytest.mark.parametrize(
    ("url", "queue", "said"),
    [
        ("redis+cluster://a,b", "", "Set QUEUE_REDIS_URL"),
        ("redis+cluster://a,b", "redis+cluster://c", "Set QUEUE_REDIS_URL"),
        ("redis+cluster://a,b", "http://c", "QUEUE_REDIS_URL can't be used"),
        ("redis+cluster://a/1", "redis://c", "neither a database nor options"),
        ("redis+cluster://a,,b", "redis://c", "a server's host is missing"),
        ("redis://a", "redis://c", "QUEUE_REDIS_URL is only for"),
    ],
)
def test_what_is_wrong_is_named_at_the_start(
    monkeypatch: pytest.MonkeyPatch, url: str, queue: str, said: str
) -> None:
    given = {"DATABASE_URL": "postgresql://x", "SECRET_KEY": "x", "REDIS_URL": url}
    for name, value in (given | {"QUEUE_REDIS_URL": queue}).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as wrong:
        Settings.read()
    assert said in str(wrong.value)


def test_a_cluster_waits_for_one_replica_and_leaves_jobs_to_another_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("FAIRSEAT_REPLICAS", raising=False)
    given = {"DATABASE_URL": "postgresql://x", "SECRET_KEY": "x"}
    given["REDIS_URL"] = "redis+cluster://ann:p%40ss@a:7000,b"
    for name, value in (given | {"QUEUE_REDIS_URL": "redis+sentinel://s1/jobs"}).items():
        monkeypatch.setenv(name, value)
    found = Settings.read()
    assert (found.replicas, found.queue_url) == (1, "redis+sentinel://s1/jobs")


def test_claims_go_on_while_the_server_for_jobs_is_away(
    backend: Backend, app: Flask, cast: Cast, rushes: list[Rush]
) -> None:
    rush = rushes[0]
    ada = caller(app, "ada")
    body = {"student_id": cast.ada.id, "semester_id": rush.term, "section_ids": rush.sections[:1]}
    assert ada.get("/me").status_code == 200
    connections.connect(replace(backend.settings, queue_redis_url="redis://127.0.0.1:1"))
    answer = ada.post("/register", body, Idempotency_Key="the-morning")
    connections.use(backend)
    assert answer.status_code == 200, answer.json
    assert backend.ledger.registrations(rush.term, cast.ada.id).enrolled
    sweeper = Sweeper()
    sweeper.read_terms()
    sweeper.enqueue_due()
    assert (rush.term, "record") in sweeper.enqueued


def test_a_cluster_that_does_not_answer_is_an_unavailable_ledger(backend: Backend) -> None:
    alone = ClusterServers("redis+cluster://127.0.0.1:1")
    ledger = Ledger(alone)
    with pytest.raises(LedgerUnavailable, match="The cluster of the ledger is down"):
        ledger.seats(7)
    assert backend.ledger.seats(7) == {}
    alone.close()
