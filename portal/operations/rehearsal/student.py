"""A made-up student, who does over HTTP what a browser does for a real one."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape

import requests
from altcha import Challenge, Payload, solve_challenge

HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
TONE = re.compile(r'#toasts">\s*<div class="toast" data-tone="(\w+)"')
ROOM_STATE = "Fairseat-Gate"  # the header with the state of the student in the waiting room
GIVEN = {"go": "seat", "wait": "position"}  # by the tone of the answer
TIMEOUT = 60.0  # seconds
HTMX = {"HX-Request": "true", "HX-Target": "dialog"}


class Unanswered(Exception):
    """No answer came, or one that says to come again later."""


@dataclass(frozen=True)
class Answer:
    """How long the portal took for a request; `status` is 0 if no answer came."""

    at: float  # on the clock of time.monotonic
    seconds: float
    status: int

    @property
    def received_at(self) -> float:
        return self.at + self.seconds

    @property
    def served(self) -> bool:
        """Return whether the portal did what was asked, or gave its reasons."""
        return 0 < self.status < 500 and self.status != 429


@dataclass
class Student:
    """One student; passes each answer of the portal to `on_answer`."""

    address: str
    term: int
    username: str
    on_answer: Callable[[Answer], None]
    http: requests.Session = field(default_factory=requests.Session)
    csrf_token: str = ""
    enrolled: dict[int, str] = field(default_factory=dict)  # section: "seat" or "position"

    def __post_init__(self) -> None:
        self.page = f"/terms/{self.term}"
        self.http.trust_env = False
        self.http.headers["Referer"] = f"{self.address}{self.page}"
        self.http.headers["User-Agent"] = "Fairseat rehearsal"

    def log_in(self, password: str) -> None:
        """Log in with the form, then load the page of the term."""
        form = _hidden_fields(self._request("GET", "/login"))
        self._request("POST", "/login", form | {"username": self.username, "password": password})
        self.load_page()
        me = self._request("GET", "/api/v1/me")
        if me.status_code != 200:
            raise Unanswered
        self.csrf_token = me.json()["csrf_token"]

    def load_page(self) -> None:
        """Load the lobby or the section picker."""
        self._request("GET", self.page)

    def enter(self) -> str:
        """Ask for admission, and return the state that the waiting room gives."""
        answer = self._request("POST", f"{self.page}/room", {}, HTMX)
        state = answer.headers.get(ROOM_STATE, "")
        if state == "unproven":
            self._solve_captcha()
            return self.enter()
        return state

    def claim(self, section: int, *, waits: bool) -> str:
        """Ask for a seat or, with `waits`, for a waitlist position if the section is full.

        Return `seat`, `position`, `full`, `refused`, or `out` if the student is not admitted.
        """
        where = f"{self.page}/sections/{section}/pick"
        form = self._request("GET", where, None, HTMX)
        fields = _hidden_fields(form)
        if form.status_code != 200 or 'type="submit"' not in form.text:
            return "refused" if "request" in fields else "out"
        if fields.get("wait") and not waits:
            return "full"
        answer = self._request("POST", where, fields | ({"wait": "1"} if waits else {}), HTMX)
        if answer.status_code == 403:
            return "out"
        tone = TONE.search(answer.text) if answer.status_code == 200 else None
        if tone is None or tone[1] not in GIVEN:
            return "refused"
        self.enrolled[section] = GIVEN[tone[1]]
        return GIVEN[tone[1]]

    def drop(self, section: int) -> bool:
        """Drop a seat or leave a waitlist; return whether that was possible."""
        act = "drop" if self.enrolled[section] == "seat" else "leave"
        where = f"{self.page}/sections/{section}/{act}"
        fields = _hidden_fields(self._request("GET", where, None, HTMX))
        del self.enrolled[section]  # in any case: the waitlist position may be a seat by now
        answer = self._request("POST", where, fields, HTMX)
        return answer.status_code == 200

    def _solve_captcha(self) -> None:
        answer = self._request("GET", "/captcha/challenge")
        if answer.status_code != 200:
            raise Unanswered
        challenge = Challenge.from_dict(answer.json())
        solution = solve_challenge(challenge)
        if solution is None:
            raise Unanswered
        payload = {"payload": Payload(challenge, solution).to_base64()}
        if self._request("POST", "/captcha", payload, HTMX).status_code != 204:
            raise Unanswered

    def _request(
        self,
        method: str,
        path: str,
        fields: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
    ) -> requests.Response:
        """Return the response; raise Unanswered if there is none of use."""
        began, status = time.monotonic(), 0
        try:
            answer = self.http.request(
                method,
                self.address + path,
                data=None if fields is None else {"csrf_token": self.csrf_token} | fields,
                headers=headers,
                allow_redirects=False,
                timeout=TIMEOUT,
            )
            status = answer.status_code
        except requests.RequestException as error:
            raise Unanswered from error
        finally:
            self.on_answer(Answer(began, time.monotonic() - began, status))
        if status == 429 or status >= 500:
            raise Unanswered
        return answer


def _hidden_fields(page: requests.Response) -> dict[str, str]:
    return {name: unescape(value) for name, value in HIDDEN.findall(page.text)}
