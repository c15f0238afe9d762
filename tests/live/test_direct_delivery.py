"""What goes to a page at once, by whoever has it, and what waits for the page's own sender."""

import socket
from collections.abc import Iterator
from threading import Thread

import pytest
from wsproto.connection import Connection, ConnectionType
from wsproto.events import TextMessage

from portal.live.frames import WholeFrames, framed
from portal.live.page import Batch, Page
from portal.people.visitors import Visitor

FRAME = framed("-" * 1_000_000)  # more than a line takes at once
END = framed("end")

Ends = tuple[WholeFrames, socket.socket]


@pytest.fixture
def ends() -> Iterator[Ends]:
    """Our end of a line and that of a page."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield WholeFrames(ours), theirs


@pytest.fixture
def sent() -> list[bytes]:
    return []


@pytest.fixture
def page(sent: list[bytes]) -> Page:
    """A student's page whose line has room."""

    def at_once(frame: bytes) -> bool:
        sent.append(frame)
        return True

    return Page(Visitor(1, "", frozenset(), 1, None, 1), lambda: None, "en", at_once)


@pytest.mark.parametrize("size", [0, 125, 126, 65_535, 65_536])
def test_a_frame_is_what_the_library_would_send(size: int) -> None:
    text = "é" * (size // 2) + "e" * (size % 2)
    assert framed(text) == Connection(ConnectionType.SERVER).send(TextMessage(data=text))


def test_a_frame_goes_where_there_is_room(ends: Ends) -> None:
    ours, theirs = ends
    assert ours.send_at_once(END)
    assert theirs.recv(100) == END


def test_what_went_in_part_is_completed_before_anything_else(ends: Ends) -> None:
    ours, theirs = ends
    assert not ours.send_at_once(FRAME)
    sender = Thread(target=ours.send, args=(END,))
    sender.start()
    received = b""
    while not received.endswith(END):
        received += theirs.recv(65_536)
    sender.join()
    assert received == FRAME + END


def test_a_line_that_is_gone_is_left_to_the_sender(ends: Ends) -> None:
    ours, theirs = ends
    theirs.close()
    assert not ours.send_at_once(END)


def test_counts_go_at_once_to_a_page_that_is_owed_nothing(page: Page, sent: list[bytes]) -> None:
    page.show(Batch({"a": "1"}))
    assert sent == [framed("1")]
    assert not page.take().html


def test_counts_do_not_overtake_what_is_still_to_be_sent(page: Page, sent: list[bytes]) -> None:
    page.own({1})
    page.show(Batch({"a": "1"}))
    assert not sent
    assert page.take().html == "1"


def test_counts_do_not_overtake_what_is_being_sent(page: Page, sent: list[bytes]) -> None:
    page.own({1})
    page.take()
    page.show(Batch({"a": "1"}))
    assert not sent
    assert page.take().html == "1"
    page.sent()
    page.show(Batch({"a": "2"}))
    assert sent == [framed("2")]
