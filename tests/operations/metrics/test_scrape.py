"""GET /metrics: who may read it, what it tells, and that it costs next to nothing."""

import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from http.client import HTTPConnection
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families as families
from sqlalchemy import update
from sqlalchemy.sql import func

from portal.app import create_app
from portal.backend import Backend
from portal.core import flags
from portal.core.audit_trail import AuditEntry
from portal.core.checkpoints import Checkpoint
from portal.core.db import transaction
from portal.core.flags import Switching
from portal.core.queue import enqueue
from portal.ledger.function_library import prefix
from portal.operations import prometheus
from portal.recorder.consistency import audit_runs, continuous_audit
from portal.recorder.models import ContinuousAudit
from portal.recorder.recorder import drain
from portal.runtime import embedded_postgres
from portal.runtime.cli import main
from tests import cast as builders
from tests import register
from tests.cast import Cast
from tests.live.nodes import Node, a_node
from tests.operations.test_health import without
from tests.recorder.old_events import make_old
from tests.recorder.processes import ready, wait_for
from tests.recorder.rush import a_rush, claim, claims
from tests.web.visitors import browser_of


@pytest.fixture(autouse=True)
def _anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """No figures of an earlier test, or of an earlier moment."""
    monkeypatch.setattr(prometheus, "FRESH", -1.0)
    monkeypatch.setattr(prometheus, "TIMEOUT", 60.0)


def scraped(client: FlaskClient, **headers: str) -> dict[tuple[str, tuple[str, ...]], float]:
    """Every sample by its name and the values of its labels, in the order of their names."""
    answer = client.get("/metrics", headers=headers)
    assert answer.status_code == 200
    return samples(answer.text)


def samples(text: str) -> dict[tuple[str, tuple[str, ...]], float]:
    found = (sample for family in families(text) for sample in family.samples)
    return {(each.name, tuple(each.labels.values())): each.value for each in found}


def test_this_machine_may_scrape(client: FlaskClient) -> None:
    assert scraped(client)["fairseat_ledger_up", ()] == 1


@pytest.mark.parametrize(
    ("address", "headers"),
    [
        ("10.0.0.7", {}),
        ("", {}),
        ("127.0.0.1", {"X-Forwarded-For": "10.0.0.7"}),
        ("127.0.0.1", {"Forwarded": "for=10.0.0.7"}),
        ("127.0.0.1", {"X-Real-Ip": "10.0.0.7"}),
    ],
)
def test_others_may_not(client: FlaskClient, address: str, headers: dict[str, str]) -> None:
    asked = client.get("/metrics", headers=headers, environ_overrides={"REMOTE_ADDR": address})
    assert asked.status_code == 403


def test_where_there_is_a_token_only_it_opens(backend: Backend) -> None:
    client = create_app(replace(backend.settings, metrics_token="sesame")).test_client()
    assert client.get("/metrics").status_code == 403
    assert client.get("/metrics", headers={"Authorization": "Bearer sesam"}).status_code == 403
    far = {"REMOTE_ADDR": "10.0.0.7"}
    asked = client.get(
        "/metrics", headers={"Authorization": "Bearer sesame"}, environ_overrides=far
    )
    assert asked.status_code == 200
    assert "sesame" not in repr(replace(backend.settings, metrics_token="sesame"))


def test_requests_are_counted_by_route_not_by_address(app: Flask, term: Any) -> None:
    client = browser_of(app, "ada")
    route = "GET", "/terms/<int:term_id>/mine"
    before = scraped(client).get(("fairseat_requests_total", (*route, "200")), 0)
    client.get(f"/terms/{term.id}/mine")
    client.open("/nowhere/at-all", method="BREW")
    now = scraped(client)
    assert now["fairseat_requests_total", (*route, "200")] == before + 1
    assert now["fairseat_request_seconds_count", route] >= 1
    assert now["fairseat_requests_total", ("other", "none", "404")] >= 1
    assert not [labels for _, labels in now if "nowhere" in str(labels) or "BREW" in labels]


