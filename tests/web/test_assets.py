"""Styles, scripts and other files that pages ask for."""

import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from portal.app import create_app
from portal.backend import Backend
from portal.core.settings import ROOT
from portal.web.http import assets

FOREVER = "public, max-age=31536000, immutable"


def addresses(client: FlaskClient) -> list[str]:
    page = client.get("/login").text
    return re.findall(r'(?:href|src)="(/static[^"]+)"', page)


def test_page_loads_few_files_that_browsers_cache(client: FlaskClient) -> None:
    found = addresses(client)
    assert 0 < len(found) <= 5
    for address in found:
        with client.get(address) as answer:
            assert answer.status_code == 200
            assert answer.headers["Cache-Control"] == FOREVER


@pytest.mark.parametrize("version", ["", "?v=ofanotherone"])
@pytest.mark.parametrize("address", ["/static/build/style.css", "/static/img/mark.svg"])
def test_address_without_a_hash_is_revalidated(
    client: FlaskClient, address: str, version: str
) -> None:
    with client.get(address + version) as first:
        assert first.headers["Cache-Control"] == "no-cache"
    with client.get(address + version, headers={"If-None-Match": first.headers["ETag"]}) as again:
        assert again.status_code == 304


@pytest.mark.parametrize(("kind", "alone"), [("css", ()), ("js", ("start.js",))])
def test_index_names_every_file(kind: str, alone: tuple[str, ...]) -> None:
    folder = ROOT / "static" / kind
    named = re.findall(r'import "\./([^"]+)"', (folder / f"index.{kind}").read_text())
    files = {*named, f"index.{kind}", *alone}
    assert files == {path.name for path in folder.iterdir()}


def test_styles_are_in_one_file(client: FlaskClient) -> None:
    with client.get("/static/build/style.css") as answer:
        text = answer.text
    assert "@import" not in text
    for name in (".btn", ".banner", ".section-row", ".dialog", ".toast", "--signal"):
        assert name in text


def test_portal_does_not_start_without_a_build(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assets, "STATIC", tmp_path)
    with pytest.raises(RuntimeError, match=r"build is missing\. Build it: make assets"):
        create_app(backend.settings)
