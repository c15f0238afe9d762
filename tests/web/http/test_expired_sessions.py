"""What a form is told whose session is over: nothing that was written in it is lost."""

import re
from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from portal.app import create_app
from portal.backend import Backend
from portal.core.settings import ROOT
from portal.web.http import resubmission
from tests.cast import PASSWORD, Cast

OURS = {"Origin": "http://localhost"}
LETTER = {"language": "es", "csrf_token": "of-a-session-that-is-over"}


@pytest.fixture
def client(backend: Backend) -> FlaskClient:
    app = create_app(replace(backend.settings, gate=False))
    app.config["TESTING"] = True
    return app.test_client()


def test_it_can_be_sent_again_with_all_that_was_in_it(client: FlaskClient, cast: Cast) -> None:
    _log_in(client)
    late = client.post("/language", data=LETTER, headers=OURS)
    assert late.status_code == 400
    assert "Send it again" in late.text
    assert '<input type="hidden" name="language" value="es">' in late.text
    again = {**LETTER, "csrf_token": _token(late.text)}
    assert client.post("/language", data=again, headers=OURS).status_code == 303
    assert cast.ada


def test_who_is_logged_out_is_led_to_log_in_beside_it(client: FlaskClient, cast: Cast) -> None:
    late = client.post("/account/privacy", data={"private": "yes"}, headers=OURS)
    assert "no longer logged in" in late.text
    assert '<a class="btn btn-primary" href="/login" target="_blank">' in late.text
    assert '<input type="hidden" name="private" value="yes">' in late.text
    assert cast.ada


@pytest.mark.parametrize("origin", ["https://evil.example", "null", ""])
def test_what_another_site_has_made_is_not_offered_to_be_sent(
    client: FlaskClient, cast: Cast, origin: str
) -> None:
    _log_in(client)
    refused = client.post("/language", data=LETTER, headers={"Origin": origin})
    assert refused.status_code == 400
    assert "Send again" not in refused.text
    assert LETTER["csrf_token"] not in refused.text
    assert '<input type="hidden" name="language"' not in refused.text
    assert cast.ada


def test_a_password_is_never_shown_again(client: FlaskClient, cast: Cast) -> None:
    form = {"username": "ada", "password": PASSWORD, "csrf_token": "nonsense"}
    late = client.post("/login", data=form, headers=OURS)
    assert late.status_code == 400
    assert PASSWORD not in late.text
    assert cast.ada


def test_neither_the_old_nor_the_new_password_is_shown_again(
    client: FlaskClient, cast: Cast
) -> None:
    _log_in(client)
    form = {"current": PASSWORD, "fresh": "a secret of mine", "csrf_token": "nonsense"}
    late = client.post("/account/password", data=form, headers=OURS)
    assert late.status_code == 400
    assert PASSWORD not in late.text
    assert "a secret of mine" not in late.text
    assert "Send again" not in late.text
    assert cast.ada


@pytest.mark.parametrize("name", ["payload", "code", "secret", "url", "anything"])
def test_a_form_with_a_field_that_is_not_on_the_list_is_not_offered_again(
    client: FlaskClient, cast: Cast, name: str
) -> None:
    _log_in(client)
    late = client.post("/language", data={**LETTER, name: "sesame"}, headers=OURS)
    assert late.status_code == 400
    assert "sesame" not in late.text
    assert "Send again" not in late.text
    assert cast.ada


def test_no_field_for_a_secret_is_on_the_list() -> None:
    for template in (ROOT / "templates").rglob("*.html"):
        for field in re.findall(r"<input[^>]*>", template.read_text()):
            if 'type="password"' in field or "one-time-code" in field:
                names = re.findall(r'name="(\w+)"', field)
                assert not set(names) & resubmission.FIELDS, template


def _log_in(client: FlaskClient) -> None:
    token = _token(client.get("/login").text)
    form = {"username": "ada", "password": PASSWORD, "csrf_token": token}
    assert client.post("/login", data=form, headers=OURS).status_code == 302


def _token(page: str) -> str:
    found = re.search(r'name="csrf_token" value="([^"]+)"', page)
    assert found
    return found[1]
