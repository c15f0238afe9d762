"""What is put right about the socket library, with the server that is used."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from simple_websocket import Client

from tests.live.large_frames import SIZE
from tests.live.nodes import Node, a_node


@pytest.fixture
def big(logs: Path) -> Iterator[Node]:
    with a_node(logs, app="tests.live.large_frames:app") as node:
        yield node


def test_a_large_frame_arrives_whole_at_a_slow_reader(big: Node) -> None:
    client = Client.connect(f"ws://{big.host}/ws", receive_bytes=65536)
    time.sleep(0.3)
    assert len(client.receive(timeout=30)) == SIZE
    assert client.receive(timeout=30) == "end"
    client.close()
