"""While no web server serves, whoever comes is told so at once."""

import json
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import requests

from portal.backend import Backend
from portal.core.queue import QUEUES
from portal.runtime import listener
from portal.runtime.child_process import Child, SupervisedChild
from portal.runtime.listener import (
    PREPARED,
    STARTED,
    StartingPage,
    address_of,
    has_started,
    open_listener,
)
from tests.ports import free_port
from tests.recorder.processes import wait_for
from tests.runtime.test_up import Up

TIMEOUT = 60.0


@pytest.fixture
def door() -> Iterator[socket.socket]:
    with open_listener("127.0.0.1", free_port()) as opened:
        yield opened


@pytest.fixture
def page(door: socket.socket, tmp_path: Path) -> Iterator[StartingPage]:
    """The page, which has not begun."""
    made = StartingPage(door, tmp_path / "log")
    yield made
    made.stop()


@pytest.fixture
def site(page: StartingPage, door: socket.socket) -> str:
    """Where the page is shown."""
    page.start()
    return address_of(door)


def ask(url: str, method: str = "GET", **more: object) -> requests.Response:
    answer = requests.request(method, url, timeout=TIMEOUT, **more)  # type: ignore[arg-type]
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert answer.headers["Cache-Control"] == "no-store"
    return answer


def test_a_visitor_reads_that_the_portal_starts_on_a_page_that_loads_again(site: str) -> None:
    answer = ask(f"{site}/terms/1?q=art")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "The site is starting" in answer.text
    assert "This page updates automatically." in answer.text
    assert 'http-equiv="refresh"' in answer.text


def test_a_visitor_reads_it_in_their_language_where_there_are_texts(site: str) -> None:
    asked = {"es-MX,es;q=0.9,en;q=0.5": "es", "en-GB": "en", "fr": "en", "../x": "en"}
    for languages, language in asked.items():
        answer = ask(f"{site}/", headers={"Accept-Language": languages})
        assert f'<html lang="{language}">' in answer.text


def test_a_program_gets_problem_details(site: str) -> None:
    answer = ask(f"{site}/api/v1/registrations")
    assert answer.headers["Content-Type"] == "application/problem+json"
    told = answer.json()
    assert (told["status"], told["instance"]) == (503, "/api/v1/registrations")
    assert told["detail"] == told["message"]


def test_a_form_reads_that_nothing_was_changed_and_is_not_loaded_again(site: str) -> None:
    large = {"note": "x" * 200_000}  # it arrives in many pieces, all behind the answer
    for body in ({"note": "x"}, large):
        answer = ask(f"{site}/terms/1/pick", "POST", data=body)
        assert "Nothing was changed" in answer.text
        assert "refresh" not in answer.text


def test_a_form_without_end_is_not_read_for_long(site: str) -> None:
    host, port = site.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=TIMEOUT) as client:
        client.sendall(b"POST /login HTTP/1.1\r\nContent-Length: 1000000000\r\n\r\n")
        begun = time.monotonic()
        with suppress(BrokenPipeError, ConnectionResetError):
            while time.monotonic() < begun + 120:
                client.sendall(b"x" * 2**12)
                time.sleep(0.01)
        assert time.monotonic() < begun + 60


def test_a_part_of_a_page_gets_a_toast(site: str) -> None:
    answer = ask(f"{site}/mine", headers={"HX-Request": "true"})
    assert answer.headers["HX-Retarget"] == "#toasts"
    assert '<div class="toast"' in answer.text


def test_a_load_balancer_reads_that_nothing_is_ready(site: str) -> None:
    assert ask(f"{site}/ready").json()["ready"] is False


def test_no_body_comes_where_none_is_asked_for_and_noise_is_hung_up_on(
    site: str, door: socket.socket
) -> None:
    assert ask(f"{site}/", "HEAD").text == ""
    with socket.create_connection(door.getsockname(), timeout=TIMEOUT) as line:
        line.sendall(b"x" * 100_000 + b"\r\n\r\n")
        with suppress(ConnectionResetError):
            assert not line.recv(1000)
    ask(f"{site}/")


def a_web_server(folder: Path) -> SupervisedChild:
    """What the supervisor takes for one: it never says that it serves by itself."""
    command = [sys.executable, "-Sc", "import time; time.sleep(600)"]
    return SupervisedChild(
        Child("web", command, folder / "web.log", {STARTED: str(folder / "started")})
    )


def test_the_page_ends_when_a_web_server_serves_and_comes_back_when_none_does(
    page: StartingPage, site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "TOLERATED", 0.0)
    web = a_web_server(tmp_path)
    web.start()
    ask(site)
    page.check([web])
    assert page.shown
    (tmp_path / "started").touch()
    page.check([web])
    wait_for(lambda: not page.shown)
    web.child.kill()
    wait_for(lambda: page.check([web]) or page.shown)
    assert not has_started(tmp_path / "started")
    ask(site)


def test_visitors_wait_for_a_web_server_that_is_back_soon(
    page: StartingPage, tmp_path: Path
) -> None:
    web = a_web_server(tmp_path)
    web.start()
    (tmp_path / "started").touch()
    page.check([web])
    web.child.kill()
    page.check([web])
    web.start()
    page.check([web])
    (tmp_path / "started").touch()
    page.check([web])
    assert not page.shown
    web.child.kill()


@pytest.fixture
def stuck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Up]:
    """One whose PostgreSQL takes connections in, and then says nothing for a long time."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        monkeypatch.setattr("tests.runtime.test_up.GIVEN", {"REDIS_URL", "SECRET_KEY"})
        monkeypatch.setenv("DATABASE_URL", f"postgresql://nobody@127.0.0.1:{port}/nothing")
        up = Up(tmp_path / "var", free_port(), said=tmp_path / "said")
        up.processes.append(up.command("up"))
        yield up
        up.end()


def test_from_the_start_all_are_answered_and_workers_leave_the_machine_to_the_web(
    stuck: Up,
) -> None:
    wait_for(lambda: answered(stuck.address))
    assert ask(f"{stuck.address}/ready").json()["missing"]
    wait_for(lambda: stuck.child("gunicorn"))
    wait_for(lambda: stuck.child("prepare"))
    ask(f"{stuck.address}/login")
    assert not [name for name in (*QUEUES, "scheduler") if stuck.child(name)]


def answered(address: str) -> bool:
    try:
        return json.loads(requests.get(f"{address}/ready", timeout=TIMEOUT).text)["ready"] is False
    except requests.ConnectionError:
        return False


def test_a_web_server_opens_its_port_once_the_database_is_prepared(
    connected: Backend,  # noqa: ARG001
    tmp_path: Path,
) -> None:
    port, prepared = free_port(), tmp_path / "prepared"
    command = [sys.executable, "-m", "gunicorn", "-c", "python:portal.runtime.gunicorn_settings"]
    env = {"FAIRSEAT_BIND": f"127.0.0.1:{port}", PREPARED: str(prepared), "WEB_CONCURRENCY": "2"}
    web = Child("web", command, tmp_path / "web.log", env)
    web.start()
    try:
        wait_for(lambda: "Starting gunicorn" in web.last_output(100))
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
        prepared.touch()
        wait_for(lambda: _served(port))
        assert {_served(port) for _ in range(10)} == {True}
    finally:
        web.stop()


def _served(port: int) -> bool:
    try:
        return requests.get(f"http://127.0.0.1:{port}/live", timeout=TIMEOUT).ok
    except requests.ConnectionError:
        return False
