"""A client without a browser: HTTP, cookies and what pages say, as fast as it likes."""

import re
import secrets
from dataclasses import dataclass, field
from time import time
from typing import Any

import requests
from altcha import Challenge, Payload, solve_challenge
from flask import Flask, session
from flask_wtf.csrf import generate_csrf

from portal.web.http.admission import PROOF, PROOF_LASTS
from tests.live.nodes import Node

TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')


@dataclass
class Bot:
    """One client; `account` is whose session it has, 0 for nobody's."""

    node: Node
    account: int = 0
    token: str = ""
    http: requests.Session = field(default_factory=requests.Session)

    def keep(self, name: str, value: str, path: str = "/") -> None:
        """Keep a cookie as if the server had set it."""
        self.http.cookies.set(name, value, domain="127.0.0.1", path=path)

    def get(self, path: str, **sent: Any) -> requests.Response:
        """Ask for a page."""
        return self.http.get(self.node.origin + path, allow_redirects=False, **sent)

    def post(self, path: str, **fields: Any) -> requests.Response:
        """Send a form, with its token unless it brings its own."""
        data = {"csrf_token": self.token, **fields}
        return self.http.post(self.node.origin + path, data=data, allow_redirects=False)

    def log_in(self, username: str, password: str) -> requests.Response:
        """As the login page does it."""
        self.token = self.read_token("/login")
        return self.post("/login", username=username, password=password)

    def read_token(self, path: str) -> str:
        """The form token of a page."""
        (token, *_) = TOKEN.findall(self.get(path).text)
        return str(token)

    def solve(self, path: str = "/captcha/challenge") -> str:
        """A puzzle solved, as it is sent."""
        challenge = Challenge.from_dict(self.get(path).json())
        solution = solve_challenge(challenge)
        assert solution
        return Payload(challenge, solution).to_base64()

    def come(self, term: Any) -> str:
        """To the door of a term's window; gives how one stands."""
        answer = self.http.post(
            f"{self.node.origin}/terms/{term.id}/room",
            data={"csrf_token": self.token},
            headers={"HX-Request": "true"},
        )
        return answer.headers.get("Fairseat-Gate", str(answer.status_code))

    def claim(self, section: Any, **fields: Any) -> requests.Response:
        """Claim a seat under a new key."""
        sent = {"request": secrets.token_hex(16), **fields}
        return self.post(pick(section), **sent)


def pick(section: Any) -> str:
    """Where a section is claimed."""
    return f"/terms/{section.term_id}/sections/{section.id}/pick"


def logged_in(node: Node, app: Flask, account: int, *, proven: bool = True) -> Bot:
    """A client with the session of an account, as a login and a captcha would leave it."""
    with app.test_request_context():
        session.permanent = True
        session["_user_id"], session["_fresh"] = f"{account}.1", True
        session["since"] = int(time())
        if proven:
            session[PROOF] = (account, int(time()) + PROOF_LASTS)
        token = generate_csrf()
        serializer = app.session_interface.get_signing_serializer(app)  # type: ignore[attr-defined]
        kept = serializer.dumps(dict(session))
    bot = Bot(node, account, token)
    bot.keep(app.config["SESSION_COOKIE_NAME"], kept)
    return bot
