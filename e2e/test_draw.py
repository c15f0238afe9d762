"""The draw can be checked by anyone: on its page, with common tools, a script and a command."""

import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, expect

from e2e.person import Meet
from e2e.portal import COMMAND, Running
from e2e.test_keyboard import tab_to
from e2e.test_lobby import banner_is
from portal.catalog.local_time import local_clock
from portal.catalog.models import Section, Term
from portal.waiting_room import room
from portal.windows import drand, draw_seeds
from tests import cast as builders
from tests.cast import Cast
from tests.recorder.processes import wait_for
from tests.waiting_room.rooms import known_in


def test_who_came_early_finds_the_own_place_and_anyone_recomputes_the_order(
    meet: Meet, portal: Running, term: Term, cast: Cast, tmp_path: Path
) -> None:
    window = builders.a_coming_window(term)
    for student in range(900_000, 900_020):
        room.enter(term.id, window.id, student)
    ada, anyone = meet("ada"), meet()
    ada.go(f"/terms/{term.id}")
    address = f"/terms/{term.id}/windows/{window.id}/order"
    draw = ada.page.locator("#gate").get_by_role("link", name="How the draw works")
    expect(draw).to_have_attribute("href", address)
    anyone.go(address)
    main = anyone.page.locator("main")
    expect(main).to_contain_text(draw_seeds.commitment(term.id, window.id))
    expect(main).to_contain_text("The seed and the order appear here when the window opens.")
    wait_for(lambda: room.state(term.id, window.id).line == 21)
    opens = portal.backend.ledger.now() + 3000
    portal.backend.ledger.move_window(term.id, window.id, opens, window.closes, "tests")
    banner_is(ada, "open", 30)
    anyone.page.reload()
    expect(main).to_contain_text("the order follows from the seed")
    expect(main.locator(".order-list li")).to_have_count(21)
    lines = main.locator("pre").inner_text()
    said = subprocess.run(
        ["/bin/bash", "-c", lines], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert said.stdout.count("OK") == 2
    command = [*COMMAND, "order", "--text", f"{portal.address}{address}.txt"]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "requests: 21" in said.stdout
    ada.go(address)
    place = room.queue_entry(term.id, window.id, cast.ada.id).number
    expect(ada.page.locator("main")).to_contain_text(f"put you at position {place}.")


def test_a_registrar_uses_a_public_value_and_anyone_checks_the_draw(
    meet: Meet, portal: Running, term: Term, section: Section, tmp_path: Path
) -> None:
    assert section.id  # the socket of a page without sections says nothing for long
    window = builders.a_coming_window(term, minutes=60)
    boss, ada, anyone = meet("max"), meet("ada"), meet(java_script_enabled=False)
    opening = f"/admin/terms/{term.id}/windows/{window.id}/room"
    address = f"/terms/{term.id}/windows/{window.id}/order"
    page = boss.page
    boss.go(opening)
    page.get_by_role("link", name="Name a public value").click()
    known = portal.backend.ledger.now() + 30 * builders.MINUTE
    source = f"drand quicknet round {drand.CHAINS['quicknet'].first(known)}"
    page.get_by_label("Where the public value will come from").fill(source)
    page.get_by_label("Public value known from").fill(local_clock().field(known))
    page.get_by_label("Reason").fill("So that no one can choose it")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#opening-draw")).to_contain_text("fixed ten minutes before")
    builders.open_soon(term, window, seconds=300)
    ada.enter(term)
    wait_for(lambda: room.state(term.id, window.id).line == 1)

    known_in(window, minutes=5)
    expect(page.locator("#opening-draw")).to_contain_text("The codes are fixed")  # by itself
    anyone.go(address)
    root = anyone.page.locator("dd", has_text=page.locator("dd.receipt-code").inner_text())
    noted = root.inner_text()
    known_in(window, minutes=-1)
    link = page.get_by_role("link", name="Enter the public value")
    expect(link).to_be_visible()
    tab_to(boss, link, most=80)
    page.keyboard.press("Enter")
    page.get_by_label("Public value", exact=True).fill(" 0BADC0DE ")
    page.get_by_label("Reason").fill("As published")
    page.get_by_role("button", name="Look at it once more").click()
    expect(page.locator("main")).to_contain_text("0badc0de")
    page.get_by_role("button", name="Use it in the draw").click()
    expect(page.locator("#opening-draw")).to_contain_text("The draw uses the public value.")

    builders.open_soon(term, window, seconds=3)
    banner_is(ada, "open", 30)
    ada.go(address)
    main = ada.page.locator("main")
    expect(main).to_contain_text("The draw is correct")
    expect(main).to_contain_text("put you at position 1.")
    code = main.locator("dt", has_text="Your code").locator("+ dd").inner_text()
    said = _checked(ada.page, tmp_path / "ada", code, noted)
    assert "Your position in the queue: 1\n" in said
    assert "yes You are in the queue" in said
    anyone.page.reload()
    assert "yes It is the root that you noted." in _checked(
        anyone.page, tmp_path / "anyone", "", noted
    )


def _checked(page: Page, folder: Path, *arguments: str) -> str:
    """Download file and script of a draw, run the script on the file, and return what it says."""
    for name in ("File of the draw", "Script that checks it"):
        with page.expect_download() as loading:
            page.get_by_role("link", name=name).click()
        loading.value.save_as(folder / loading.value.suggested_filename)
    (file,) = folder.glob("draw-*.json")
    command = [sys.executable, "verify_root.py", file.name, *arguments]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout
