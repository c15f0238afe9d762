"""A real web server for requests as bytes."""

from collections.abc import Iterator

import pytest

from portal.backend import Backend
from tests.live.nodes import Node, a_node


@pytest.fixture(scope="package")
def node(connected: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:  # noqa: ARG001
    """Start a web server with short timeouts on the tests' database and ledger."""
    short = {"GUNICORN_CMD_ARGS": "--keep-alive 5"}
    with a_node(
        tmp_path_factory.mktemp("http"), short, "tests.web.http.short_timeouts:app"
    ) as node:
        yield node
