"""The operations page says how many workers a queue is wanted to have."""

import time

from flask import Flask

from portal.backend import Backend
from portal.core import scaling
from portal.core.scaling import WorkerRequest
from tests.cast import Cast
from tests.web.visitors import browser_of


def test_it_says_what_was_scaled(app: Flask, cast: Cast, backend: Backend) -> None:
    assert cast
    admin = browser_of(app, "max")
    assert "target since" not in admin.get("/admin/operations").text
    scaling.ask(backend.redis, {"record": WorkerRequest(4, time.time(), "quiet")})
    pool = scaling.pools()["record"]
    page = admin.get("/admin/operations").text
    assert ": 4 workers" in page
    assert f"minimum {pool.least}, maximum {pool.most}" in page
