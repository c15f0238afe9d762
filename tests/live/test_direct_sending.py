"""What is sent to a page directly, and what waits for the page's own sender."""

import socket
from collections.abc import Iterator
from threading import Thread

import pytest

from portal.live.frames import WholeFrames, text_frame
from portal.live.page import Batch, Page
from portal.people.visitors import Visitor

LARGE = text_frame("-" * 1_000_000)  # more than a connection takes without waiting
END = text_frame("end")

Ends = tuple[WholeFrames, socket.socket]


@pytest.fixture
def ends() -> Iterator[Ends]:
    """The server's and the browser's end of a connection."""
    server, browser = socket.socketpair()
    with server, browser:
        yield WholeFrames(server), browser


@pytest.fixture
def sent() -> list[bytes]:
    return []


@pytest.fixture
def page(sent: list[bytes]) -> Page:
    """A student's page whose connection takes everything without waiting."""

    def send_now(frame: bytes) -> bool:
        sent.append(frame)
        return True

    return Page(Visitor(1, "", frozenset(), 1, None, 1), lambda: None, "en", send_now)


def test_a_frame_is_sent_where_there_is_room(ends: Ends) -> None:
    server, browser = ends
    assert server.send_now(END)
    assert browser.recv(100) == END


def test_a_frame_sent_in_part_is_completed_before_anything_else(ends: Ends) -> None:
    server, browser = ends
    assert not server.send_now(LARGE)
    assert not server.send_now(END)
    sender = Thread(target=server.send, args=(END,))
    sender.start()
    received = b""
    while not received.endswith(END):
        received += browser.recv(65_536)
    sender.join()
    assert received == LARGE + END


def test_a_closed_connection_is_left_to_the_pages_own_sender(ends: Ends) -> None:
    server, browser = ends
    browser.close()
    assert not server.send_now(END)


def test_counts_are_sent_directly_if_nothing_else_waits(page: Page, sent: list[bytes]) -> None:
    page.add_fragments(Batch({"a": "1"}))
    assert sent == [text_frame("1")]
    assert not page.take_update().html


def test_counts_do_not_overtake_what_waits_to_be_sent(page: Page, sent: list[bytes]) -> None:
    page.add_student_change({1})
    page.add_fragments(Batch({"a": "1"}))
    assert not sent
    assert page.take_update().html == "1"


def test_counts_do_not_overtake_what_is_being_sent(page: Page, sent: list[bytes]) -> None:
    page.add_student_change({1})
    page.take_update()
    page.add_fragments(Batch({"a": "1"}))
    assert not sent
    assert page.take_update().html == "1"
    page.sent()
    page.add_fragments(Batch({"a": "2"}))
    assert sent == [text_frame("2")]
