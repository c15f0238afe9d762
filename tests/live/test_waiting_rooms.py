"""Who waits on an open page hears of it: one's turn, how the line moves; and is not forgotten."""

import re
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

import portal
from portal.backend import Backend
from portal.catalog.models import Section, Term
from portal.ledger.types import WindowView
from portal.live import topics, waiting_rooms
from portal.live.page import Page
from portal.live.topics import Listeners
from portal.live.waiting_rooms import WaitingRooms
from portal.people.visitors import Visitor
from portal.recorder.recorder import drain
from portal.waiting_room import room
from portal.waiting_room.wait_estimates import Pace
from tests import cast as builders
from tests.cast import Cast
from tests.live.conftest import Open
from tests.live.tabs import Tab


@pytest.fixture
def window(term: Term, backend: Backend) -> WindowView:
    """One whose line stands still."""
    [window] = backend.ledger.windows(term.id)
    limits(term, window, per_minute=0)
    return window


def limits(term: Term, window: WindowView, per_minute: int = 600, at_once: int = 1) -> None:
    room.set_limits(term.id, window.id, per_minute, at_once, off=False)


def heard(tab: Tab, name: str) -> list[dict[str, Any]]:
    return [signal["detail"] for signal in tab.signals if signal["name"] == name]


@pytest.fixture
def waits(open_tab: Open, term: Term, window: WindowView) -> Any:
    """Lets a student wait in the room, on an open page that has heard how it stands."""

    def wait(student: Any) -> Tab:
        room.enter(term.id, window.id, student.id)
        tab = open_tab(student.account_id)
        tab.ask(term.id, [], room=window.id)
        tab.hear(lambda tab: heard(tab, "room"))
        tab.frames.clear()
        return tab

    return wait


def test_recorded_place_reloads_no_other_page_of_the_student(
    cast: Cast, term: Term, waits: Any
) -> None:
    ada = waits(cast.ada)
    drain(term.id)
    assert not heard(ada.listen(0.5), "recorded")


def test_the_student_whose_turn_it_is_learns_it_and_the_others_how_the_queue_moves(
    cast: Cast, term: Term, window: WindowView, waits: Any
) -> None:
    ada, ben = waits(cast.ada), waits(cast.ben)
    limits(term, window)
    [turn] = ada.hear(lambda tab: heard(tab, "turn"))
    assert turn == {"window": window.id}
    moved = ben.hear(lambda tab: [each for each in heard(tab, "room") if each["called"] == 1])[0]
    assert (moved["window"], len(moved["pace"])) == (window.id, len(Pace._fields))
    assert not heard(ben, "turn")


def test_pages_read_the_pace_in_the_order_in_which_it_is_sent() -> None:
    script = (Path(portal.__file__).parent.parent / "static/js/room.js").read_text()
    [names] = re.findall(r"const \[(.+)\] = pace", script)
    in_the_page = {"least": "fewest", "most": "longest"}  # of its own it has others of these names
    assert names.split(", ") == [in_the_page.get(each, each) for each in Pace._fields]


def test_all_pages_of_the_term_learn_when_others_begin_to_wait_and_when_none_does(
    cast: Cast, term: Term, window: WindowView, open_tab: Open
) -> None:
    tab = open_tab(cast.ada.account_id)
    tab.ask(term.id, [])
    tab.listen(0.5)
    for student in (cast.ben.id, 900_000):
        room.enter(term.id, window.id, student)
    assert tab.hear(lambda tab: {"others": True} in heard(tab, "others"))
    tab.frames.clear()
    for student in (900_000, cast.ben.id):
        room.leave(term.id, window.id, student)
    assert tab.hear(lambda tab: heard(tab, "others")) == [{"others": False}]


def test_who_was_admitted_while_the_page_was_drawn_learns_it(
    cast: Cast, term: Term, window: WindowView, open_tab: Open
) -> None:
    room.enter(term.id, window.id, cast.ada.id)
    limits(term, window)
    tab = open_tab(cast.ada.account_id)
    tab.ask(term.id, [], room=window.id)
    assert tab.hear(lambda tab: heard(tab, "turn")) == [{"window": window.id}]


