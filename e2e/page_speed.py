"""Measures how fast pages feel on a phone: `python -m e2e.page_speed`.

A phone with slow 4G and a quarter of this machine's speed visits the demo semester while others
register. The figures: bytes on the wire, first contentful paint (FCP), interaction to next paint
(INP, the slowest of a few presses) and cumulative layout shift (CLS).
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from threading import Event, Thread

from playwright.sync_api import Browser, CDPSession, Page, StorageState, sync_playwright
from sqlalchemy import select

from e2e.browser import ARGUMENTS, find
from e2e.contrast import PHONE
from e2e.person import Person
from e2e.portal import Running, running
from portal.catalog.term_catalog import catalog_of, live_terms
from portal.core.db import transaction
from portal.people.models import Student
from tests import register

SLOW_4G = {
    "offline": False,
    "latency": 150,  # ms
    "downloadThroughput": 1_600_000 / 8,
    "uploadThroughput": 750_000 / 8,
}
SLOWER = 4  # times slower than this machine's processor
CLAIMS_PER_SECOND = 20
OBSERVE = """
window.felt = { cls: 0, inp: 0 };
new PerformanceObserver((list) => list.getEntries().forEach((it) => {
    if (!it.hadRecentInput) felt.cls += it.value;
})).observe({ type: 'layout-shift', buffered: true });
new PerformanceObserver((list) => list.getEntries().forEach((it) => {
    if (it.interactionId) felt.inp = Math.max(felt.inp, it.duration);
})).observe({ type: 'event', durationThreshold: 16, buffered: true });
"""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


def main() -> None:
    """Print a row for each page."""
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
        with running(Path(temporary) / "var", demo=True) as portal:
            measure(portal, browser)
        browser.close()


def measure(portal: Running, browser: Browser) -> None:
    """Visit the lobby and the picker, each with an empty and with a full cache."""
    term = live_terms()[0].id
    session = _session(portal, browser)
    print("| page | first visit, KB | next visit, KB | FCP, ms | INP, ms | CLS |")
    print("|---|---|---|---|---|---|")
    with _phone(portal, browser, session) as phone:
        _report(phone, "lobby", f"/terms/{term}")
    _open_window(portal, term)
    with others_register(term), _phone(portal, browser, session) as phone:
        _report(phone, "section picker", f"/terms/{term}")
    with _phone(portal, browser, session) as phone:
        _report(phone, "schedule", f"/terms/{term}/schedule")


def _report(phone: "Phone", name: str, address: str) -> None:
    first = phone.visit(address)
    painted = phone.painted()
    phone.press()
    felt = phone.page.evaluate("felt")
    phone.page.goto("about:blank")
    again = phone.visit(address)
    print(
        f"| {name} | {first / 1000:.1f} | {again / 1000:.1f} | {painted:.0f}"
        f" | {felt['inp']:.0f} | {felt['cls']:.3f} |"
    )
    sys.stdout.flush()


class Phone:
    """A page on a slow phone, which counts the bytes that it receives."""

    def __init__(self, page: Page, link: CDPSession) -> None:
        self.page = page
        self.bytes = 0
        link.send("Network.enable")
        link.send("Network.emulateNetworkConditions", SLOW_4G)
        link.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        link.on("Network.loadingFinished", self._count)

    def _count(self, event: dict[str, float]) -> None:
        self.bytes += int(event["encodedDataLength"])

    def visit(self, address: str) -> int:
        """Open a page and return the bytes that it took, headers included."""
        self.bytes = 0
        self.page.goto(address, wait_until="load")
        self.page.wait_for_timeout(3000)
        return self.bytes

    def painted(self) -> float:
        """Return the first contentful paint in ms after the press on the link."""
        return float(self.page.evaluate(PAINTED))

    def press(self) -> None:
        """Type a search and open what the page offers, while counts stream in."""
        search = self.page.get_by_label("Search")
        if search.count():
            search.press_sequentially("art", delay=120)
            self.page.wait_for_timeout(2500)
        for link in self.page.locator("a[hx-target='#dialog']:visible").all()[:2]:
            link.tap()
            self.page.locator("#dialog[open]").wait_for()
            self.page.wait_for_timeout(500)
            self.page.keyboard.press("Escape")
            self.page.wait_for_timeout(500)


@contextmanager
def _phone(portal: Running, browser: Browser, session: StorageState) -> Iterator[Phone]:
    context = browser.new_context(
        base_url=portal.address, storage_state=session, viewport=PHONE, has_touch=True
    )
    context.add_init_script(OBSERVE)
    page = context.new_page()
    yield Phone(page, context.new_cdp_session(page))
    context.close()


def _session(portal: Running, browser: Browser) -> StorageState:
    with browser.new_context(base_url=portal.address) as context:
        person = Person(context.new_page())
        person.log_in("student0001", (portal.folder / "demo-password").read_text())
        person.prove()
        return context.storage_state()


def _open_window(portal: Running, term: int) -> None:
    ledger = portal.backend.ledger
    [window] = ledger.windows(term)
    opens = ledger.now() + 1000
    ledger.move_window(term, window.id, opens, window.closes, "page speed")
    while ledger.now() < opens + 1200:
        time.sleep(0.1)


@contextmanager
def others_register(term: int) -> Iterator[None]:
    """Let other students register all the time, so that counts change on the page."""
    ended = Event()
    with transaction() as session:
        students = list(session.scalars(select(Student.id)))[1:]
    sections = [each.id for each in catalog_of(term).sections if each.status == "OPEN"]
    chance = Random(1)

    def run() -> None:
        while not ended.wait(1 / CLAIMS_PER_SECOND):
            register.claim(chance.choice(students), term, chance.choice(sections), wait=True)

    thread = Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


if __name__ == "__main__":
    main()
