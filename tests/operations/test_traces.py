"""Traces go to an OTLP receiver where one is named; else nothing of OpenTelemetry is there."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests import commands
from tests.cast import Cast
from tests.live.nodes import a_node
from tests.notifications.stories import Story, a_story
from tests.people.tokens import a_token
from tests.recorder.processes import ready, wait_for

CODE = "0123456789abcdef-for-a-trace"


@dataclass
class Receiver:
    """An OTLP/HTTP receiver that keeps what it is sent."""

    spans: list[Any] = field(default_factory=list)
    address: str = ""

    def of(self, code: str) -> list[Any]:
        return [each for each in self.spans if _attributes(each).get("correlation") == code]


def _attributes(span: Any) -> dict[str, str]:
    return {each.key: each.value.string_value for each in span.attributes}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()

    class Door(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told = ExportTraceServiceRequest()
            told.ParseFromString(self.rfile.read(int(self.headers["Content-Length"])))
            for resource in told.resource_spans:
                for scope in resource.scope_spans:
                    found.spans.extend(scope.spans)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Door) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        found.address = f"http://127.0.0.1:{server.server_port}"
        yield found
        server.shutdown()


def test_one_trace_tells_of_request_decision_job_and_statements(
    receiver: Receiver, cast: Cast, tmp_path: Path
) -> None:
    story: Story = a_story(cast)
    story.claim(cast.ada)
    env = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.address,
        "OTEL_BSP_SCHEDULE_DELAY": "100",
        "FAIRSEAT_PROXIES": "1",
        "FAIRSEAT_GATE": "0",
    }
    secret = a_token(cast.ada.account_id)
    worker = commands.start("worker", "record", env={**os.environ, **env})
    try:
        with a_node(tmp_path, env) as node:
            ready("record")
            story.record()
            line = HTTPConnection("127.0.0.1", node.port, timeout=60)
            headers = {
                "Authorization": f"Bearer {secret}",
                "Idempotency-Key": "traced-1",
                "X-Correlation-Id": CODE,
                "Content-Type": "application/json",
            }
            body = f'{{"student_id": {cast.ada.id}, "section_id": {story.section.id}}}'
            line.request("POST", "/api/v1/register/drop", body, headers)
            assert line.getresponse().status == 200
            line.close()

            def names() -> set[str]:
                return {span.name for span in receiver.of(CODE)}

            wait_for(lambda: {"jobs.record.drain", "fairseat drop"} <= names())
            wait_for(lambda: any(name.startswith("POST /api/v1") for name in names()))
            wait_for(lambda: any(name.startswith("INSERT") for name in names()))
            wait_for(lambda: {"XRANGE", "HDEL", "EVALSHA"} & names() or "MULTI" in str(names()))
            job = next(each for each in receiver.of(CODE) if each.name == "jobs.record.drain")
            asked = next(each for each in receiver.of(CODE) if each.name.startswith("POST"))
            assert job.trace_id == asked.trace_id
    finally:
        worker.kill()
        worker.wait()
    assert secret not in str(receiver.spans)


@pytest.mark.usefixtures("backend")
def test_nothing_of_it_is_imported_where_no_one_wants_it() -> None:
    # Nothing that would trace or send; the Redis client looks for the rest where it is installed.
    code = (
        "import sys, wsgi, portal.core.worker, portal.operations.scheduler;"
        "parts = 'opentelemetry.exporter', 'opentelemetry.instrumentation',"
        "    'portal.core.opentelemetry';"
        "print([name for name in sys.modules if name.startswith(parts)])"
    )
    env = {name: text for name, text in os.environ.items() if not name.startswith("OTEL_")}
    said = subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True)
    assert said.stdout.strip() == b"[]"
