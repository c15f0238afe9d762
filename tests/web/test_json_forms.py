"""Pages whose forms are sent as JSON, which no page does."""

from typing import Any

import pytest
from flask import Flask

from portal.catalog.models import Term
from tests.cast import Cast
from tests.web.visitors import browser_of


@pytest.mark.parametrize("body", [[1], "x", 5, None, {"reason": 5, "kind": [], "said": {}}])
def test_json_is_not_accepted_as_a_form(app: Flask, cast: Cast, term: Term, body: Any) -> None:
    admin = browser_of(app, "max")
    for position in (
        f"/admin/students/{cast.ada.id}/holds/new",
        "/admin/imports",
        f"/admin/terms/{term.id}/rules",
        f"/admin/terms/{term.id}/adjust",
        f"/admin/terms/{term.id}/underfilled",
    ):
        assert admin.post(position, json=body).status_code < 500
    assert app.test_client().post("/login", json={"username": 5}).status_code < 500
