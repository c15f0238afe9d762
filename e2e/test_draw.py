"""The draw can be checked by anyone: on its page, with common tools, and by a command."""

import subprocess
from pathlib import Path

from playwright.sync_api import expect

from e2e.person import Meet
from e2e.portal import COMMAND, Running
from e2e.test_lobby import banner_is
from portal.catalog.models import Term
from portal.waiting_room import room
from portal.windows import draw_seeds
from tests import cast as builders
from tests.cast import Cast
from tests.recorder.processes import wait_for


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
