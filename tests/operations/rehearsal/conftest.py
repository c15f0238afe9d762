"""A real web server to rehearse against."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from portal.backend import Backend
from tests.live.nodes import Node, a_node


@pytest.fixture(scope="package")
def node(connected: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:  # noqa: ARG001
    """A web server as in production, but that its puzzles are small."""
    with a_node(tmp_path_factory.mktemp("web"), {"FAIRSEAT_CAPTCHA_COST": "2000"}) as node:
        yield node


@pytest.fixture
def portal(backend: Backend, node: Node) -> Iterator[Node]:
    """The same, empty, and known to this process as the portal's address."""
    before = backend.settings
    backend.settings = replace(before, url=node.origin)
    yield node
    backend.settings = before
