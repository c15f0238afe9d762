"""Pages of a real web server while PostgreSQL takes connections and says nothing."""

import time
from http.client import HTTPConnection
from pathlib import Path

import pytest
from flask import Flask

from portal.runtime.embedded_servers import Servers
from tests import cast as builders
from tests.cast import Cast
from tests.live.nodes import Node, a_node
from tests.live.tabs import cookie
from tests.operations.test_health import stalled

pytestmark = pytest.mark.xdist_group("health")


def visit(node: Node, path: str, session: str) -> tuple[int, float]:
    """The status of a page, and the seconds that it took."""
    line, requested = HTTPConnection("127.0.0.1", node.port, timeout=30), time.monotonic()
    try:
        line.request("GET", path, headers={"Cookie": session})
        answer = line.getresponse()
        answer.read()
        return answer.status, time.monotonic() - requested
    finally:
        line.close()


def test_silent_database_delays_only_one_page(
    application: Flask, servers: Servers, cast: Cast, tmp_path: Path
) -> None:
    term = builders.a_term()
    builders.an_open_window(term)
    builders.a_section(builders.a_course(), term)
    page, ada = f"/terms/{term.id}", cookie(application, cast.ada.account_id)
    with a_node(tmp_path) as node:
        assert visit(node, page, ada)[0] == 200
        with stalled(servers, "postgres"):
            time.sleep(5.1)  # what the process remembers is too old by now
            status, took = visit(node, page, ada)
            assert (status, took < 15) == (200, True), took
            until = time.monotonic() + 12  # longer than any of it counts as current
            waits = []
            while time.monotonic() < until:
                status, took = visit(node, page, ada)
                assert status == 200
                waits.append(took)
                time.sleep(0.2)
            assert max(waits) < 10  # one in five seconds looks whether PostgreSQL speaks again
            assert sum(took > 2.5 for took in waits) <= 3
        deadline = time.monotonic() + 60
        ben = cookie(application, cast.ben.account_id)
        while visit(node, page, ben)[0] != 200:
            assert time.monotonic() < deadline
            time.sleep(0.2)
