"""What the supervisor and other programs take for a portal that is ready."""

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from portal.runtime.listener import UNNAMED, not_ready

Portal = Callable[[int, str], str]


@pytest.fixture
def portal() -> Iterator[Portal]:
    """Make a portal that gives one answer; to a token, it names what is missing."""
    made: list[ThreadingHTTPServer] = []

    def answering(status: int, body: str) -> str:
        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                known = self.headers.get("Authorization") == "Bearer monitor"
                self.send_response(status)
                self.end_headers()
                self.wfile.write(
                    b'{"ready": false, "missing": ["ledger"]}' if known else body.encode()
                )

        made.append(ThreadingHTTPServer(("127.0.0.1", 0), Answer))
        Thread(target=made[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{made[-1].server_port}"

    yield answering
    for each in made:
        each.shutdown()
        each.server_close()


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('{"ready": false}', UNNAMED),
        ('{"ready": false, "missing": []}', UNNAMED),
        ('{"ready": false, "missing": ["ledger", "database"]}', "ledger, database"),
        ("{}", UNNAMED),
        ("[]", UNNAMED),
        ("no JSON", "the web server answers with an error"),
    ],
)
def test_a_portal_that_refuses_is_not_ready_whatever_it_names(
    portal: Portal, body: str, told: str
) -> None:
    assert not_ready(portal(503, body)) == told


def test_a_portal_that_answers_well_is_ready(portal: Portal) -> None:
    assert not_ready(portal(200, '{"ready": true}')) == ""


def test_the_token_of_monitors_shows_what_is_missing(portal: Portal) -> None:
    address = portal(503, '{"ready": false}')
    assert not_ready(address, "monitor") == "ledger"
    assert not_ready(address, "wrong\n") == UNNAMED


def test_a_portal_that_does_not_answer_is_not_ready() -> None:
    assert not_ready("http://127.0.0.1:1") == "the web server does not answer"
