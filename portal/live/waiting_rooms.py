"""Waiting students with open pages: the state of their rooms, and heartbeats for them."""

import logging
import time
from functools import lru_cache
from threading import Event, Lock

from portal.ledger.errors import LedgerUnavailable
from portal.live import topics
from portal.live.topics import Listeners, Topic
from portal.live.updates import PageSignal, turn_signal
from portal.waiting_room import room, wait_estimates
from portal.waiting_room.room import QueueEntry, RoomState

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 10.0  # the room allows 30 s without one
# Thousands of waiting pages get few updates, which cost little; pages count on meanwhile.
SHORTEST_SECONDS = 2.0
LONGEST_SECONDS = 20.0  # pages without updates for longer check whether the connection is dead
PAGES_A_SECOND = 250
# From when on every process knows whether others wait; not all pages ask at the same instant.
OTHERS_MS = (1100, 5000)


class WaitingRooms:
    """The waiting rooms that pages of this process listen to; `lock` guards their topics."""

    def __init__(self, listeners: Listeners, lock: Lock) -> None:
        self._listeners = listeners
        self._lock = lock
        self._due: dict[Topic, float] = {}
        self._others: dict[Topic, bool] = {}  # whether students wait, as it was last sent

    def send_states(self, states: dict[Topic, RoomState]) -> dict[Topic, RoomState]:
        """Send the rooms' states to their pages; return those that are too early to send.

        All pages of the term hear when students begin to wait, or no longer do: it may end a turn.
        """
        now, early = time.monotonic(), {}
        for topic, state in states.items():
            if now < self._due.get(topic, 0.0):
                early[topic] = state
                continue
            signals = [(page, room_signal(topic[2], state)) for page in self._listeners.of(topic)]
            others = state.waiting > 0
            if self._others.get(topic) != others:
                self._others[topic] = others
                signal = PageSignal("others", {"others": others}, OTHERS_MS)
                signals += [(page, signal) for page in self._listeners.of(topics.windows(topic[1]))]
            for page, signal in signals:
                page.add_signal(signal)
            if signals:
                self._due[topic] = now + pause(len(signals))
        return early

    def send_heartbeats(self, of_term: int | None = None) -> None:
        """Send heartbeats for all who wait here; pages that no longer wait are told to check.

        With `of_term`, only for its rooms. Raises LedgerUnavailable after trying every room: in a
        cluster another server may answer.
        """
        with self._lock:
            waiting = {
                topic: sorted({page.visitor.student_id or 0 for page in pages} - {0})
                for topic, pages in self._listeners.by_topic("room").items()
            }
            self._due = {topic: due for topic, due in self._due.items() if topic in waiting}
        away: LedgerUnavailable | None = None
        for (_, term, window), students in waiting.items():
            if of_term in {None, term}:
                try:
                    gone = room.send_heartbeats(term, window, students)
                    self._ask_to_check(term, window, gone)
                except LedgerUnavailable as error:
                    away = error
        if away:
            raise away

    def send_heartbeats_forever(self, ended: Event) -> None:
        while not ended.wait(HEARTBEAT_SECONDS):
            try:
                self.send_heartbeats()
            except LedgerUnavailable as error:
                log.warning("could not send heartbeats: %s", error)
            except Exception:
                log.exception("could not send heartbeats")

    def _ask_to_check(self, term: int, window: int, students: list[int]) -> None:
        signal = turn_signal(window)
        with self._lock:
            for student in students:
                for page in self._listeners.of(topics.student(term, student)):
                    page.add_signal(signal)


def missed_signal(window: int, entry: QueueEntry) -> PageSignal | None:
    """Return the signal for a waiting page that asks: it may have been admitted meanwhile."""
    if entry.kind == "waiting":
        return room_signal(window, entry.room)
    return None if entry.kind == "early" else turn_signal(window)


@lru_cache(maxsize=100)
def room_signal(window: int, state: RoomState) -> PageSignal:
    """Return the signal with a room's state, from which a page estimates its own wait."""
    pace = [round(each, 3) for each in wait_estimates.per_place(state)]
    facts = {"window": window, "called": state.called, "pace": pace, "paused": state.paused}
    return PageSignal("room", facts)


def pause(pages: int) -> float:
    """Return the seconds between updates to that many pages."""
    return min(LONGEST_SECONDS, max(SHORTEST_SECONDS, pages / PAGES_A_SECOND))
