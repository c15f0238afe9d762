"""Styles, scripts and other files that pages ask for."""

import re

import pytest
from flask.testing import FlaskClient

FOREVER = "public, max-age=31536000, immutable"


def addresses(client: FlaskClient) -> list[str]:
    page = client.get("/login").text
    return re.findall(r'(?:href|src)="(/(?:style|script|static)[^"]+)"', page)


def test_a_page_asks_for_few_files_and_browsers_keep_them_for_good(client: FlaskClient) -> None:
    found = addresses(client)
    assert 0 < len(found) <= 5
    for address in found:
        with client.get(address) as answer:
            assert answer.status_code == 200
            assert answer.headers["Cache-Control"] == FOREVER


@pytest.mark.parametrize("address", ["/style.css", "/static/img/mark.svg"])
def test_an_address_without_the_hash_is_checked_each_time(
    client: FlaskClient, address: str
) -> None:
    with client.get(address) as first:
        assert first.headers["Cache-Control"] == "no-cache"
    with client.get(address, headers={"If-None-Match": first.headers["ETag"]}) as again:
        assert again.status_code == 304


def test_the_style_is_whole(client: FlaskClient) -> None:
    text = client.get("/style.css").text
    for name in (".btn", ".banner", ".section-row", ".dialog", ".toast", "--signal"):
        assert name in text
