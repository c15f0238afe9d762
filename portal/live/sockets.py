"""The socket of a page: what it subscribes to, what it may see, and what it is sent."""

import logging
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from time import monotonic, time
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy.exc import SQLAlchemyError
from wsproto.events import Ping

from portal.core.i18n import current_locale
from portal.core.metrics import FRAMES
from portal.ledger.errors import LedgerUnavailable
from portal.live import topics, waiting_rooms
from portal.live.hub import Hub
from portal.live.page import REFUSED, RESTART, Page, PageUpdate
from portal.live.rendering import renderers
from portal.live.topics import Topic
from portal.live.updates import PageSignal
from portal.live.visibility import is_hidden, may_see_roster, selection_ended, visible_sections
from portal.people import visitors
from portal.people.advising import advises
from portal.people.roles import Right
from portal.waiting_room import room

if TYPE_CHECKING:
    from simple_websocket import Server


log = logging.getLogger(__name__)

HEARTBEAT = "<!-- -->"
MOST_SECTIONS = 400
MOST_ID = 2**31


@dataclass(frozen=True)
class PageSubscription:
    """What a page wants updates for: its sections, a roster, a waiting room."""

    term: int
    sections: tuple[int, ...] = ()
    held: tuple[int, ...] = ()  # sections in which the student is enrolled or waitlisted
    refused: tuple[int, ...] = ()  # sections that the page says the student can't add
    panel_version: str = ""  # of the student's panel on the page
    roster: int | None = None
    room: int | None = None  # the window whose waiting room it is in
    student: int | None = None  # the student whose record an admin is viewing
    operations: bool = False  # the operations page, which belongs to no term
    staff: bool = False  # a page of staff: their counts have another text


def parse_subscription(message: str | bytes) -> PageSubscription | None:
    """Return the subscription in a message, None for a heartbeat. Raise ValueError on nonsense."""
    subscription = orjson.loads(message)  # refuses deep nesting too
    if subscription == {}:
        return None
    if not isinstance(subscription, dict):
        raise ValueError("A subscription is an object.")  # noqa: TRY004 - one error for every bad message
    if subscription.get("operations") is True:
        return PageSubscription(term=0, operations=True)
    roster, room, student = (subscription.get(name) for name in ("roster", "room", "student"))
    return PageSubscription(
        term=number(subscription.get("term")),
        sections=_numbers(subscription.get("sections", [])),
        held=_numbers(subscription.get("held", [])),
        refused=_numbers(subscription.get("refused", [])),
        panel_version=str(subscription.get("mark", "")),
        roster=None if roster is None else number(roster),
        room=None if room is None else number(room),
        student=None if student is None else number(student),
        staff=subscription.get("staff") is True,
    )


def listed(text: str) -> tuple[int, ...]:
    """Return the ids of a list such as `12,13` in a query string."""
    return _numbers([int(each) for each in text.split(",") if each])


def number(value: Any) -> int:
    """Return the value if it is an id. Raise ValueError otherwise."""
    if type(value) is not int or not 0 < value < MOST_ID:
        raise ValueError(f"{value!r} is no id.")
    return value


def _numbers(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list) or len(values) > MOST_SECTIONS:
        raise ValueError(f"At most {MOST_SECTIONS} sections can be watched.")
    return tuple(dict.fromkeys(number(value) for value in values))


class MessageAllowance:
    """Rate limit of one page's messages: a burst, then a few per second."""

    __slots__ = ("_a_second", "_at", "_burst", "_left")

    def __init__(self, burst: float = 60, a_second: float = 2) -> None:
        self._burst = self._left = burst
        self._a_second = a_second
        self._at = monotonic()

    def count(self) -> bool:
        """Count one message. Return whether it is within the limit."""
        now = monotonic()
        self._left = min(self._burst, self._left + (now - self._at) * self._a_second)
        self._at = now
        self._left -= 1
        return self._left >= 0


