"""Backup, restore, audit, repair and rebuild: each command finds the terms of all primaries."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from portal.backend import Backend
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.function_library import prefix
from portal.recorder.consistency import continuous_audit, fence
from portal.recorder.consistency.audit import audit, audit_term
from portal.recorder.consistency.restore import restore
from portal.recorder.recorder import drain
from tests.owner_role import as_owner
from tests.recorder.ledger_dump import dump
from tests.recorder.rush import Rush, claim, claims, drop, everyone_everywhere
from tests.runtime.valkey_cluster.conftest import in_cluster, two_rushes
from tests.second_portal import fairseat, leave, lose_everything, spare
from tests.valkey_cluster import ValkeyCluster

pytestmark = pytest.mark.slow

__all__ = ["spare"]


@pytest.fixture
def clustered(spare: Backend, cluster: ValkeyCluster) -> Iterator[Backend]:
    """A portal of its own, with its ledger in the cluster."""
    with in_cluster(spare, cluster) as found:
        yield found


@pytest.fixture
def full(rushes: list[Rush]) -> list[Rush]:
    """Both terms, full and recorded."""
    fill(rushes)
    for rush in rushes:
        drain(rush.term)
    return rushes


def fill(rushes: list[Rush]) -> None:
    for rush in rushes:
        claims(rush, everyone_everywhere(rush))


def dumps(rushes: list[Rush]) -> list[dict[str, Any]]:
    return [dump(rush.term) for rush in rushes]


def take_a_seat_from_the_ledger(backend: Backend, rush: Rush) -> None:
    roster = f"{prefix(rush.term)}:roster:{rush.sections[0]}"
    assert backend.ledger.redis(rush.term).hdel(roster, str(rush.students[0]))


def done(portal: Backend, *arguments: str) -> str:
    """Return what a command wrote; it must succeed."""
    ended = fairseat(portal, *arguments)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def differing(portal: Backend) -> set[str]:
    """Return the names of the terms in which `fairseat audit` finds differences."""
    ended = fairseat(portal, "audit")
    report = json.loads(ended.stdout)
    assert ended.returncode == (not report["clean"])
    return {each["term"] for each in report["terms"] if each["differences"]}


def test_a_backup_brings_back_the_terms_of_all_primaries(
    clustered: Backend, cluster: ValkeyCluster, tmp_path: Path
) -> None:
    rushes = two_rushes(cluster)
    fill(rushes)
    before = dumps(rushes)
    done(clustered, "backup", str(tmp_path / "copy"))
    lose_everything(clustered)
    done(clustered, "restore", str(tmp_path / "copy"))
    assert dumps(rushes) == before
    assert audit()["clean"]
    for rush in rushes:
        assert drop(rush, rush.students[0], rush.sections[0]).outcome == "dropped"


def test_a_restore_keeps_what_the_journals_of_all_primaries_have_since(
    clustered: Backend, cluster: ValkeyCluster, tmp_path: Path
) -> None:
    rushes = two_rushes(cluster)
    done(clustered, "backup", str(tmp_path / "copy"))
    fill(rushes)
    before = dumps(rushes)
    leave()
    done(clustered, "restore", "--yes", str(tmp_path / "copy"))
    assert dumps(rushes) == before
    assert audit()["clean"]


def test_a_repair_mends_the_terms_of_all_primaries(backend: Backend, full: list[Rush]) -> None:
    before = dumps(full)
    assert not differing(backend)
    for rush in full:
        take_a_seat_from_the_ledger(backend, rush)
    assert len(differing(backend)) == 2
    assert "dry run" in fairseat(backend, "repair").stdout
    done(backend, "repair", "--yes")
    assert dumps(full) == before
    assert not differing(backend)


def test_the_read_models_of_all_primaries_are_rebuilt(backend: Backend, full: list[Rush]) -> None:
    with as_owner() as session:
        session.execute(text("DELETE FROM enrollments"))
    assert len(differing(backend)) == 2
    done(backend, "rebuild", "record")
    assert not differing(backend)
    assert len(full) == 2


def test_the_ledger_of_a_primary_that_lost_everything_is_rebuilt(
    backend: Backend, cluster: ValkeyCluster, full: list[Rush]
) -> None:
    lost, kept = full
    before = dumps(full)
    home = cluster.at(cluster.primary_of(lost.term))
    home.flushall()
    home.function_flush()
    other = backend.ledger.redis(kept.term).info("commandstats").get("cmdstat_unlink")
    said = done(backend, "rebuild", "ledger", "--yes")
    assert said.count("Students can register again.") == 1
    assert dumps(full) == before
    assert backend.ledger.redis(kept.term).info("commandstats").get("cmdstat_unlink") == other
    for rush in full:
        assert drop(rush, rush.students[0], rush.sections[0]).outcome == "dropped"


def test_the_continuous_audit_compares_the_terms_of_all_primaries(
    backend: Backend, full: list[Rush]
) -> None:
    assert [continuous_audit.audit_next_part(rush.term) for rush in full] == [[], []]
    for rush in full:
        take_a_seat_from_the_ledger(backend, rush)
        found = continuous_audit.audit_next_part(rush.term)
        assert "ledger roster" in {each["where"] for each in found}


def test_a_term_that_moves_while_it_is_restored_stays_fenced(
    cluster: ValkeyCluster, full: list[Rush]
) -> None:
    rush, before = full[0], dump(full[0].term)
    old = cluster.primary_of(rush.term)

    def move(step: str, _done: int, _all: int) -> None:
        if step == "writing" and cluster.primary_of(rush.term) == old:
            cluster.move(rush.term, cluster.another_primary(old))

    with pytest.raises(fence.Changed):
        restore(rush.term, move)
    assert fence.why(rush.term)
    with pytest.raises(LedgerUnavailable, match="being restored"):
        claim(rush, rush.students[0], rush.sections[0])
    assert restore(rush.term).report["clean"]
    assert dump(rush.term) == before
    assert audit_term(rush.term)["clean"]
