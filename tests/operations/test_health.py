"""GET /live, /ready and /health, on parts that work, that are gone and that hang."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import psutil
import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import text

from portal.backend import Backend
from portal.core import schema
from portal.ledger.function_library import prefix
from portal.operations import workers as crew
from portal.recorder.recorder import drain
from portal.runtime import embedded_postgres, embedded_valkey
from portal.runtime.child_process import Child
from portal.runtime.embedded_servers import Servers
from portal.web import monitoring
from tests import cast as builders
from tests import commands
from tests.cast import Cast
from tests.owner_role import as_owner
from tests.web.api.callers import caller
from tests.web.visitors import browser_of

pytestmark = pytest.mark.xdist_group("health")


@pytest.fixture(autouse=True)
def asked_anew() -> None:
    """No answer of an earlier test is given again."""
    monitoring.checks.cache_clear()


@pytest.fixture
def workers(client: FlaskClient, tmp_path: Path) -> Iterator[list[Child]]:  # noqa: ARG001
    """Workers on the queues that promises depend on."""
    children = [
        commands.child(queue, "worker", queue, log=tmp_path / queue)
        for queue in ("record", "promote")
    ]
    for child in children:
        child.start()
    yield children
    for child in children:
        child.stop()


def until_ready(client: FlaskClient) -> None:
    deadline = time.monotonic() + 60
    while client.get("/ready").status_code != 200:
        assert time.monotonic() < deadline, client.get("/ready").json
        time.sleep(0.2)


def missing(client: FlaskClient) -> list[str]:
    answer = client.get("/ready")
    assert answer.status_code == 503
    assert answer.json
    return list(answer.json["missing"])


@contextmanager
def without(servers: Servers, name: str, answers: Callable[[Path], bool]) -> Iterator[None]:
    """A block in which a server is stopped."""
    child = next(each for each in servers.children if each.name == name)
    child.stop()
    try:
        yield
    finally:
        child.start()
        while not answers(servers.sockets or Path()):
            time.sleep(0.05)


@contextmanager
def stalled(servers: Servers, name: str) -> Iterator[None]:
    """A block in which a server takes connections and says nothing."""
    child = next(each for each in servers.children if each.name == name)
    assert child.process
    family = [child.process.pid]
    family += [each.pid for each in psutil.Process(child.process.pid).children(recursive=True)]
    for pid in family:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in family:
            os.kill(pid, signal.SIGCONT)


def test_it_lives_whatever_else_does_not(client: FlaskClient, servers: Servers) -> None:
    with without(servers, "postgres", embedded_postgres.answers):
        assert client.get("/live").json == {"status": "alive"}


@pytest.mark.usefixtures("workers")
def test_it_is_ready_when_all_can_serve(client: FlaskClient) -> None:
    until_ready(client)
    assert client.get("/ready").json == {"ready": True, "missing": [], "replicas": 0}
    report = client.get("/health").json
    assert report
    assert report["status"] == "healthy"
    assert report["services"] == dict.fromkeys(("database", "cache", "queue"), "healthy")
    assert {"timestamp", "version"} < set(report)


ELSEWHERE = {"REMOTE_ADDR": "203.0.113.9"}
THROUGH_A_PROXY = {"HTTP_X_FORWARDED_FOR": "203.0.113.9"}


@pytest.mark.parametrize("asks", [ELSEWHERE, THROUGH_A_PROXY], ids=["elsewhere", "proxy"])
def test_strangers_read_nothing_but_whether_it_serves(
    client: FlaskClient, asks: dict[str, str]
) -> None:
    health_, ready = (client.get(page, environ_overrides=asks) for page in ("/health", "/ready"))
    assert (health_.status_code, health_.json) == (503, {"status": "unhealthy"})
    assert (ready.status_code, ready.json) == (503, {"ready": False})


def test_a_client_with_rights_reads_every_field(
    app: Flask, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(app.config["SETTINGS"], metrics_token="of-the-monitor")
    monkeypatch.setitem(app.config, "SETTINGS", settings)
    stranger, admin, student = app.test_client(), caller(app, "max").token, caller(app, "ada").token
    brought = {"of-the-monitor": True, admin: True, student: False, "fs_made-up": False}
    for token, allowed in brought.items():
        headers = {"Authorization": f"Bearer {token}"}
        told = stranger.get("/health", headers=headers, environ_overrides=ELSEWHERE).json
        assert told
        fields = {"status", "timestamp", "version", "services", "replicas", "dead_letters"}
        assert set(told) == (fields if allowed else {"status"})
        missing = stranger.get("/ready", headers=headers, environ_overrides=ELSEWHERE).json
        assert ("missing" in (missing or {})) == allowed
    assert cast


def test_an_admin_who_has_logged_in_reads_every_field(app: Flask, cast: Cast) -> None:
    for username, allowed in (("max", True), ("ada", False)):
        told = browser_of(app, username).get("/health", environ_overrides=ELSEWHERE).json
        assert told
        assert ("services" in told) == allowed
    assert cast


def test_it_is_not_ready_without_workers(client: FlaskClient) -> None:
    assert missing(client) == ["record worker", "promote worker"]


def test_it_is_not_ready_while_one_worker_is_missing(
    client: FlaskClient, workers: list[Child]
) -> None:
    until_ready(client)
    workers[1].stop()
    time.sleep(0.6)  # an answer is given again for half a second
    assert missing(client) == ["promote worker"]


def test_a_killed_worker_is_missed_soon(
    client: FlaskClient, workers: list[Child], monkeypatch: pytest.MonkeyPatch
) -> None:
    until_ready(client)
    monkeypatch.setattr(crew, "SILENCE", timedelta(seconds=2))
    for worker in workers:
        worker.kill()
    time.sleep(2.1)
    assert missing(client) == ["record worker", "promote worker"]


@pytest.mark.usefixtures("workers")
def test_it_is_not_ready_without_postgresql(client: FlaskClient, servers: Servers) -> None:
    until_ready(client)
    time.sleep(0.6)
    with without(servers, "postgres", embedded_postgres.answers):
        assert missing(client) == ["database"]
        report = client.get("/health")
        assert report.status_code == 503
        assert report.json
        assert report.json["services"]["database"] == "unhealthy"
        assert report.json["services"]["cache"] == "healthy"


@pytest.mark.parametrize(("revision", "serves"), [("0001", False), ("next", True)])
def test_it_serves_on_tables_of_the_version_after_it_but_not_on_older_ones(
    client: FlaskClient, revision: str, *, serves: bool
) -> None:
    with migrated_to(revision):
        assert ("database" not in missing(client)) == serves


@contextmanager
def migrated_to(revision: str) -> Iterator[None]:
    """A block in which the tables say that they are of that revision."""

    def say(which: str | None) -> None:
        with as_owner() as session:
            session.execute(text("UPDATE alembic_version SET version_num = :at"), {"at": which})

    say(revision)
    try:
        yield
    finally:
        say(schema.newest())


def test_it_is_not_ready_without_the_ledger(client: FlaskClient, servers: Servers) -> None:
    with without(servers, "valkey", embedded_valkey.answers):
        assert missing(client) == ["ledger", "record worker", "promote worker"]


def test_it_is_not_ready_without_the_functions(client: FlaskClient, backend: Backend) -> None:
    backend.redis.function_flush()
    assert "ledger" in missing(client)
    backend.ledger.library.load()
    assert "ledger" not in missing(client)  # at once: other processes may have said so already


def test_it_is_not_ready_while_the_ledger_knows_less_than_is_recorded(
    client: FlaskClient, backend: Backend
) -> None:
    term = builders.a_term()
    builders.a_section(builders.a_course(), term)
    drain(term.id)
    assert "record" not in missing(client)
    backend.redis.delete(f"{prefix(term.id)}:seq")
    time.sleep(0.6)
    assert "record" in missing(client)


@pytest.mark.parametrize("name", ["postgres", "valkey"])
def test_it_says_so_soon_where_a_part_hangs(
    client: FlaskClient, servers: Servers, name: str
) -> None:
    with stalled(servers, name):
        asked = time.monotonic()
        assert {"postgres": "database", "valkey": "ledger"}[name] in missing(client)
        assert time.monotonic() - asked < 10


def test_it_tells_nothing_about_its_inside(client: FlaskClient, servers: Servers) -> None:
    with without(servers, "postgres", embedded_postgres.answers):
        said = client.get("/ready").text + client.get("/health").text
    for secret in (str(servers.sockets), "fairseat@", "psycopg2", "Traceback"):
        assert secret not in said
