"""What every process writes: a JSON object a line, under one code from the browser to the mail."""

import json
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from email import message_from_bytes
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import psycopg2
import pytest
from sqlalchemy import text

from portal.app import create_app
from portal.backend import Backend
from portal.core import logs
from portal.core.correlation import HEADER, correlation, following
from portal.core.db import transaction
from tests import commands
from tests.cast import PASSWORD, Cast
from tests.live.nodes import Node, a_node
from tests.notifications.stories import Story, a_story
from tests.people.tokens import a_token
from tests.recorder.processes import ready, wait_for

CODE = "0123456789abcdef-from-our-proxy"
QUEUES = ("record", "promote", "notify")


@dataclass(frozen=True)
class Portal:
    """A web server behind one proxy, with workers, and what they have written."""

    node: Node
    folder: Path

    def lines(self, name: str) -> list[dict[str, Any]]:
        """Return the log of a process; each line must be JSON."""
        (log,) = self.folder.glob(f"{name}*.log")
        return [json.loads(line) for line in log.read_text().splitlines()]

    def tell_of(self, code: str) -> set[str]:
        """Return the processes with a code in their logs."""
        return {log.stem for log in self.folder.glob("*.log") if code in log.read_text()}

    def mails(self) -> list[Any]:
        files = (self.folder / "var" / "mail").glob("*.eml")
        return [message_from_bytes(each.read_bytes()) for each in files]


@pytest.fixture
def story(cast: Cast) -> Story:
    return a_story(cast)


@pytest.fixture
def portal(story: Story, tmp_path: Path) -> Iterator[Portal]:  # noqa: ARG001
    """With real processes, on the servers of the tests."""
    env = {"FAIRSEAT_VAR": str(tmp_path / "var"), "FAIRSEAT_PROXIES": "1", "FAIRSEAT_LOG": "json"}
    children = [
        commands.child(name, "worker", name, log=tmp_path / f"{name}.log", env=env)
        for name in QUEUES
    ]
    for child in children:
        child.start()
    try:
        with a_node(tmp_path, env | {"FAIRSEAT_GATE": "0"}) as node:
            ready(*QUEUES)
            yield Portal(node, tmp_path)
    finally:
        for child in children:
            child.stop(10)


def post(portal: Portal, path: str, body: dict[str, Any], **headers: str) -> str:
    """Send JSON; gives the code of the answer."""
    line = HTTPConnection("127.0.0.1", portal.node.port, timeout=60)
    kind = {"Content-Type": "application/json"}
    line.request("POST", path, json.dumps(body), kind | headers)
    answer = line.getresponse()
    said = answer.read()
    line.close()
    assert answer.status == 200, said
    return str(answer.headers[HEADER])


def test_one_code_leads_from_the_request_to_the_mail(
    portal: Portal, story: Story, cast: Cast
) -> None:
    story.claim(cast.ada, cast.ben)
    secret = a_token(cast.ada.account_id)
    asked = {"Authorization": f"Bearer {secret}", "Idempotency-Key": "a-drop-1", HEADER: CODE}
    body = {"student_id": cast.ada.id, "section_id": story.section.id}
    assert post(portal, "/api/v1/register/drop", body, **asked) == CODE
    wait_for(lambda: [mail for mail in portal.mails() if mail[HEADER] == CODE])
    web = f"web-{portal.node.port}"
    wait_for(lambda: portal.tell_of(CODE) == {web, *QUEUES})
    with transaction() as session:
        context = text("SELECT name FROM events WHERE context ->> 'correlation' = :code")
        assert set(session.scalars(context, {"code": CODE})) >= {"dropped", "promoted"}
    for name in (web, *QUEUES):
        lines = portal.lines(name)
        assert all({"time", "level", "logger", "process", "pid"} <= set(each) for each in lines)
        assert [each for each in lines if CODE in json.dumps(each)]
    said = "".join(log.read_text() for log in portal.folder.glob("*.log"))
    for private in (secret, PASSWORD, "ben@u.example", portal.mails()[0].get_payload()):
        assert private not in said


@pytest.mark.parametrize("code", ["import:77", "short", "line\tbreak00", "x" * 65, "müller-müller"])
def test_a_code_of_another_form_is_not_taken(backend: Backend, code: str) -> None:
    behind_one = create_app(replace(backend.settings, proxies=1)).test_client()
    answer = behind_one.get("/live", headers={HEADER: code.encode().decode("latin-1")})
    assert answer.headers[HEADER] != code
    assert behind_one.get("/live", headers={HEADER: CODE}).headers[HEADER] == CODE


def test_without_a_proxy_no_one_chooses_a_code(backend: Backend) -> None:
    client = create_app(backend.settings).test_client()
    assert client.get("/live", headers={HEADER: CODE}).headers[HEADER] != CODE


def test_each_process_says_who_it_is_and_what_it_follows() -> None:
    with following("of-something"):
        line = told("recorded %d", 7, extra={"term": 3})
    assert line["process"] == "tests"
    assert (line["level"], line["message"], line["term"]) == ("info", "recorded 7", 3)
    assert line["correlation"] == "of-something"
    assert correlation() == ""


def test_values_that_postgresql_quotes_are_not_logged() -> None:
    wrong = psycopg2.IntegrityError(
        "duplicate key\nDETAIL:  Key (email)=(ada@u.example) already exists.\n"
    )
    try:
        raise wrong
    except psycopg2.IntegrityError as error:
        line = told("It failed: %s", error, exc_info=error)
    assert "duplicate key" in line["exc_info"]
    assert "ada@u.example" not in json.dumps(line)


@pytest.mark.parametrize(("wanted", "json_"), [("json", True), ("text", False), ("", True)])
def test_the_form_is_chosen(monkeypatch: pytest.MonkeyPatch, wanted: str, *, json_: bool) -> None:
    monkeypatch.setenv("FAIRSEAT_LOG", wanted)
    assert logs.in_json() is json_ or os.isatty(2)


def told(message: str, *arguments: object, **more: Any) -> dict[str, Any]:
    """What becomes of a line."""
    record = logging.getLogger("portal.tests").makeRecord(
        "portal.tests",
        logging.INFO,
        __file__,
        1,
        message,
        arguments,
        more.get("exc_info")
        and (type(more["exc_info"]), more["exc_info"], more["exc_info"].__traceback__),
        extra=more.get("extra"),
    )
    line: dict[str, Any] = json.loads(logs.JsonLog("tests").format(record))
    return line
