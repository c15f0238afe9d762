"""The talk with one page over its socket, from first to last word."""

import logging
from contextlib import suppress
from functools import lru_cache
from math import inf
from time import time
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import SQLAlchemyError
from wsproto.events import Ping

from portal.core.i18n import current_locale
from portal.core.metrics import FRAMES
from portal.ledger.errors import LedgerUnavailable
from portal.live import own, rooms, topics
from portal.live.hub import Hub
from portal.live.news import Signal
from portal.live.page import REFUSED, RESTART, Page, Parcel
from portal.live.sight import ended, seen
from portal.live.teachers import may_see_roster
from portal.live.topics import Topic
from portal.live.wishes import Allowance, Wish, parse
from portal.people import accounts
from portal.waiting_room import room

if TYPE_CHECKING:
    from simple_websocket import Server

log = logging.getLogger(__name__)

SIGN_OF_LIFE = "<!-- -->"


class Talk:
    """One greenlet or thread reads, draws and sends for a page; others only what needs no wait."""

    __slots__ = ("allowance", "ends", "hub", "page", "session", "socket")

    def __init__(
        self,
        socket: "Server",
        hub: Hub,
        visitor: accounts.Visitor,
        *,
        session: str = "",
        ends: float = inf,
    ) -> None:
        self.socket = socket
        self.hub = hub
        self.page = Page(visitor, socket.event.set, str(current_locale()), self._send_at_once)
        self.allowance = Allowance()
        self.session = session  # by its name
        self.ends = ends  # of the session, in seconds since 1970

    def run(self) -> None:
        """Talk until either side has had enough."""
        if self.hub.leaving:
            self.page.closing = RESTART
        self.hub.join(self.page)
        try:
            while self.socket.connected and not self.page.closing:
                self._round()
            if self.socket.connected:
                self.socket.close(self.page.closing)
        except OSError:
            self._cut()  # it took nothing for too long, or is gone
        finally:
            self.hub.part(self.page)

    def _round(self) -> None:
        self.socket.event.wait()
        self.socket.event.clear()
        # First what clears the event as well, then what it may have been set for meanwhile.
        while (message := self.socket.receive(timeout=0)) is not None:
            self._take(message)
        if self.page.due:
            self.page.due = False
            self._check()
        self._send(self.page.take())
        self.page.sent()

    def _send_at_once(self, frame: bytes) -> bool:
        """Whether it could be sent without a wait, by whoever has it."""
        sent: bool = self.socket.connected and self.socket.sock.send_at_once(frame)
        if sent:
            FRAMES.inc()
        return sent

    def _take(self, message: str | bytes) -> None:
        try:
            if not self.allowance.take():
                raise ValueError("too many messages")  # noqa: TRY301 - as bad as nonsense
            wish = parse(message)
        except ValueError:
            self.page.closing = REFUSED
            return
        if wish:
            self._grant(wish)
        else:
            self.socket.send(SIGN_OF_LIFE)

    def _grant(self, wish: Wish) -> None:
        page = self.page
        page.term = wish.term
        wanted = {topics.windows(wish.term), topics.account(page.visitor.id)}
        try:
            if wish.operations and "admin" in page.visitor.roles:
                wanted.add(topics.operations())
            sections = _same(frozenset(seen(page.visitor, wish.term, wish.sections)))
            if page.visitor.student_id:
                wanted.add(topics.student(wish.term, page.visitor.student_id))
                page.own(set(seen(page.visitor, wish.term, wish.held)), mark=wish.mark)
            if wish.student and "admin" in page.visitor.roles:
                wanted.add(topics.student(wish.term, wish.student))
            if wish.roster and may_see_roster(page.visitor, wish.roster):
                wanted.add(topics.roster(wish.term, wish.roster))
            elif wish.roster:
                page.signal(Signal("refused", {"roster": wish.roster}))
            known = page.topics
            if wish.room and (page.visitor.student_id or "admin" in page.visitor.roles):
                wanted.add(topics.room(wish.term, wish.room))
            self.hub.listen(page, sections, wanted)
            self._meet(wish, known)
        except (LedgerUnavailable, SQLAlchemyError):
            page.closing = RESTART  # the browser asks again

    def _meet(self, wish: Wish, known: set[Topic]) -> None:
        """Tell a page what may have changed between its drawing and its listening."""
        if wish.roster and topics.roster(wish.term, wish.roster) in self.page.topics - known:
            self.page.signal(Signal("roster", {"section": wish.roster}))
        student, window = self.page.visitor.student_id, wish.room
        if student and window and topics.room(wish.term, window) not in known:
            met = rooms.met(window, room.look(wish.term, window, student))
            if met:
                self.page.signal(met)

    def _send(self, parcel: Parcel) -> None:
        html = parcel.html
        if parcel.own:
            html += self._own(parcel)
        frames = [*([html] if html else []), *parcel.signals]
        for frame in frames:
            self.socket.send(frame)
        if frames:
            FRAMES.inc(len(frames))

    def _own(self, parcel: Parcel) -> str:
        page = self.page
        if not page.visitor.student_id:
            return ""
        try:
            drawn = own.draw(
                page.term,
                page.visitor.student_id,
                parcel.sections,
                parcel.moments,
                parcel.mark,
                page.sections,
            )
        except Exception:
            # The hub asks for it again when it hears from the ledger again.
            log.exception("could not draw a student's own state")
            return ""
        self.hub.wait(page, drawn.waits)
        return drawn.html

    def _check(self) -> None:
        """By a ping of ours: those of simple-websocket take a selector for each page."""
        if not self._still_valid():
            self.page.closing = REFUSED
        elif not self.socket.pong_received:
            self.page.closing = RESTART
        elif self.socket.connected:  # else it has said goodbye meanwhile
            self.socket.pong_received = False
            self.socket.sock.send(self.socket.ws.send(Ping()))
            self._narrow()

    def _narrow(self) -> None:
        """Send no more counts of sections that are no longer shown, as selection has ended."""
        page = self.page
        with suppress(LedgerUnavailable, SQLAlchemyError):  # looked at again in a minute
            if page.sections and ended(page.visitor, page.term):
                left = seen(page.visitor, page.term, tuple(page.sections))
                self.hub.listen(page, _same(frozenset(left)), set(page.topics))

    def _still_valid(self) -> bool:
        found: Any = accounts.find(self.page.visitor.id)
        same = found is not None and found.has(self.page.visitor.epoch, self.session)
        return same and time() < self.ends

    def _cut(self) -> None:
        self.socket.connected = False
        with suppress(OSError):  # closed by now
            self.socket.sock.shutdown(2)


@lru_cache(1000)
def _same(sections: frozenset[int]) -> frozenset[int]:
    """The very same for all pages that show the same, as each would take KBs."""
    return sections