def test_other_rooms_are_not_sent(
    cast: Cast, window: WindowView, section: Section, waits: Any, open_tab: Open
) -> None:
    term = Term(id=section.term_id)
    other = builders.an_open_window(term)
    limits(term, other, per_minute=0)
    room.enter(term.id, other.id, cast.cleo.id)
    ada, instructor = waits(cast.ada), open_tab(cast.iris.account_id)
    instructor.ask(term.id, [section.id], room=other.id)
    instructor.shows(section.id, 2)
    limits(term, other)
    limits(term, window)
    ada.hear(lambda tab: heard(tab, "turn"))
    assert {detail["window"] for detail in heard(ada, "room")} <= {window.id}
    assert not heard(instructor.listen(0.3), "room")


def test_an_admin_may_watch_a_room(
    cast: Cast, term: Term, window: WindowView, section: Section, open_tab: Open
) -> None:
    tab = open_tab(cast.max.id)
    tab.ask(term.id, [section.id], room=window.id)
    tab.shows(section.id, 2)
    limits(term, window)
    tab.hear(lambda tab: heard(tab, "room"))


def test_a_missed_turn_is_sent_when_the_ledger_is_followed_again(
    cast: Cast, backend: Backend, term: Term, window: WindowView, waits: Any
) -> None:
    ada = waits(cast.ada)
    # Admitted without a message, as if no one had listened.
    backend.redis.zadd(f"{{t:{term.id}}}:room:{window.id}:in", {cast.ada.id: 10**15})
    backend.redis.client_kill_filter(_type="pubsub")
    ada.hear(lambda tab: heard(tab, "turn"))


def test_an_open_page_is_a_sign_of_life(
    cast: Cast, backend: Backend, term: Term, window: WindowView
) -> None:
    request = room.enter(term.id, window.id, cast.ada.id).request
    seen = f"{{t:{term.id}}}:room:{window.id}:seen"
    backend.redis.zadd(seen, {request: 1})
    a_hall(term, window, [cast.ada.id, 0])[0].send_heartbeats()
    assert (backend.redis.zscore(seen, request) or 0) > window.opens


def test_who_no_longer_waits_is_asked_to_look(cast: Cast, term: Term, window: WindowView) -> None:
    hall, pages = a_hall(term, window, [cast.ada.id, cast.ben.id])
    room.enter(term.id, window.id, cast.ada.id)
    hall.send_heartbeats()
    assert [len(page.take_update().signals) for page in pages] == [0, 1]


def test_thousands_are_touched_and_sent_to_at_once(term: Term, window: WindowView) -> None:
    hall, pages = a_hall(term, window, range(1, 2501))
    for student in (1, 2500):
        room.enter(term.id, window.id, student)
    hall.send_heartbeats()
    told = [page for page in pages if page.take_update().signals]
    assert len(told) == 2498
    hall.send_states({topics.room(term.id, window.id): room.state(term.id, window.id)})
    signals = [page.take_update().signals for page in pages]
    assert len({signal for [signal] in signals}) == 1


def test_a_long_queue_is_sent_less_often(term: Term, window: WindowView) -> None:
    hall, [page] = a_hall(term, window, [7])
    news = {topics.room(term.id, window.id): room.state(term.id, window.id)}
    assert hall.send_states(news) == {}
    assert len(page.take_update().signals) == 1
    assert hall.send_states(news) == news
    assert page.take_update().signals == []
    assert waiting_rooms.pause(1) == 2.0
    assert waiting_rooms.pause(3000) > 10


def a_hall(term: Term, window: WindowView, students: Any) -> tuple[WaitingRooms, list[Page]]:
    """The waiters of one process, without their sockets."""
    listening, pages = Listeners(), []
    for student in students:
        page = Page(Visitor(1, "", frozenset(), student, None, 1), lambda: None)
        wanted = {topics.room(term.id, window.id), topics.student(term.id, student)}
        listening.subscribe(page, wanted)
        pages.append(page)
    return WaitingRooms(listening, Lock()), pages
