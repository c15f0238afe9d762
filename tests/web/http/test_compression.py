"""Pages and static files are sent compressed."""

import gzip

import brotli
import pytest
from flask.testing import FlaskClient

from tests.web.test_assets import addresses


@pytest.mark.parametrize("coding", ["zstd", "br", "gzip"])
def test_pages_are_compressed_as_the_browser_accepts(client: FlaskClient, coding: str) -> None:
    plain = client.get("/login")
    sent = client.get("/login", headers={"Accept-Encoding": coding})
    assert sent.headers["Content-Encoding"] == coding
    assert "Accept-Encoding" in sent.headers["Vary"]
    assert len(sent.data) < 0.6 * len(plain.data)
    assert "Content-Encoding" not in plain.headers


def test_compressed_page_says_the_same(client: FlaskClient) -> None:
    sent = client.get("/login", headers={"Accept-Encoding": "gzip"})
    assert b"</html>" in gzip.decompress(sent.data)


def test_size_of_a_compressed_page_varies(client: FlaskClient) -> None:
    lengths = set()
    for _ in range(20):
        sent = client.get("/login", headers={"Accept-Encoding": "br"})
        lengths.add(len(sent.headers["Fairseat-Padding"]))
    assert len(lengths) > 5
    assert "Fairseat-Padding" not in client.get("/login").headers


@pytest.mark.parametrize(
    ("accepted", "sent"),
    [("gzip, deflate, br, zstd", "br"), ("gzip", "gzip"), ("deflate", None), ("br;q=0", None)],
)
def test_static_files_are_sent_as_compressed_copies(
    client: FlaskClient, accepted: str, sent: str | None
) -> None:
    for address in addresses(client):
        if "/img/" in address:
            continue
        with (
            client.get(address) as plain,
            client.get(address, headers={"Accept-Encoding": accepted}) as answer,
        ):
            assert answer.headers.get("Content-Encoding") == sent
            assert answer.headers["Content-Type"] == plain.headers["Content-Type"]
            assert answer.headers["Cache-Control"] == plain.headers["Cache-Control"]
            assert "Accept-Encoding" in answer.headers["Vary"]
            expand = {"br": brotli.decompress, "gzip": gzip.decompress, None: bytes}[sent]
            assert expand(answer.data) == plain.data


@pytest.mark.parametrize("path", ["..%2f..%2fsetup.cfg", "build/absent.js", "%00", "../wsgi.py"])
def test_unknown_static_files_are_not_found(client: FlaskClient, path: str) -> None:
    answer = client.get(f"/static/{path}", headers={"Accept-Encoding": "br"})
    assert answer.status_code == 404


def test_a_compressed_copy_is_checked_by_its_own_tag(client: FlaskClient) -> None:
    accept = {"Accept-Encoding": "br"}
    with client.get("/static/build/style.css", headers=accept) as first:
        tag = first.headers["ETag"]
    with client.get("/static/build/style.css", headers={**accept, "If-None-Match": tag}) as again:
        assert again.status_code == 304
    with client.get("/static/build/style.css", headers={"If-None-Match": tag}) as plain:
        assert plain.status_code == 200