def test_decisions_are_counted_once_with_their_reasons(term: Any, cast: Cast) -> None:
    def number(name: str, **labels: str) -> float:
        return REGISTRY.get_sample_value(name, labels) or 0

    course = builders.a_course()
    full, free = (builders.a_section(course, term, capacity=seats) for seats in (0, 1))
    refused = number("fairseat_refusals_total", reason="full")
    enrolled = number("fairseat_decisions_total", act="claim", outcome="enrolled")
    for section, key in ((full, "first-key"), (full, "first-key"), (free, "second-key")):
        register.claim(cast.ada.id, term.id, section.id, key=key)
    assert number("fairseat_refusals_total", reason="full") == refused + 1
    assert number("fairseat_decisions_total", act="claim", outcome="enrolled") == enrolled + 1


def test_what_is_not_recorded_yet_shows(client: FlaskClient) -> None:
    rush = a_rush(sections=1, students=3)
    claims(rush, [(student, rush.sections[0]) for student in rush.students])
    found = scraped(client)
    assert found["fairseat_unrecorded_events", (str(rush.term),)] >= 3
    assert found["fairseat_queue_workers", ("record",)] == 0
    assert found["fairseat_scheduler_up", ()] == 0


def test_it_tells_how_old_the_last_backup_is(client: FlaskClient) -> None:
    age = "fairseat_backup_age_seconds", ()
    assert scraped(client)[age] == 0
    audited(hours=3, action="room.limits")
    assert scraped(client)[age] >= 3 * 3600  # as nothing of it is in a backup
    audited(hours=2, action="backup.made")
    assert 2 * 3600 <= scraped(client)[age] < 3 * 3600


def audited(hours: int, action: str) -> None:
    """Something that was done so many hours ago."""
    with transaction() as session:
        at = func.now() - timedelta(hours=hours)
        session.add(AuditEntry(action=action, subject="portal", at=at))


@pytest.mark.parametrize("command", ["audit", "repair", "rebuild record", "rebuild ledger --yes"])
def test_a_command_that_finds_no_difference_ends_the_alert(
    client: FlaskClient, command: str
) -> None:
    rush = a_rush(sections=1, students=1)
    differing = {"where": "ledger roster", "what": "a test"}
    audit_runs.store(rush.term, {"events": 1, "unrecorded": 0, "differences": [differing]})
    audit_runs.store(
        rush.term, {"events": 1, "unrecorded": 3, "differences": []}
    )  # which tells nothing
    assert scraped(client)["fairseat_audit_differences", (str(rush.term),)] == 1
    assert CliRunner().invoke(main, command.split()).exit_code == 0
    assert scraped(client)["fairseat_audit_differences", (str(rush.term),)] == 0


def test_a_round_is_as_old_as_its_end(client: FlaskClient) -> None:
    rush, age = a_rush(sections=120, students=1), "fairseat_reconcile_age_seconds"
    continuous_audit.audit_next_part(rush.term)
    with transaction() as session:
        session.execute(update(ContinuousAudit).values(whole_at=func.now() - timedelta(hours=2)))
    continuous_audit.audit_next_part(rush.term, seconds=0)  # the first part of the next round
    assert scraped(client)[age, (str(rush.term),)] >= 7200
    continuous_audit.audit_next_part(rush.term)
    assert scraped(client)[age, (str(rush.term),)] < 7200


def test_the_first_event_that_is_not_recorded_tells_how_far_behind_the_recorder_is(
    client: FlaskClient, backend: Backend
) -> None:
    rush, age = a_rush(sections=1, students=3), "fairseat_checkpoint_age_seconds"
    claim(rush, rush.students[0], rush.sections[0])
    drain(rush.term)
    with transaction() as session:  # a quiet night
        session.execute(update(Checkpoint).values(moved_at=func.now() - timedelta(hours=9)))
    assert scraped(client)[age, (str(rush.term),)] == 0
    claim(rush, rush.students[1], rush.sections[0])
    assert scraped(client)[age, (str(rush.term),)] < 7200
    make_old(rush.term, hours=2)
    claim(rush, rush.students[2], rush.sections[0])
    assert scraped(client)[age, (str(rush.term),)] >= 7200
    backend.redis.delete(f"{prefix(rush.term)}:journal")  # so nobody knows
    assert scraped(client)[age, (str(rush.term),)] >= 9 * 3600


def test_parts_that_are_away_leave_their_figures_out(client: FlaskClient, servers: Any) -> None:
    with without(servers, "postgres", embedded_postgres.answers):
        found = scraped(client)
    assert found["fairseat_postgresql_up", ()] == 0
    assert found["fairseat_ledger_up", ()] == 1
    assert ("fairseat_mails_due", ()) not in found


