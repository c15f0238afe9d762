"""The portal answers only to its own host names, and uses no others in links."""

from dataclasses import replace

import pytest
from flask import request
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from portal.app import create_app
from portal.backend import Backend
from portal.core.settings import Settings
from portal.web.http.hosts import ours

FORGED = (
    "evil.example",
    "localhost.evil.example",
    "evil.example:8000",
    "localhost@evil.example",
    "a b",
)
LOCAL = Settings("", "", "", url="http://seats:8000")
NAMED = replace(LOCAL, hosts=("seats.example.edu", "10.0.0.7"))


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1:80", "[::1]:8000"])
@pytest.mark.parametrize("settings", [LOCAL, NAMED], ids=["local", "named"])
def test_localhost_is_always_accepted(host: str, settings: Settings) -> None:
    assert ours(host, settings)


@pytest.mark.parametrize("host", ["192.168.1.20:8000", "[fe80::1]:8000", "seats:8000"])
def test_without_configured_hosts_addresses_and_own_names_are_accepted(host: str) -> None:
    assert ours(host, LOCAL)


@pytest.mark.parametrize("host", ["seats.example.edu", "Seats.Example.EDU:443", "10.0.0.7"])
def test_configured_hosts_are_accepted(host: str) -> None:
    assert ours(host, NAMED)


@pytest.mark.parametrize("host", ["192.168.1.20", "www.seats.example.edu", "seats:8000", ""])
def test_other_hosts_are_refused_with_configured_hosts(host: str) -> None:
    assert not ours(host, NAMED)


@given(st.text(max_size=30))
def test_unknown_host_is_refused(host: str) -> None:
    assert not ours(f"evil.{host}", NAMED)


@pytest.mark.parametrize("host", FORGED)
@pytest.mark.parametrize(
    "address", ["/login", "/", "/api/v1/me", "/nowhere", "/static/build/style.css"]
)
def test_forged_host_is_refused(client: FlaskClient, address: str, host: str) -> None:
    answer = client.get(address, headers={"Host": host})
    assert answer.status_code == 400
    assert "evil" not in answer.text
    assert "evil" not in str(answer.headers)


def test_forwarded_host_is_checked(backend: Backend) -> None:
    client = create_app(replace(backend.settings, proxies=1)).test_client()
    answer = client.get("/login", headers={"X-Forwarded-Host": "evil.example"})
    assert answer.status_code == 400


@pytest.mark.parametrize(("proxies", "seen"), [(0, "192.0.2.9"), (1, "192.0.2.1")])
def test_forwarded_address_counts_for_the_configured_proxies(
    backend: Backend, proxies: int, seen: str
) -> None:
    app = create_app(replace(backend.settings, proxies=proxies))
    requested = {"X-Forwarded-For": "10.9.9.9, 192.0.2.1", "X-Real-IP": "10.9.9.9"}
    came: list[str | None] = []
    app.before_request_funcs[None] = [lambda: came.append(request.remote_addr)]
    app.test_client().get("/clock", headers=requested, environ_base={"REMOTE_ADDR": "192.0.2.9"})
    assert came == [seen]


@pytest.mark.parametrize(
    ("env", "hosts"),
    [
        ({}, ()),
        ({"FAIRSEAT_URL": "https://seats.example.edu/"}, ("seats.example.edu",)),
        ({"FAIRSEAT_URL": "http://[::2]:8000"}, ("[::2]",)),
        ({"FAIRSEAT_HOSTS": "A.example, b.example:8000"}, ("a.example", "b.example")),
        (
            {"FAIRSEAT_HOSTS": "a.example", "FAIRSEAT_URL": "https://b.example"},
            ("a.example", "b.example"),
        ),
    ],
)
def test_hosts_come_from_the_settings(
    monkeypatch: pytest.MonkeyPatch, env: dict[str, str], hosts: tuple[str, ...]
) -> None:
    for name in ("DATABASE_URL", "SECRET_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("REDIS_URL", "redis://x")
    for name in ("FAIRSEAT_URL", "FAIRSEAT_HOSTS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert set(Settings.read().hosts) == set(hosts)
