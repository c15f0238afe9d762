"""The ledger freezes while pages are open: they say so, read on, and find it back by themselves."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil
from playwright.sync_api import expect

from e2e.contrast import PHONE
from e2e.person import Meet
from e2e.portal import Running
from portal.catalog.models import Section, Term
from portal.recorder.recorder import drain
from tests import cast as builders

SAID = "Your latest changes may not show here yet"
REFUSED = re.compile("status of 503")  # the answer to requests that only the ledger can answer


@contextmanager
def frozen(portal: Running) -> Iterator[None]:
    """Let Valkey give no answer until the block ends."""
    told: Any = portal.backend.redis.info("server")
    server = psutil.Process(told["process_id"])
    server.suspend()
    try:
        yield
    finally:
        server.resume()


def test_open_pages_say_that_the_ledger_is_away_and_that_it_is_back(
    meet: Meet, portal: Running, term: Term, last_seat: Section
) -> None:
    builders.an_open_window(term)
    ada, boss, watcher = meet("ada").enter(term), meet("max"), meet("max")
    ada.pick(last_seat)
    drain(term.id)
    for each in (ada, boss, watcher):
        each.expected = REFUSED
    watcher.go("/admin")
    boss.listen(f"/admin/terms/{term.id}/sections/{last_seat.id}")
    notes = [each.page.locator("#recorded") for each in (boss, watcher)]
    for note in notes:
        expect(note).to_be_hidden()
    changed = "document.body.dispatchEvent(new CustomEvent('fs:counted'))"
    with frozen(portal):
        boss.page.evaluate(changed)
        ada.page.evaluate("document.body.dispatchEvent(new CustomEvent('fs:window'))")
        ada.row(last_seat).get_by_role("link").first.click()
        expect(ada.dialog).to_contain_text(SAID)
        expect(ada.dialog.get_by_role("button", name="Add class")).to_have_count(0)
        ada.page.keyboard.press("Escape")
        for note in (*notes, ada.page.locator("#recorded")):
            expect(note).to_contain_text(SAID)
        boss.page.reload()
        expect(notes[0]).to_contain_text(SAID)
        expect(boss.page.locator("#as-is")).to_contain_text("1 taken + 0 free")
        ada.page.reload()
        expect(ada.page.locator("main")).to_contain_text(SAID)
        expect(ada.page.locator("main")).to_contain_text(": yours")
    for note in notes:
        expect(note).to_be_hidden()
    expect(ada.page.locator("#recorded")).to_be_hidden(timeout=60_000)
    expect(ada.page.locator("#mine")).to_be_visible()


def test_a_student_without_scripts_reads_a_decision_though_the_ledger_freezes_before_the_page(
    meet: Meet, portal: Running, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada = meet("ada", java_script_enabled=False, viewport=PHONE)
    act = f"/terms/{term.id}/sections/{section.id}/pick"
    ada.go(act)
    fields = ada.page.locator("main form input[type=hidden]").evaluate_all(
        "all => Object.fromEntries(all.map(each => [each.name, each.value]))"
    )
    answer = ada.page.request.post(act, form=fields, max_redirects=0)
    assert answer.status == 303
    with frozen(portal):
        ada.go(answer.headers["location"])
        expect(ada.page.locator("main")).to_contain_text(SAID)
        expect(ada.page.locator(".note[data-tone=go]")).to_contain_text("You added")
        expect(ada.page.locator(".note[data-tone=go] a")).to_have_count(1)
