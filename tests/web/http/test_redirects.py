"""No address, form or header causes a redirect to another site."""

import re
from urllib.parse import urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import example, given
from hypothesis import strategies as st

from portal.web.account.login import safe_path
from portal.web.student import request_form
from tests import cast as builders
from tests.cast import PASSWORD, Cast
from tests.web.visitors import browser_of

PIECES = (
    *"/\\:@?#.%;=& \t\r\n\0\v\x1f\x7f\x85\xa0",
    *"\u2028\u2029\u200b\u3000\uff0f\uff3c\u2215\u29f5\ufeff",
    *(
        "%2f",
        "%5c",
        "%09",
        "%0a",
        "%00",
        "http:",
        "https:",
        "javascript:",
        "data:",
        "//",
        "..",
        ".",
    ),
    *("evil.example", "localhost", "terms", "1", "mine"),
)
addresses = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
SURE = ("//evil.example", "/\\evil.example", "/\t/evil.example", "/\r\n/evil.example", "///evil")


def leaves(address: str) -> bool:
    """Whether a browser at http://localhost/login would go elsewhere, by the URL standard."""
    text = re.sub(r"[\t\r\n]", "", address.strip("".join(map(chr, range(33)))))
    if re.match(r"[a-z][a-z0-9+.-]*:", text, re.IGNORECASE):
        return True
    return re.match(r"[/\\]{2}", text) is not None


@given(addresses)
@example("//evil.example")
@example("/\ud800")
@example("/\\evil.example")
@example("/\t/evil.example")
def test_safe_path_is_accepted(wanted: str) -> None:
    found = safe_path(wanted)
    assert found.startswith("/")
    assert not leaves(found)
    assert found.isprintable()


@given(addresses)
def test_return_address_is_a_page_of_the_term(app_context: Flask, wanted: str) -> None:
    with app_context.test_request_context(method="POST", data={"back": wanted}):
        found = request_form.return_address(7)
    assert not leaves(found)
    assert urlsplit(found).path in {f"/terms/7{position}" for position in request_form.PLACES}


@pytest.fixture(scope="module")
def app_context(application: Flask) -> Flask:
    """The portal, where no data is needed."""
    return application


@pytest.mark.parametrize("wanted", SURE)
def test_login_never_redirects_to_another_site(
    client: FlaskClient, cast: Cast, wanted: str
) -> None:
    data = {"username": "ada", "password": PASSWORD, "next": wanted}
    assert client.post("/login", data=data).location == "/"
    assert client.get("/login", query_string={"next": wanted}).location == "/"
    assert cast.ada


@pytest.mark.parametrize("wanted", SURE)
def test_language_choice_never_redirects_to_another_site(client: FlaskClient, wanted: str) -> None:
    assert client.post("/language", data={"language": "es", "next": wanted}).location == "/"


@pytest.mark.parametrize("page", ["http://evil.example/x", "//evil.example", "http://["])
def test_htmx_header_never_redirects_to_another_site(client: FlaskClient, page: str) -> None:
    requested = {"HX-Request": "true", "HX-Target": "dialog", "HX-Current-URL": page}
    for address in ("/teaching", "/terms/1/sections/1/pick"):
        (onward,) = re.findall(r'href="([^"]*)"', client.get(address, headers=requested).text)
        assert re.fullmatch(r"/login\?(next=/[^&]*&amp;)?ended=yes", onward)
        assert "evil" not in onward


@pytest.mark.parametrize("page", ["http://[", "http://evil.example/terms/1", "//evil.example"])
def test_referrer_never_redirects_to_another_site(app: Flask, cast: Cast, page: str) -> None:
    ada, term = browser_of(app, "ada"), builders.a_term()
    section = builders.a_section(builders.a_course(), term)
    answer = ada.get(
        f"/terms/{term.id}/sections/{section.id}/plan",
        headers={"Referer": page, "HX-Request": "true"},
    )
    assert answer.status_code == 200
    assert "evil" not in answer.text
    assert cast.ada
