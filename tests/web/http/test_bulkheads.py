"""A full bulkhead answers at once with a 503 and a time to retry; nothing is started."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from portal.core import flags
from portal.core.bulkheads import MOST_BACKGROUND_JOBS
from portal.core.db import transaction
from portal.exchange.exporting.models import Export
from portal.exchange.importing.models import Import
from portal.recorder.models import AuditRun
from portal.web.http import uploads
from tests.cast import Cast
from tests.operations.conftest import Switch, switch
from tests.recorder import slow_jobs
from tests.web.visitors import browser_of

__all__ = ["switch"]


@pytest.fixture
def boss(app: Flask, cast: Cast) -> FlaskClient:  # noqa: ARG001
    return browser_of(app, "max")


@pytest.fixture
def crowd(app: Flask) -> None:  # noqa: ARG001
    """Fill the background queue."""
    for _ in range(MOST_BACKGROUND_JOBS):
        slow_jobs.call("background", slow_jobs.UNTIL, Path("nowhere"))


@pytest.fixture
def uploading() -> Iterator[None]:
    """Start as many uploads as are allowed."""
    for _ in range(uploads.AT_ONCE):
        uploads.uploads.enter()
    yield
    for _ in range(uploads.AT_ONCE):
        uploads.uploads.leave()


def sent(boss: FlaskClient) -> Any:
    form = {"files": (io.BytesIO(b"nothing"), "courses.csv")}
    return boss.post("/admin/imports", data=form, content_type="multipart/form-data")


def count(what: Any) -> int:
    with transaction() as session:
        return session.scalar(select(func.count()).select_from(what)) or 0


@pytest.mark.usefixtures("crowd")
def test_full_bulkhead_refuses_exports(boss: FlaskClient) -> None:
    answer = boss.post("/admin/exports")
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "60"
    assert "Too many of these requests are running" in answer.text
    assert count(Export) == 0


@pytest.mark.usefixtures("crowd")
def test_full_bulkhead_refuses_audits(boss: FlaskClient, term: Any) -> None:
    assert boss.post(f"/admin/operations/audits/{term.id}").status_code == 503
    assert count(AuditRun) == 0


@pytest.mark.usefixtures("uploading")
def test_simultaneous_uploads_are_limited(boss: FlaskClient) -> None:
    assert sent(boss).status_code == 503
    assert count(Import) == 0


def test_finished_request_frees_its_place(boss: FlaskClient) -> None:
    answers = [sent(boss).status_code for _ in range(uploads.AT_ONCE + 1)]
    assert 503 not in answers


@pytest.mark.usefixtures("uploading", "crowd")
def test_bulkheads_can_be_switched_off(boss: FlaskClient, switch: Switch) -> None:
    switch("bulkheads", on=False)
    flags.read()
    assert sent(boss).status_code != 503
    assert boss.post("/admin/exports").status_code == 303
