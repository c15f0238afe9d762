"""The queue of a waiting room: students see it move, and none loses a position."""

import re

import pytest
from playwright.sync_api import expect

from e2e.contrast import PHONE
from e2e.person import Meet, second_tab
from e2e.room.conftest import Admit
from e2e.room.waiter import FRAME, waits_as
from e2e.test_announce import heard, until_heard
from e2e.test_lobby import banner_is
from portal.catalog.models import Section, Term
from portal.ledger.types import WindowView
from portal.waiting_room import room
from tests.soak import in_soak


def test_a_refresh_a_second_tab_and_another_browser_keep_the_place(
    meet: Meet, term: Term, crowd: list[int], admit: Admit
) -> None:
    ada = waits_as(meet("ada").enter(term), 6)
    waits_as(meet("ben").enter(term), 7)
    ada.page.reload()
    waits_as(ada, 6)
    tab = waits_as(second_tab(ada).enter(term), 6)
    phone = waits_as(meet("ada", viewport=PHONE).enter(term), 6)
    admit(len(crowd) + 1)
    for each in (ada, tab, phone):
        banner_is(each, "open")
    assert not tab.complaints


@pytest.mark.usefixtures("crowd")
def test_the_number_of_those_before_goes_down_by_itself_and_nothing_moves(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    ada = waits_as(meet("ada", viewport=PHONE).enter(term), 6)
    note = ada.page.locator("#banner")
    expect(note).to_contain_text("5 people are ahead of you.")
    asked: list[str] = []
    ada.page.on("request", lambda request: asked.append(request.url))
    before = ada.page.evaluate(FRAME)
    admit(3)
    expect(note).to_contain_text("2 people are ahead of you.")
    waits_as(ada, 3)
    admit(4)
    expect(note).to_contain_text("1 person is ahead of you.")
    waits_as(ada, 2)
    assert not [url for url in asked if "/stage" in url]
    assert ada.page.evaluate(FRAME) == before
    admit(6)
    banner_is(ada, "open")
    assert ada.page.evaluate(FRAME) == before
    ada.pick(section)


@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize("inside", [1, 3])
def test_the_page_tells_the_same_wait_as_the_server(
    meet: Meet, term: Term, admit: Admit, inside: int
) -> None:
    ada = waits_as(meet("ada").enter(term), 6)
    banner = ada.page.locator("#banner")
    admit(inside)
    expect(banner).to_contain_text(f"{5 - inside} people are ahead of you.")
    by_script = ada.page.locator("#banner [data-line=wait]").inner_text()
    assert "min" in by_script
    ada.page.reload()
    waits_as(ada, 6 - inside)
    expect(ada.page.locator("#banner [data-line=wait]")).to_have_text(by_script)


def test_where_there_is_no_socket_the_page_asks(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    ada = meet("ada")
    ada.expected = re.compile("WebSocket")
    ada.page.route_web_socket("**/ws", lambda socket: socket.close())
    admit(1)
    ada.go(f"/terms/{term.id}")
    admit(0)
    ada.ask(section)
    waits_as(ada, 1)
    admit(1)
    expect(ada.dialog.get_by_role("button", name="Add class")).to_be_visible()


@pytest.mark.usefixtures("crowd")
def test_the_wait_why_my_number_moves_and_the_turn_are_announced(
    meet: Meet, term: Term, admit: Admit
) -> None:
    ada = meet("ada").enter(term)
    until_heard(ada, "You are number 6 in the queue:")
    admit(2)
    expect(ada.page.locator("#banner .clock")).to_have_text("4")
    until_heard(ada, "You are number 4 in the queue. 2 people were admitted.")
    told = heard(ada)
    admit(3)
    expect(ada.page.locator("#banner .clock")).to_have_text("3")
    assert heard(ada) == told  # not at each move of a fast queue
    admit(10)
    until_heard(ada, "Your turn. Add your classes")


@pytest.mark.usefixtures("crowd")
def test_in_line_on_arrival_the_dialog_and_the_page_count_down_together(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    ada = meet("ada", viewport=PHONE).enter(term)
    waits_as(ada, 6)
    expect(ada.cell(section).get_by_role("link")).to_have_count(0)
    ben = meet("ben")
    ben.go(f"/terms/{term.id}/sections/{section.id}/pick")
    main = ben.page.locator("main")
    expect(main).to_contain_text("You are number 7 in the queue")
    admit(2)
    expect(main).to_contain_text("You are number 5 in the queue")
    expect(main).to_contain_text("4 people are ahead of you.")
    waits_as(ada, 4)


@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize("page", ["/room", *in_soak("")])
def test_a_pause_is_shown_at_once_and_so_is_its_end(
    meet: Meet, term: Term, window: WindowView, page: str
) -> None:
    ada = meet("ada", viewport=PHONE).listen(f"/terms/{term.id}{page}")
    waits_as(ada, 6)
    banner = ada.page.locator("#banner")
    before = ada.page.evaluate(FRAME)
    room.set_limits(term.id, window.id, 0, 10, off=False)
    expect(banner).to_contain_text("The registrar has paused the queue. You keep your position.")
    expect(banner.locator(".clock")).to_have_text("6")
    expect(banner.locator("[data-line=wait]")).to_have_text("unknown while the queue is paused")
    until_heard(ada, "You are number 6 in the queue. The registrar has paused the queue.")
    if page:
        expect(ada.page.locator("#room")).to_contain_text("while the queue is paused")
    assert ada.page.evaluate(FRAME) == before
    waits_as(ada, 6)
    room.set_limits(term.id, window.id, 6000, 2, off=False)
    waits_as(ada, 4)
    expect(banner).to_contain_text("3 people are ahead of you.")
