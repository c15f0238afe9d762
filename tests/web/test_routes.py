"""Every address states who may open it."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.web.http.access import PUBLIC, SIGNED_IN, rule_of
from tests.cast import Cast
from tests.web.visitors import browser_of

OPEN_TO_ALL = {
    "/api/docs",
    "/api/v1/openapi.json",
    "/calendar/<secret>.ics",
    "/clock",
    "/health",
    "/metrics",
    "/language",
    "/live",
    "/login",
    "/login/challenge",
    "/login/oidc",
    "/login/oidc/back",
    "/login/oidc/end",
    "/logout",
    "/ready",
    "/static/<path:filename>",
    "/terms/<int:term_id>/windows/<int:window_id>/order",
    "/terms/<int:term_id>/windows/<int:window_id>/order.txt",
}
KNOWN = {PUBLIC, SIGNED_IN, "student", "instructor", "admin"}


def test_every_route_has_an_access_rule(app: Flask) -> None:
    for route in app.url_map.iter_rules():
        rule = rule_of(app.view_functions[route.endpoint])
        assert rule, f"{route.rule} has no rule"
        assert rule <= KNOWN, f"{route.rule} has an unknown rule"


def test_only_listed_routes_are_public(app: Flask) -> None:
    public = {
        route.rule
        for route in app.url_map.iter_rules()
        if PUBLIC in rule_of(app.view_functions[route.endpoint])
    }
    assert public == OPEN_TO_ALL


def test_view_without_a_rule_is_closed(app: Flask, cast: Cast) -> None:
    client = browser_of(app, "max")
    view = app.view_functions["api.me"]
    app.view_functions["api.me"] = lambda: "secret"
    try:
        assert client.get("/api/v1/me").status_code == 403
    finally:
        app.view_functions["api.me"] = view
    assert cast.max


@pytest.mark.parametrize(
    ("username", "address"),
    [
        ("ada", "/admin"),
        ("ada", "/teaching"),
        ("iris", "/admin"),
        ("iris", "/terms/1"),
        ("max", "/teaching"),
        ("max", "/terms/1/mine"),
    ],
)
def test_page_of_another_role_is_refused(
    app: Flask,
    cast: Cast,  # noqa: ARG001
    username: str,
    address: str,
) -> None:
    answer = browser_of(app, username).get(address)
    assert answer.status_code == 403
    assert "You don’t have access" in answer.text


def test_htmx_does_not_load_the_login_page_into_a_fragment(client: FlaskClient) -> None:
    answer = client.get("/admin", headers={"HX-Request": "true"})
    assert (answer.status_code, answer.text) == (401, "")
    assert answer.headers["HX-Reswap"] == "none"


def test_socket_is_refused_without_a_redirect(client: FlaskClient) -> None:
    assert client.get("/teaching", headers={"Upgrade": "websocket"}).status_code == 401
