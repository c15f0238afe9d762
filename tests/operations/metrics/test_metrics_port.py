"""Processes without a web server show their metrics at a port, to those who may see them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection

import pytest

from tests.operations.metrics.test_scrape import samples
from tests.ports import free_port

Shown = tuple[int, str]  # the status and the text of an answer


@contextmanager
def a_worker_on_its_own(token: str = "") -> Iterator[int]:
    """A process that shares no folder with a web server, and the port that it shows itself at."""
    port = free_port()
    env = {name: text for name, text in os.environ.items() if name != "PROMETHEUS_MULTIPROC_DIR"}
    code = "from portal.core import metrics; metrics.begin('record'); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env=env | {"FAIRSEAT_METRICS_PORT": str(port), "FAIRSEAT_METRICS_TOKEN": token},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as worker:
        assert worker.stdout
        worker.stdout.readline()
        try:
            yield port
        finally:
            worker.kill()


def shown(port: int, path: str = "/metrics", host: str = "127.0.0.1", **headers: str) -> Shown:
    """What it answers."""
    line = HTTPConnection(host, port, timeout=60)
    line.request("GET", path, headers=headers)
    answer = line.getresponse()
    found = answer.status, answer.read().decode()
    line.close()
    return found


def test_a_worker_on_its_own_shows_itself_to_this_machine_alone() -> None:
    with a_worker_on_its_own() as port:
        status, text = shown(port)
        with pytest.raises(ConnectionRefusedError):
            shown(port, host="127.0.0.2")  # which it would hear, did it listen for others
    assert status == 200
    assert samples(text)["fairseat_processes", ("record",)] == 1


def test_where_there_is_a_token_a_worker_shows_itself_to_who_has_it() -> None:
    with a_worker_on_its_own("sesame") as port:
        asked = {token: shown(port, Authorization=f"Bearer {token}") for token in ("sesam", "")}
        status, text = shown(port, host="127.0.0.2", Authorization="Bearer sesame")
        assert shown(port)[0] == 403
        assert shown(port, "/live") == (200, "alive\n")
        assert shown(port, "/")[0] == 404
    assert set(asked.values()) == {(403, "")}
    assert status == 200
    assert samples(text)["fairseat_processes", ("record",)] == 1