def test_a_part_that_hangs_keeps_no_scrape_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = Event()
    monkeypatch.setattr(prometheus, "TIMEOUT", 0.01)
    monkeypatch.setattr(prometheus, "read", lambda: go_on.wait(60) and ())
    asked = prometheus.Gathering()
    assert [each.name for each in asked.collect()] == ["fairseat_gathered_age_seconds"]
    reading = asked.under_way
    assert reading
    go_on.set()
    reading.join()


def test_lag_sizes_and_pauses_are_exported(client: FlaskClient, cast: Cast) -> None:
    rush = a_rush(sections=1, students=1)
    claims(rush, [(rush.students[0], rush.sections[0])])
    drain(rush.term)
    flags.change(Switching("queue_notify", on=False, version=0, reason="tests"), cast.max.id)
    found = scraped(client)
    for stage in ("created", "recorded", "projected"):
        lag = "fairseat_event_lag_quantile_seconds"
        assert found[lag, ("enrolled", "0.99", stage)] >= 0
    assert found["fairseat_database_bytes", ("others",)] > 0
    assert len([1 for name, _ in found if name == "fairseat_database_bytes"]) > 5
    assert found["fairseat_ledger_memory_bytes", ()] > 100_000
    assert found["fairseat_queue_paused", ("notify",)] == 1
    assert found["fairseat_queue_paused", ("record",)] == 0
    flags.change(Switching("queue_notify", on=True, version=1, reason="tests"), cast.max.id)


def seen(node: Node) -> dict[tuple[str, tuple[str, ...]], float]:
    """What a web server tells."""
    line = HTTPConnection("127.0.0.1", node.port, timeout=60)
    line.request("GET", "/metrics")
    text = line.getresponse().read().decode()
    line.close()
    return samples(text)


@pytest.fixture
def counting(backend: Backend, tmp_path: Path) -> dict[str, str]:  # noqa: ARG001
    """What leads processes to one folder of counts."""
    folder = tmp_path / "metrics"
    folder.mkdir()
    return {"PROMETHEUS_MULTIPROC_DIR": str(folder)}


def test_scrape_succeeds_while_a_process_that_starts_opens_its_files(
    app: Flask, counting: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, folder in counting.items():
        monkeypatch.setenv(name, folder)
        (Path(folder) / "counter_1.db").touch()
    assert scraped(app.test_client())


def test_web_processes_find_a_folder_to_share(
    backend: Backend,  # noqa: ARG001
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PROMETHEUS_MULTIPROC_DIR", raising=False)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    with a_node(tmp_path, {"WEB_CONCURRENCY": "2", "TMPDIR": str(temporary)}) as node:

        def both() -> bool:
            return seen(node)["fairseat_processes", ("web",)] == 2

        wait_for(both)
    assert not list(temporary.glob("fairseat-metrics-*"))


def test_one_scrape_tells_of_all_processes_and_forgets_the_dead(
    counting: dict[str, str], tmp_path: Path
) -> None:
    rush = a_rush(sections=1, students=1)
    command = [sys.executable, "-m", "portal.runtime.cli", "worker", "record"]
    worker = subprocess.Popen(command, env={**os.environ, **counting})
    try:
        with a_node(tmp_path, counting) as node:
            ready("record")
            claims(rush, [(rush.students[0], rush.sections[0])])
            enqueue(rush.term, ["record"])
            wait_for(lambda: seen(node).get(("fairseat_event_lag_seconds_count", ()), 0) > 0)
            assert seen(node)["fairseat_processes", ("web",)] == 1
            for kind in ("web", "record"):  # which sample themselves
                wait_for(lambda kind=kind: ("fairseat_memory_bytes", (kind,)) in seen(node))
                assert seen(node)["fairseat_memory_bytes", (kind,)] > 10_000_000
                for store, most in (("ledger", 64), ("postgresql", 20)):
                    told = seen(node)
                    assert told["fairseat_pool_limit", (kind, store)] == most
                    assert 0 <= told["fairseat_pool_connections", (kind, store)] <= most
            assert seen(node)["fairseat_processes", ("record",)] == 1
            worker.kill()
            worker.wait()
            assert ("fairseat_processes", ("record",)) not in seen(node)
            assert seen(node)["fairseat_event_lag_seconds_count", ()] > 0
    finally:
        worker.kill()
        worker.wait()
