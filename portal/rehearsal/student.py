"""A student who is made up, and does over HTTP what a browser would do for a real one."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from typing import Any

import requests
from altcha import Challenge, Payload, solve_challenge

HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
TONE = re.compile(r'#toasts">\s*<div class="toast" data-tone="(\w+)"')
HELD = {"go": "seat", "wait": "place"}
PATIENCE = 60.0  # seconds for one answer
STANDS = "Fairseat-Gate"  # the header that tells scripts how their student stands
SENT = {"HX-Request": "true", "HX-Target": "dialog"}  # as from a page with scripts


class Unanswered(Exception):  # noqa: N818  what a student meets
    """No answer came, or one that says to come again later."""


@dataclass(frozen=True)
class Answer:
    """How long the portal took for what: `status` 0 where no answer came."""

    what: str
    at: float  # on the clock of time.monotonic
    seconds: float
    status: int

    @property
    def heard(self) -> float:
        """When it had come, on the same clock."""
        return self.at + self.seconds

    @property
    def served(self) -> bool:
        """Whether the portal did what it was asked, or said in words why not."""
        return 0 < self.status < 500 and self.status != 429


@dataclass
class Student:
    """One of them; everything that the portal answers is `heard`."""

    address: str
    term: int
    username: str
    heard: Callable[[Answer], None]
    http: requests.Session = field(default_factory=requests.Session)
    token: str = ""
    mine: dict[int, str] = field(default_factory=dict)  # section: "seat" or "place"

    def __post_init__(self) -> None:
        self.http.trust_env = False
        self.http.headers["Referer"] = f"{self.address}{self.page}"
        self.http.headers["User-Agent"] = "Fairseat rehearsal"

    @property
    def page(self) -> str:
        """The term's one page."""
        return f"/terms/{self.term}"

    def log_in(self, password: str) -> None:
        """By the form, and on to the term's page."""
        form = _fields(self._ask("login", "GET", "/login").text)
        told = form | {"username": self.username, "password": password}
        self._ask("login", "POST", "/login", told)
        self.look()
        me = self._ask("me", "GET", "/api/v1/me")
        if me.status_code != 200:
            raise Unanswered
        self.token = me.json()["csrf_token"]

    def look(self) -> None:
        """Load the lobby, or the picker."""
        self._ask("page", "GET", self.page)

    def come(self) -> str:
        """Get in line, or in; gives how one stands (portal/web/http/admission.py)."""
        answer = self._ask("room", "POST", f"{self.page}/room", {}, SENT)
        stands = answer.headers.get(STANDS, "")
        if stands == "unproven":
            self._prove()
            return self.come()
        return stands

    def take(self, section: int, *, waits: bool) -> str:
        """Ask for a seat, or where there is none for a place in line if one `waits`.

        Gives `seat`, `place`, `full`, `refused`, or `out` where it is not one's turn.
        """
        where = f"{self.page}/sections/{section}/pick"
        form = self._ask("form", "GET", where, None, SENT)
        fields = _fields(form.text)
        if form.status_code != 200 or 'type="submit"' not in form.text:
            return "refused" if "request" in fields else "out"
        if fields.get("wait") and not waits:
            return "full"
        given = {"wait": "1"} if waits else {}
        return self._decided(section, "claim", where, fields | given)

    def give_up(self, section: int) -> str:
        """Give up a seat or a place in line; gives `gone` or `refused`."""
        act = "drop" if self.mine[section] == "seat" else "leave"
        where = f"{self.page}/sections/{section}/{act}"
        fields = _fields(self._ask("form", "GET", where, None, SENT).text)
        del self.mine[section]  # whatever comes of it: who waited may have a seat by now
        answer = self._ask(act, "POST", where, fields, SENT)
        return "gone" if answer.status_code == 200 else "refused"

    def _decided(self, section: int, what: str, where: str, fields: dict[str, str]) -> str:
        answer = self._ask(what, "POST", where, fields, SENT)
        if answer.status_code == 403:
            return "out"
        found = TONE.search(answer.text) if answer.status_code == 200 else None
        if found is None or found[1] not in HELD:
            return "refused"
        self.mine[section] = HELD[found[1]]
        return self.mine[section]

    def _prove(self) -> None:
        """Solve the captcha, as the browser does while the lobby counts down."""
        challenge = self._ask("captcha", "GET", "/captcha/challenge")
        if challenge.status_code != 200:
            raise Unanswered
        puzzle = Challenge.from_dict(challenge.json())
        solution = solve_challenge(puzzle)
        if solution is None:
            raise Unanswered
        told = {"payload": Payload(puzzle, solution).to_base64()}
        if self._ask("captcha", "POST", "/captcha", told, SENT).status_code != 204:
            raise Unanswered

    def _ask(
        self,
        what: str,
        method: str,
        path: str,
        fields: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
    ) -> requests.Response:
        """The answer; raises Unanswered where there is none, or none of use."""
        more: dict[str, Any] = {"headers": headers or {}, "allow_redirects": False}
        if fields is not None:
            more["data"] = {"csrf_token": self.token} | fields
        began, status = time.monotonic(), 0
        try:
            answer = self.http.request(
                method, self.address + path, timeout=PATIENCE, stream=False, **more
            )
            status = answer.status_code
        except requests.RequestException as error:
            raise Unanswered from error
        finally:
            self.heard(Answer(what, began, time.monotonic() - began, status))
        if status == 429 or status >= 500:
            raise Unanswered
        return answer


def _fields(page: str) -> dict[str, str]:
    """The hidden fields of a form."""
    return {name: unescape(value) for name, value in HIDDEN.findall(page)}
