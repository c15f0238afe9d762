"""Alert rules: right by promtool, and each fires in a real Prometheus when its fault is there."""

import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from sqlalchemy.sql import func

from portal.backend import Backend
from portal.core.audit_trail import AuditEntry
from portal.core.breakers import FAILURES, Breaker
from portal.core.db import transaction
from portal.core.queue import enqueue
from portal.core.settings import ROOT
from portal.exchange.importing import import_jobs as imports
from portal.exchange.importing.models import Options
from portal.notifications.models import OutboxEntry
from portal.notifications.webhooks import receivers
from portal.notifications.webhooks.models import Delivery
from portal.notifications.webhooks.receivers import ChangedBy
from portal.recorder.consistency import fence
from portal.recorder.models import AuditRun, ContinuousAudit
from portal.runtime import embedded_postgres, embedded_valkey
from portal.runtime.child_process import Child
from portal.runtime.embedded_servers import Servers
from portal.waiting_room import draw_codes
from tests.cast import MINUTE, Cast, a_coming_window
from tests.live.nodes import Node, a_node
from tests.notifications.stories import Story, a_story, outbox
from tests.operations.metrics import tools
from tests.operations.test_health import without
from tests.ports import free_port
from tests.recorder.old_events import make_old
from tests.recorder.poisoned_journal import mark_dead
from tests.recorder.processes import wait_for
from tests.waiting_room.rooms import known_in

pytestmark = pytest.mark.slow

FILES = ROOT / "docker" / "prometheus"
FAST = "200ms"


@pytest.mark.parametrize(
    "arguments",
    [("check", "config", "prometheus.yml"), ("test", "rules", "alerts_test.yml")],
)
def test_promtool_finds_nothing_wrong(arguments: tuple[str, ...]) -> None:
    tool = tools.find("promtool")
    assert tool, "make test fetches it"
    said = subprocess.run(
        [tool, *arguments], cwd=FILES, check=False, capture_output=True, text=True
    )
    assert said.returncode == 0, said.stdout + said.stderr


def test_each_alert_leads_to_a_part_of_the_docs() -> None:
    told = (ROOT / "docs" / "operators-guide.md").read_text()
    headings = {_anchor(line) for line in told.splitlines() if line.startswith("#")}
    alert_rules = (FILES / "alerts.yml").read_text()
    links = re.findall(r"runbook: docs/operators-guide.md#(\S+)", alert_rules)
    assert len(links) == len(alerts())
    assert set(links) <= headings


def _anchor(heading: str) -> str:
    return re.sub(r"[^a-z0-9 -]", "", heading.lstrip("# ").lower()).replace(" ", "-")


def alerts() -> set[str]:
    """The names of all."""
    return set(re.findall(r"alert: (\w+)", (FILES / "alerts.yml").read_text()))


@dataclass(frozen=True)
class Prometheus:
    """One that runs, with our rules."""

    port: int

    def get(self, path: str) -> Any:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://127.0.0.1:{self.port}{path}", timeout=30) as answer:
            return json.load(answer)["data"]

    def firing(self) -> set[str]:
        found = self.get("/api/v1/alerts")["alerts"]
        return {each["labels"]["alertname"] for each in found if each["state"] == "firing"}

    def value(self, query: str) -> float | None:
        found = self.get(f"/api/v1/query?query={query}")["result"]
        return float(found[0]["value"][1]) if found else None

    def until(self, *names: str) -> None:
        """Wait until all of these fire."""
        missing = set(names)

        def all_fire() -> bool:
            missing.difference_update(self.firing())
            return not missing

        try:
            wait_for(all_fire)
        except AssertionError as error:
            raise AssertionError(f"silent: {missing}") from error


@pytest.fixture
def node(backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Node]:  # noqa: ARG001
    """A web server with the address of a mail server that does not exist."""
    counts = tmp_path / "metrics"
    counts.mkdir()
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(counts))
    with a_node(tmp_path, {"FAIRSEAT_SMTP": "smtp://127.0.0.1:1"}) as node:
        yield node


