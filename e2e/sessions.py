"""Log in and solve the captcha over HTTP: loading their pages in a browser takes a second."""

import re

from altcha import Challenge, Payload, solve_challenge
from playwright.sync_api import APIRequestContext, Browser, StorageState

from tests.cast import PASSWORD

TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')
ZONE = "Intl.DateTimeFormat().resolvedOptions().timeZone"


def zone_of(browser: Browser) -> str:
    """Return the time zone of the browser's pages."""
    with browser.new_context() as context:
        return str(context.new_page().evaluate(ZONE))


def session(
    browser: Browser, address: str, username: str, *, proven: bool, zone: str
) -> StorageState:
    """Return the session of someone who has logged in, and has `proven` to be no robot."""
    with browser.new_context(base_url=address) as context:
        log_in(context.request, username)
        if proven:
            prove(context.request)
        context.add_cookies([{"name": "zone", "value": zone, "url": address}])
        return context.storage_state()


def log_in(http: APIRequestContext, username: str) -> None:
    """Send the form of the login."""
    token, *_ = TOKEN.findall(http.get("/login").text())  # each form of the page has it
    form = {"csrf_token": token, "username": username, "password": PASSWORD}
    assert http.post("/login", form=form, max_redirects=0).status == 302


def prove(http: APIRequestContext) -> None:
    """Solve the puzzle of the captcha."""
    token = http.get("/api/v1/me").json()["csrf_token"]
    challenge = Challenge.from_dict(http.get("/captcha/challenge").json())
    solution = solve_challenge(challenge)
    assert solution
    form = {"csrf_token": token, "payload": Payload(challenge, solution).to_base64()}
    answer = http.post("/captcha", form=form, headers={"HX-Request": "true"})
    assert answer.status == 204
