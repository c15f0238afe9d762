"""Every person requests every route and gets what tests/web/http/route_rules.py says."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import Rule as Route
from werkzeug.test import TestResponse

from portal.people.roles import Right
from portal.web.http.access import INSTEAD, PUBLIC, SIGNED_IN, rule_of
from tests.cast import Cast
from tests.web.http.all_routes import Values, a_values, address, routes
from tests.web.http.route_rules import PEOPLE, RULES, a_staff, rule_for
from tests.web.visitors import browser_of

HERS = re.compile(r"\bAda\b")  # her name, on nobody's page but hers and her teacher's


@pytest.fixture
def values(app: Flask, cast: Cast) -> Values:
    return a_values(app, cast)


def test_every_route_is_in_the_table(app: Flask) -> None:
    found = {name for name, *_ in routes(app)}
    missing, stale = found - RULES.keys(), RULES.keys() - found
    assert not missing, f"Add a rule to RULES in tests/web/http/route_rules.py: {missing}"
    assert not stale, f"Delete these from RULES, as their routes are gone: {stale}"


def test_every_view_demands_the_rights_that_the_table_names(app: Flask) -> None:
    wrong = {}
    for name, _, route in routes(app):
        # The table names Iris and Otto one by one, not by their right.
        demanded = rule_of(app.view_functions[route.endpoint]) - {Right.TEACH}
        if rule_for(name).rights and route.endpoint not in INSTEAD and SIGNED_IN not in demanded:
            wrong |= {name: demanded} if demanded != set(rule_for(name).rights) else {}
    assert not wrong


def test_every_route_follows_the_table_for_every_role(
    app: Flask, cast: Cast, values: Values
) -> None:
    wrong = []
    a_staff()
    for person in PEOPLE:
        cookie = _cookie(app, person)
        for name, method, route in sorted(routes(app), key=_mildness):
            rule = rule_for(name)
            position = address(route, values) + rule.query.format(**values)
            client, expected = app.test_client(use_cookies=False), rule.of(person)
            if expected == "-":
                continue
            with client.open(position, method=method, data=rule.body, headers=cookie) as answer:
                if not _is(expected, answer):
                    wrong.append(f"{person}: {method} {position} gave {answer.status_code}")
    assert not wrong, "\n".join(wrong)
    assert cast.max


def _mildness(named: tuple[str, str, Route]) -> tuple[int, bool]:
    """Return a sort key: harmless routes first, those that end the session last."""
    ending = ("POST /account/sessions/end", "POST /logout")
    return ending.index(named[0]) + 1 if named[0] in ending else 0, named[1] != "GET"


def _cookie(app: Flask, person: str) -> dict[str, str]:
    if person == "nobody":
        return {}
    cookie = browser_of(app, person).get_cookie(app.config["SESSION_COOKIE_NAME"])
    assert cookie
    return {"Cookie": f"{cookie.key}={cookie.value}"}


def _is(expected: str, answer: TestResponse) -> bool:
    to_login = answer.status_code in {302, 303} and answer.location.startswith("/login")
    match expected:
        case "login":
            return to_login or answer.status_code == 401
        case "no":
            return answer.status_code == 403
        case "none":
            return answer.status_code == 404
        case "own":
            return answer.status_code < 400 and not to_login and not HERS.search(answer.text)
    return answer.status_code < 500 and answer.status_code not in {401, 403, 404} and not to_login


OPEN_TO_ALL = {
    "/.well-known/jwks.json",
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
    "/payments/stripe",
    "/recovery",
    "/recovery/<link>",
    "/sign-up",
    "/sign-up/<link>",
    "/visiting",
    "/logout",
    "/ready",
    "/static/<path:filename>",
    "/terms/<int:term_id>/windows/<int:window_id>/order",
    "/terms/<int:term_id>/windows/<int:window_id>/order.txt",
    "/terms/<int:term_id>/windows/<int:window_id>/draw.json",
    "/terms/<int:term_id>/verify_root.py",
}


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
