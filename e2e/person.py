"""Someone on screen: a browser window of their own, and what they can do with it."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Response, expect

from portal.catalog.models import Section, Term
from tests.cast import PASSWORD

# A refusal is an answer with a status of its own, and the browser says so.
HARMLESS = re.compile(r"Failed to load resource: .* status of 422")
PATIENCE = 60.0  # seconds to wait for an event: machines differ in speed


@dataclass
class Person:
    """One browser window; `complaints` are what its console has said."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    expected: re.Pattern[str] = HARMLESS

    def __post_init__(self) -> None:
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def log_in(self, username: str, password: str = PASSWORD) -> None:
        """Through the form, as everyone does."""
        self.page.goto("/login")
        self.page.get_by_label("Username").fill(username)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Log in").click()
        expect(self.page.get_by_role("button", name="Log out")).to_be_visible()

    def prove(self) -> None:
        """That no robot sits here, ahead of what the story is about."""
        self.page.goto("/captcha")
        expect(self.page.locator('.captcha [data-captcha-state="proven"]')).to_be_visible()

    def go(self, address: str) -> Response | None:
        """To an address of the portal."""
        return self.page.goto(address)

    def enter(self, term: Term, query: str = "") -> "Person":
        """The page of a term, with its socket open."""
        return self.listen(f"/terms/{term.id}{query}")

    def listen(self, address: str, seconds: float = PATIENCE) -> "Person":
        """To an address, until the socket of its page has said something."""
        heard: list[str | bytes] = []

        def hear(said: str | bytes) -> None:  # as Playwright calls no built-in method
            heard.append(said)

        self.page.on("websocket", lambda it: it.on("framereceived", hear))
        self.page.goto(address)
        deadline = time.monotonic() + seconds
        while not heard:
            assert time.monotonic() < deadline
            self.page.wait_for_timeout(50)
        return self

    def asks_until(self, shown: Locator, seconds: float = PATIENCE) -> None:
        """Reload the page until something is visible, as a page without scripts reloads itself."""
        deadline, pause = time.monotonic() + seconds, 300
        while not shown.is_visible():
            assert time.monotonic() < deadline
            self.page.wait_for_timeout(pause)
            self.page.reload()
            pause = min(2 * pause, 1200)  # loading a page takes much of the processor

    def until(self, expression: str, seconds: float = PATIENCE) -> None:
        """Wait until JavaScript is true in the page.

        Playwright's `wait_for_function` evaluates its string again inside the page, where the
        portal's Content-Security-Policy forbids that.
        """
        deadline = time.monotonic() + seconds
        while not self.page.evaluate(expression):
            assert time.monotonic() < deadline, expression
            self.page.wait_for_timeout(100)

    def row(self, section: Section) -> Locator:
        """The section's line in the list."""
        return self.page.locator(f"#section-{section.id}")

    def seats(self, section: Section) -> Locator:
        """The section's live counts."""
        return self.page.locator(f"#seats-{section.id}")

    def cell(self, section: Section) -> Locator:
        """What can be done about the section."""
        return self.page.locator(f"#act-{section.id}")

    @property
    def dialog(self) -> Locator:
        """The dialog."""
        return self.page.locator("#dialog")

    @property
    def mine(self) -> Locator:
        """My classes."""
        return self.page.locator("#mine")

    def ask(self, section: Section) -> None:
        """Open the section's dialog: to add it, or the last one, to drop it."""
        self.cell(section).get_by_role("link").last.click()
        expect(self.dialog).to_be_visible()

    def confirm(self) -> None:
        """Press the button of the dialog, and see it close."""
        self.dialog.locator("button[type=submit]").click()
        expect(self.dialog).to_be_hidden()
        # The dialog's entry goes from the history; until then it would end the next navigation.
        self.until("!history.state?.dialog")

    def pick(self, section: Section) -> None:
        """A seat, or a place in line."""
        self.ask(section)
        self.confirm()

    def has(self, section: Section, state: str) -> None:
        """See that the section is `selected`, `waiting` or, blank, neither."""
        cell = expect(self.cell(section))
        if state:
            cell.to_have_attribute("data-state", state)
        else:
            cell.not_to_have_attribute("data-state", re.compile("."))

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not self.expected.search(message.text):
            self.complaints.append(message.text)


Meet = Callable[..., Person]


def second_tab(person: Person) -> Person:
    """Another tab of the same browser."""
    return Person(person.page.context.new_page())


def context_of(person: Person) -> BrowserContext:
    """The person's browser, for what concerns all of its windows."""
    return person.page.context
