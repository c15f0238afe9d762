"""Styles, scripts and other files that pages ask for."""

import re
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.app import create_app
from portal.backend import Backend
from portal.core.settings import ROOT
from portal.web.http import assets
from tests.cast import Cast
from tests.web.visitors import browser_of

PAGES = (("ada", "/"), ("max", "/admin/operations"))
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


@pytest.mark.parametrize(("kind", "second"), [("css", "office.css"), ("js", "start.js")])
def test_every_file_is_part_of_a_bundle(kind: str, second: str) -> None:
    folder = ROOT / "static" / kind
    bundles = [f"index.{kind}", second]
    texts = [(folder / name).read_text() for name in bundles]
    named = [name for text in texts for name in re.findall(r'import "\./([^"]+)"', text)]
    assert sorted([*named, *bundles]) == sorted(path.name for path in folder.iterdir())


def styles(browser: FlaskClient, page: str) -> str:
    found = re.findall(r'rel="stylesheet" href="([^"]+)', browser.get(page).text)
    text = ""
    for each in found:
        with browser.get(each) as answer:
            text += answer.text
    return text


def test_only_staff_load_the_styles_of_staff(app: Flask, cast: Cast) -> None:
    assert cast
    everyone, staff = (styles(browser_of(app, name), page) for name, page in PAGES)
    for name in (".btn", ".banner", ".section-row", ".dialog", ".toast", "--signal"):
        assert name in everyone
    assert ".ops-state" not in everyone
    assert staff.startswith(everyone)
    assert ".ops-state" in staff
    assert "@import" not in staff


def test_portal_does_not_start_without_a_build(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assets, "STATIC", tmp_path)
    with pytest.raises(RuntimeError, match=r"build is missing\. Build it: make assets"):
        create_app(backend.settings)
