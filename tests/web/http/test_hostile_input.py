"""No value in an address, a form or a header causes a 5xx."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import Rule as Route

from tests.cast import Cast
from tests.soak import one_in
from tests.web.http.all_routes import Values, a_values, address, routes
from tests.web.http.route_rules import rule_for
from tests.web.visitors import browser_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]  # each asks hundreds of times

Visitors = dict[str, FlaskClient]
Asked = tuple[str, str, dict[str, Any]]  # the route by its name, the page, what else is sent

WHO = ("ada", "iris", "max")
TELL_OF_WORKERS = {"GET /ready", "GET /health"}  # that there are none here

ENDING = {"/login", "/logout", "/account/sessions/end"}  # after which nobody would be asking
PART = re.compile(r"<(?:[^<>]*:)?(\w+)>")
NUMBERS = ("0", str(2**31), str(2**63 - 1), str(10**18 - 1))
ODD_NUMBERS = ("-1", "99999999999999999999", "9" * 5000, "%D9%A3", "1e9", "0x1", "1_0", "%00", "")
TEXTS = (
    "\0",
    "a\0b';--",
    "%\\",
    "<script>alert(1)</script>{{7*7}}${7*7}",
    "../../etc/passwd",
    "\r\nX: y",
    "\ufffe\U0001f4a5\u202e\u0661\u0662",
    "x" * 3000,
    "-1",
    "99999999999999999999",
    "9" * 3000,
    "1e400",
    "NaN",
    "[null]",
    "7-" + "Z" * 3000 + "-9",  # a receipt's code, but for its length
)
BYTES = ("%ff%fe", "%ed%a0%80", "%c0%af", "%", "%zz", "%00")
# One value of each at a time, all together: none hides what another does.
HEADERS = {
    "HX-Current-URL": ("http://[", "//", "\xff", "http://h:99999/%00?page=-1&from=x"),
    "Referer": ("http://[", "\xff\xfe", "//evil.example", "http://h:x/"),
    "HX-Target": ("dialog", "results", "more", "schedule"),
    "Accept-Language": ("x" * 3000, "*;q=nan", "es;q=,,,", "\xff"),
    "Origin": ("null", "http://[", "\xff", "http://h:x"),
    "If-None-Match": ("*", '"', "W/\xff", "x" * 3000),
    "If-Modified-Since": ("x", "Mon, 99 Foo 9999 99:99:99 GMT", "\xff", "0"),
    "Range": ("bytes=-1", "bytes=5-1", "bytes=0-,0-,0-", "\xff"),
    "X-CSRFToken": ("\xff", "x" * 3000, "a.b.c", "."),
    "X-Forwarded-For": ("\xff", "x" * 3000, ",", "::1"),
}
# These decide who is asking, or what is heard at all: before any page, so one page of each
# blueprint is asked with them.
DECISIVE = (
    *({"Cookie": text} for text in ("pass=\xff", "fairseat=\xff", "=;=;=", "a=" + "b" * 3000)),
    *(
        {"Authorization": text}
        for text in ("Bearer fs_\xff", "Bearer", "Basic eDp5", "bearer fs_x")
    ),
    *({"Fairseat-Pass": text} for text in ("\xff", "x.y", "x" * 3000)),
    *(
        {"Content-Type": text}
        for text in ("application/json", "multipart/form-data", "x;charset=\xff")
    ),
    {"Upgrade": "websocket"},
)
ARGUMENTS = (
    *("q", "page", "subject", "days", "from", "to", "open", "credits", "before", "after", "only"),
    *("term", "sections", "held", "mark", "shown", "full", "swap_out", "along", "next", "all", "v"),
    *("semester_id", "course_id", "limit", "offset", "cursor"),
)
FIELDS = (
    *("username", "password", "next", "back", "request", "credits", "wait", "with-1", "unsure"),
    *("do", "line", "version", "place", "plan", "act", "feed", "through", "before", "by_mail"),
    *("language", "name", "opens", "closes", "opens_which", "whom", "years", "students"),
    *("confirmed", "edit", "id", "days", "reason"),
)


@pytest.fixture
def values(app: Flask, cast: Cast) -> Values:
    return a_values(app, cast)


@pytest.fixture
def visitors(app: Flask, cast: Cast, values: Values) -> Visitors:  # noqa: ARG001
    """Return a student, an instructor and an admin, who together can open every page."""
    return {username: browser_of(app, username) for username in WHO}


def test_no_address_argument_header_or_form_causes_a_server_error(
    app: Flask, visitors: Visitors, values: Values
) -> None:
    for requests in (_odd_addresses, _odd_arguments, _odd_headers, _odd_forms):
        _unbroken(visitors, requests(app, values))


def _odd_addresses(app: Flask, values: Values) -> list[Asked]:
    return [(name, each, {}) for name, route in _pages(app) for each in _odd(route, values)]


def _odd_arguments(app: Flask, values: Values) -> list[Asked]:
    raw = [f"?{'&'.join(f'{argument}={odd}' for argument in ARGUMENTS)}" for odd in BYTES]
    texts = [f"?{urlencode(dict.fromkeys(ARGUMENTS, text))}" for text in TEXTS]
    return [
        (name, address(route, values) + query, {})
        for name, route in _pages(app)
        for query in (*raw, *texts)
    ]


def _odd_headers(app: Flask, values: Values) -> list[Asked]:
    together = [
        dict(zip(HEADERS, values, strict=True)) for values in zip(*HEADERS.values(), strict=True)
    ]
    pages = [each for each in _pages(app) if each[1].endpoint != "live.socket"]  # tests/live
    rooms = {route.endpoint.partition(".")[0]: (name, route) for name, route in pages}.values()
    return [
        (name, address(route, values), {"headers": {"HX-Request": "true", **headers}})
        for some, sent in ((pages, together), (rooms, DECISIVE))
        for name, route in some
        for headers in sent
    ]


def _odd_forms(app: Flask, values: Values) -> list[Asked]:
    return [
        (name, address(route, values), {"method": method, "data": dict.fromkeys(FIELDS, text)})
        for name, method, route in routes(app)
        if method != "GET" and route.rule not in ENDING
        for text in TEXTS
    ]


@pytest.mark.parametrize("text", TEXTS)
def test_no_login_form_causes_a_server_error(client: FlaskClient, cast: Cast, text: str) -> None:
    assert client.post("/login", data=dict.fromkeys(FIELDS, text)).status_code < 500
    assert cast.ada


def _pages(app: Flask) -> Iterator[tuple[str, Route]]:
    return ((name, route) for name, method, route in routes(app) if method == "GET")


def _odd(route: Route, values: Values) -> list[str]:
    """The route's address with one part after the other replaced by what no page has."""
    odds = (*NUMBERS, *ODD_NUMBERS, *BYTES, *(quote(text, safe="") for text in TEXTS))
    return [
        PART.sub(lambda part: odd if part[1] == name else str(values[part[1]]), route.rule)  # noqa: B023
        for name in route.arguments
        for odd in odds
    ]


def _unbroken(visitors: Visitors, asked: list[Asked]) -> None:
    broken = []
    for name, page, how in one_in(16, asked):
        with visitors[_who(name)].open(page, **how) as answer:
            if answer.status_code >= 500 and name not in TELL_OF_WORKERS:
                broken.append(f"{answer.status_code} {page[:120]} {str(how)[:200]}")
    assert not broken, "\n".join(broken)


def _who(name: str) -> str:
    """Return the first visitor who may open the route."""
    return next((each for each in WHO if rule_for(name).of(each) in {"in", "own"}), "ada")
