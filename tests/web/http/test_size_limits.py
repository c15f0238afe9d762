"""Requests that are too large are refused quickly with a clear answer."""

import json
from io import BytesIO

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.web.http import uploads
from tests import cast as builders
from tests.cast import Cast
from tests.web.visitors import browser_of

MOST = 256 * 1024


def test_large_body_is_refused_with_advice(client: FlaskClient) -> None:
    answer = client.post("/login", data={"username": "x" * MOST})
    assert answer.status_code == 413
    assert "Send less text" in answer.text


def test_form_with_too_many_parts_is_refused(client: FlaskClient) -> None:
    parts = {f"f{number}": "" for number in range(2000)}
    answer = client.post("/login", data=parts, content_type="multipart/form-data")
    assert answer.status_code == 413


def test_files_are_refused(client: FlaskClient, cast: Cast) -> None:
    file = BytesIO(b"<script>"), "../../evil.html"
    form = {"username": "ada", "password": "x", "file": file}
    assert client.post("/login", data=form).status_code == 422
    assert cast.ada


@pytest.mark.parametrize(
    "plan",
    [
        "[" * 20_000,
        '{"a":' * 3_000,
        "[" * 900 + "]" * 900,
        "9" * 10_000,
        "[1e999]",
        "[" + ",".join(["1"] * 9_000) + "]",
        json.dumps([{"options": [[[1]]], "wait": False}] * 100),
        json.dumps([{"options": [[[10**30]]], "wait": False}]),
        '"\\ud800"',
        "NaN",
        "x" * 100_000,
    ],
)
def test_invalid_plan_is_refused(app: Flask, cast: Cast, plan: str) -> None:
    term = builders.a_term()
    answer = browser_of(app, "ada").post(f"/terms/{term.id}/plan/submit", data={"plan": plan})
    assert answer.status_code == 400
    assert cast.ada


def test_import_files_may_be_larger_within_a_limit(
    app: Flask, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    boss = browser_of(app, "max")
    form = {"layout": "semester", "term": "Spring"}
    larger = {**form, "files": (BytesIO(b"x" * (MOST + 1)), "spring.zip")}
    assert boss.post("/admin/imports", data=larger).status_code == 303
    monkeypatch.setattr(uploads, "MOST_BYTES", MOST)
    larger = {**form, "files": (BytesIO(b"x" * (MOST + 1)), "spring.zip")}
    assert boss.post("/admin/imports", data=larger).status_code == 413
    assert cast.max


def test_only_importers_may_send_large_files(app: Flask, cast: Cast) -> None:
    large = {"files": (BytesIO(b"x" * (MOST + 1)), "spring.zip")}
    assert browser_of(app, "ada").post("/admin/imports", data=large).status_code in {403, 413}
    assert cast.ada