@pytest.fixture
def prometheus(node: Node, tmp_path: Path) -> Iterator[Prometheus]:
    """The shipped settings and rules, in a hurry: nothing waits before it fires."""
    rules = (FILES / "alerts.yml").read_text()
    (tmp_path / "alerts.yml").write_text(re.sub(r"for: \d+[ms]", "for: 0s", rules))
    config = (FILES / "prometheus.yml").read_text().replace("127.0.0.1:8000", node.host)
    (tmp_path / "prometheus.yml").write_text(
        re.sub(r"(interval|timeout): \d+s", rf"\1: {FAST}", config)
    )
    port, tool = free_port(), tools.find("prometheus")
    assert tool, "make test fetches it"
    command = [
        tool,
        f"--config.file={tmp_path}/prometheus.yml",
        f"--storage.tsdb.path={tmp_path}/tsdb",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    child = Child("prometheus", command, tmp_path / "prometheus.log")
    child.start()
    found = Prometheus(port)
    try:
        wait_for(lambda: _answers(found))
        yield found
    finally:
        child.stop(5)


def _answers(prometheus: Prometheus) -> bool:
    try:
        return prometheus.value("fairseat_ledger_up") == 1
    except OSError:
        return False


def test_each_alert_fires_on_its_fault(
    prometheus: Prometheus, node: Node, backend: Backend, servers: Servers, cast: Cast
) -> None:
    heard, story = set[str](), a_story(cast)

    def fires(*names: str) -> None:
        prometheus.until(*names)
        heard.update(names)

    fires("FairseatWorkersMissing", "FairseatSchedulerMissing")
    with _recorded_late(story, cast):
        fires("FairseatRecordingLags")
    _break_all(backend, story, cast)
    fires(
        "FairseatUnrecorded",
        "FairseatCheckpointOld",
        "FairseatDeadLetter",
        "FairseatBreakerOpen",
        "FairseatLedgerDiffers",
        "FairseatMailBacklog",
        "FairseatMailsGivenUp",
        "FairseatImportStopped",
        "FairseatReconcileDiffers",
        "FairseatReconcileOld",
        "FairseatFenced",
        "FairseatWebhooksGivenUp",
        "FairseatBackupOld",
        "FairseatDrawCodesLate",
    )
    backend.redis.config_set("min-replicas-to-write", 1)
    fires("FairseatTooFewReplicas")
    backend.redis.config_set("min-replicas-to-write", 0)
    with without(servers, "postgres", embedded_postgres.answers):
        fires("FairseatPostgresqlAway")
    with without(servers, "valkey", embedded_valkey.answers):
        fires("FairseatLedgerAway")
    node.child.stop(5)
    fires("FairseatNodeDown")
    assert heard == alerts() - {"FairseatFiguresStale"}  # tests/operations/metrics/test_scrape.py


@contextmanager
def _recorded_late(story: Story, cast: Cast) -> Iterator[None]:
    """A block with a recorder that comes to decisions older than a second."""
    story.claim(cast.ada)
    time.sleep(1.2)
    enqueue(story.term.id, ["record"])
    # Not forked: the client of Prometheus reads where to count as it is imported.
    with subprocess.Popen([sys.executable, "-m", "portal.runtime.cli", "worker", "record"]) as one:
        try:
            yield
        finally:
            one.kill()


def _break_all(backend: Backend, story: Story, cast: Cast) -> None:
    """All that PostgreSQL and the ledger have to be there to tell of."""
    _make_a_draw_late(story, cast)
    for giver, taker in ((cast.ada, cast.ben), (cast.ben, cast.cleo)):
        story.hand_over(giver, taker)
    long_ago = func.now() - timedelta(hours=2)
    one, other = (mail.id for mail in outbox())
    story.claim(*[cast.dan] * 110)  # in line, and then refused: decisions nonetheless
    make_old(story.term.id, hours=1)
    with transaction() as session:
        session.execute(update(OutboxEntry).where(OutboxEntry.id == one).values(due_at=long_ago))
        session.execute(
            update(OutboxEntry).where(OutboxEntry.id == other).values(dead_at=func.now())
        )
        import_id = imports.begin(session, imports.NewImport(None, "a.zip", "", Options()))
        imports.change_state(session, import_id, "enrolling", of=("waiting",), error="so")
        session.add(AuditRun(term_id=story.term.id, found=2, ended_at=datetime.now(UTC)))
        session.add(
            ContinuousAudit(term_id=story.term.id, found=2, at=func.now(), whole_at=long_ago)
        )
        days_ago = func.now() - timedelta(days=2)
        session.add(AuditEntry(action="backup.made", subject="portal", at=days_ago))
        hook = receivers.make(
            session, "https://x.example/", ["left"], ChangedBy(cast.max.id, "a test")
        )
        session.add(Delivery(webhook_id=hook.id, dead_at=func.now()))
    enqueue(story.term.id, ["record"])
    mark_dead(backend, "poison")
    fence.put_up(story.term.id, "a test")
    breaker = Breaker("The mail server", (OSError,), "mail")
    for _ in range(FAILURES):
        with suppress(OSError):
            breaker.call(_fail)


def _make_a_draw_late(story: Story, cast: Cast) -> None:
    window = a_coming_window(story.term, minutes=60)
    at = window.opens - 30 * MINUTE
    draw_codes.name_source(story.term.id, window, 0, "lottery", at, cast.max.id, "a test")
    known_in(window, 7)


def _fail() -> None:
    raise OSError
