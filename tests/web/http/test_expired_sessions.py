"""A form whose session has ended loses no input."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.core.settings import ROOT
from portal.web.http import resuming
from tests.cast import PASSWORD, Cast

OURS = {"Origin": "http://localhost"}
LETTER = {"language": "es", "csrf_token": "of-a-session-that-is-over"}


@pytest.fixture
def client(strict: Flask) -> FlaskClient:
    return strict.test_client()


def test_expired_form_can_be_sent_again_with_its_content(client: FlaskClient, cast: Cast) -> None:
    _log_in(client)
    late = client.post("/language", data=LETTER, headers=OURS)
    assert late.status_code == 400
    assert "Send it again" in late.text
    assert '<input type="hidden" name="language" value="es">' in late.text
    again = {**LETTER, "csrf_token": _token(late.text)}
    assert client.post("/language", data=again, headers=OURS).status_code == 303
    assert cast.ada


def test_logged_out_visitor_can_log_in_in_another_tab(client: FlaskClient, cast: Cast) -> None:
    late = client.post("/account/privacy", data={"private": "yes"}, headers=OURS)
    assert "no longer logged in" in late.text
    assert '<a class="btn btn-primary" href="/login" target="_blank">' in late.text
    assert '<input type="hidden" name="private" value="yes">' in late.text
    assert cast.ada


@pytest.mark.parametrize("origin", ["https://evil.example", "null", ""])
def test_form_of_another_site_is_not_offered_again(
    client: FlaskClient, cast: Cast, origin: str
) -> None:
    _log_in(client)
    refused = client.post("/language", data=LETTER, headers={"Origin": origin})
    assert refused.status_code == 400
    assert "Send again" not in refused.text
    assert LETTER["csrf_token"] not in refused.text
    assert '<input type="hidden" name="language"' not in refused.text
    assert cast.ada


def test_password_is_never_shown_again(client: FlaskClient, cast: Cast) -> None:
    form = {"username": "ada", "password": PASSWORD, "csrf_token": "nonsense"}
    late = client.post("/login", data=form, headers=OURS)
    assert late.status_code == 400
    assert PASSWORD not in late.text
    assert cast.ada


def test_no_password_of_a_change_is_shown_again(client: FlaskClient, cast: Cast) -> None:
    _log_in(client)
    form = {"current": PASSWORD, "fresh": "a secret of mine", "csrf_token": "nonsense"}
    late = client.post("/account/password", data=form, headers=OURS)
    assert late.status_code == 400
    assert PASSWORD not in late.text
    assert "a secret of mine" not in late.text
    assert "Send again" not in late.text
    assert cast.ada


@pytest.mark.parametrize("name", ["payload", "code", "secret", "url", "anything"])
def test_form_with_an_unlisted_field_is_not_offered_again(
    client: FlaskClient, cast: Cast, name: str
) -> None:
    _log_in(client)
    late = client.post("/language", data={**LETTER, name: "sesame"}, headers=OURS)
    assert late.status_code == 400
    assert "sesame" not in late.text
    assert "Send again" not in late.text
    assert cast.ada


def test_no_secret_field_is_listed() -> None:
    for template in (ROOT / "templates").rglob("*.html"):
        for field in re.findall(r"<input[^>]*>", template.read_text()):
            if 'type="password"' in field or "one-time-code" in field:
                names = re.findall(r'name="(\w+)"', field)
                assert not set(names) & resuming.FIELDS, template


def _log_in(client: FlaskClient) -> None:
    token = _token(client.get("/login").text)
    form = {"username": "ada", "password": PASSWORD, "csrf_token": token}
    assert client.post("/login", data=form, headers=OURS).status_code == 302


def _token(page: str) -> str:
    found = re.search(r'name="csrf_token" value="([^"]+)"', page)
    assert found
    return found[1]