class SocketSession:
    """The session of one page, in a greenlet of its own."""

    __slots__ = ("allowance", "ends", "hub", "page", "session", "socket")

    def __init__(
        self,
        socket: "Server",
        hub: Hub,
        visitor: visitors.Visitor,
        *,
        session: str = "",
        ends: float = inf,
    ) -> None:
        self.socket = socket
        self.hub = hub
        self.page = Page(visitor, socket.event.set, str(current_locale()), self._send_now)
        self.allowance = MessageAllowance()
        self.session = session  # session id
        self.ends = ends  # when the session ends, in seconds since 1970

    def run(self) -> None:
        """Read and send until either side closes."""
        if self.hub.leaving:
            self.page.closing = RESTART
        self.hub.add(self.page)
        try:
            while self.socket.connected and not self.page.closing:
                self._round()
            if self.socket.connected:
                self.socket.close(self.page.closing)
        except OSError:
            self._disconnect()  # the page read nothing for too long, or is gone
        finally:
            self.hub.remove(self.page)

    def _round(self) -> None:
        self.socket.event.wait()
        self.socket.event.clear()
        # Receiving clears the event too, so check for messages before sending.
        while (message := self.socket.receive(timeout=0)) is not None:
            self._receive(message)
        if self.page.check_due:
            self.page.check_due = False
            self._check()
        self._send(self.page.take_update())
        self.page.sent()

    def _send_now(self, frame: bytes) -> bool:
        """Send a frame for the hub, if that takes no waiting."""
        sent: bool = self.socket.connected and self.socket.sock.send_now(frame)
        if sent:
            FRAMES.inc()
        return sent

    def _receive(self, message: str | bytes) -> None:
        try:
            if not self.allowance.count():
                raise ValueError("too many messages")  # noqa: TRY301 - as bad as a malformed one
            subscription = parse_subscription(message)
        except ValueError:
            self.page.closing = REFUSED
            return
        if subscription:
            self._subscribe(subscription)
        else:
            self.socket.send(HEARTBEAT)

    def _subscribe(self, subscription: PageSubscription) -> None:
        page = self.page
        page.staff = subscription.staff
        wanted = {topics.windows(subscription.term), topics.account(page.visitor.id)}
        try:
            hidden = not subscription.operations and is_hidden(page.visitor, subscription.term)
            page.term = 0 if hidden else subscription.term
            if hidden:
                self.hub.subscribe(page, _shared(frozenset()), {topics.account(page.visitor.id)})
                return
            if subscription.operations and page.visitor.may(Right.SEE_OPERATIONS):
                wanted.add(topics.operations())
            sections = _shared(
                frozenset(visible_sections(page.visitor, subscription.term, subscription.sections))
            )
            if page.visitor.student_id:
                wanted.add(topics.student(subscription.term, page.visitor.student_id))
                held, refused = (
                    set(visible_sections(page.visitor, subscription.term, sections))
                    for sections in (subscription.held, subscription.refused)
                )
                page.add_student_change(
                    held, refused=refused, panel_version=subscription.panel_version
                )
            if subscription.student and (
                page.visitor.may(Right.SEE_STUDENTS) or advises(page.visitor, subscription.student)
            ):
                wanted.add(topics.student(subscription.term, subscription.student))
            if subscription.roster and may_see_roster(page.visitor, subscription.roster):
                wanted.add(topics.roster(subscription.term, subscription.roster))
            elif subscription.roster:
                page.add_signal(PageSignal("refused", {"roster": subscription.roster}))
            known = page.topics
            if subscription.room and (page.visitor.student_id or page.visitor.may(Right.SEE_TERMS)):
                wanted.add(topics.room(subscription.term, subscription.room))
            self.hub.subscribe(page, sections, wanted)
            self._catch_up(subscription, known)
        except (LedgerUnavailable, SQLAlchemyError):
            page.closing = RESTART  # the browser reconnects

    def _catch_up(self, subscription: PageSubscription, known: set[Topic]) -> None:
        """Send what may have changed between the page's rendering and its subscription."""
        if (
            subscription.roster
            and topics.roster(subscription.term, subscription.roster) in self.page.topics - known
        ):
            self.page.add_signal(PageSignal("roster", {"section": subscription.roster}))
        student, window = self.page.visitor.student_id, subscription.room
        if student and window and topics.room(subscription.term, window) not in known:
            missed = waiting_rooms.missed_signal(
                window, room.queue_entry(subscription.term, window, student)
            )
            if missed:
                self.page.add_signal(missed)

    def _send(self, update: PageUpdate) -> None:
        html = update.html
        if update.student_changed:
            html += self._student_html(update)
        frames = [*([html] if html else []), *update.signals]
        for frame in frames:
            self.socket.send(frame)
        if frames:
            FRAMES.inc(len(frames))

    def _student_html(self, update: PageUpdate) -> str:
        page = self.page
        if not page.visitor.student_id:
            return ""
        try:
            rendered = renderers.student(
                page.term,
                page.visitor.student_id,
                sections=update.sections,
                refused=update.refused,
                events=update.events,
                panel_version=update.panel_version,
                shown=page.sections,
            )
        except Exception:
            # The hub tries again when the ledger is back.
            log.exception("could not render a student's own state")
            return ""
        self.hub.subscribe_to_waitlists(page, rendered.waitlists)
        return rendered.html

    def _check(self) -> None:
        """Check session and connection by our own ping (the library would use a selector each)."""
        found: Any = visitors.find(self.page.visitor.id)
        if not self._still_valid(found):
            self.page.closing = REFUSED
        elif found.roles != self.page.visitor.roles:
            self.page.closing = RESTART  # it may get more or less than it asked for
        elif not self.socket.pong_received:
            self.page.closing = RESTART
        elif self.socket.connected:  # otherwise it has closed meanwhile
            self.socket.pong_received = False
            self.socket.sock.send(self.socket.ws.send(Ping()))
            self._hide_closed_sections()

    def _hide_closed_sections(self) -> None:
        """Stop sending counts of sections that are hidden since the selection window closed."""
        page = self.page
        with suppress(LedgerUnavailable, SQLAlchemyError):  # checked again in a minute
            if page.sections and selection_ended(page.visitor, page.term):
                left = visible_sections(page.visitor, page.term, tuple(page.sections))
                self.hub.subscribe(page, _shared(frozenset(left)), set(page.topics))

    def _still_valid(self, found: visitors.Visitor | None) -> bool:
        same = found is not None and found.has(self.page.visitor.epoch, self.session)
        return same and time() < self.ends

    def _disconnect(self) -> None:
        self.socket.connected = False
        with suppress(OSError):  # already closed
            self.socket.sock.shutdown(2)


@lru_cache(1000)
def _shared(sections: frozenset[int]) -> frozenset[int]:
    """Return one shared set for pages that show the same sections: each would take kilobytes."""
    return sections
