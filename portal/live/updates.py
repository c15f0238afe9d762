"""Updates received but not sent yet, by topic."""

import json
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from portal.live import topics
from portal.live.topics import Topic
from portal.waiting_room.room import RoomState, room_state

AT_ONCE = (0, 0)
# By then every process knows the current catalog.
LATER_MS = (2100, 3500)
# Long enough for a page that made the change itself to get its response.
SOON_MS = (200, 500)
# Longer than pages use windows that they read before, and not all at the same instant.
SPREAD_MS = (1100, 2600)
# Pages open and close by their own countdown; this only reminds those that slept.
WINDOW_NEWS = {
    "window_set": ("window", SPREAD_MS),
    "window_opened": ("turned", AT_ONCE),
    "window_closed": ("turned", AT_ONCE),
}
# Signals to students, apart from seats. A notification may go to thousands at once.
TOLD = {"plan": SOON_MS, "notice": SPREAD_MS}
# What pages ask about, by topic, after updates may have been missed.
MISSED = {
    "student": ("own", *TOLD),
    "account": ("notice",),
    "windows": ("window",),
    "roster": ("roster",),
}
CALLED_MS = 1000  # spreads the requests of very many students admitted at once
STATES = {
    "enrolled": "selected",
    "waitlisted": "waiting",
    "swap_planned": "waiting",
    "dropped": "",
    "left": "",
}
BY_HAND = STATES | {"promoted": "selected"}
QUEUE_MOVES = {"waitlisted", "left", "promoted", "passed_over", "section_set"}


@dataclass(frozen=True)
class Signal:
    """A signal to the pages' scripts, which act after a random delay (ms)."""

    name: str
    detail: dict[str, Any] = field(default_factory=dict)
    between: tuple[int, int] = AT_ONCE

    @cached_property
    def text(self) -> str:
        """Return the message to send, the same for all pages."""
        return json.dumps(asdict(self))


def turn_signal(window: int, spread: int = 0) -> Signal:
    """Return the signal that the student may be admitted now; check within `spread` ms."""
    return Signal("turn", {"window": window}, (0, spread))


@dataclass
class Updates:
    """Changed counts, moved waitlists, events to show, and signals."""

    counts: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))  # by term
    queues: set[Topic] = field(default_factory=set)
    moments: dict[Topic, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    signals: dict[Topic, dict[str, Signal]] = field(default_factory=lambda: defaultdict(dict))
    rooms: dict[Topic, RoomState] = field(default_factory=dict)  # the latest state of each

    def add_event(self, term: int, event: dict[str, Any]) -> None:
        """Add an event of the ledger."""
        name, section = event["name"], event.get("section")
        if name in WINDOW_NEWS:
            word, between = WINDOW_NEWS[name]
            self.say(topics.windows(term), Signal(word, {"window": event["window"]}, between))
        if section and name in QUEUE_MOVES:
            self.queues.add(topics.queue(term, section))
        if section and event.get("student"):
            self._add_moment(topics.student(term, event["student"]), event)

    def add_recorded(self, term: int, note: dict[str, Any]) -> None:
        """Add that events up to `seq` have been recorded."""
        detail = {"seq": note["seq"]}
        for section in note.get("sections", ()):
            self.say(topics.roster(term, section), Signal("roster", detail))
        for student in note.get("students", ()):
            self.say(topics.student(term, student), Signal("recorded", detail))

    def add_told(self, term: int, note: dict[str, Any]) -> None:
        """Add a message to a student."""
        name, topic = note["signal"], topics.student(term, note["student"])
        self.say(topic, Signal(name, note["detail"], TOLD[name]))
        if name == "notice":
            # The section may be canceled: a panel that shows it may have to say so.
            self.say(topic, Signal("own", {}, LATER_MS))

    def add_notice(self, account: int, _note: Any) -> None:
        """Add that an account has a new notification."""
        self.say(topics.account(account), Signal("notice", {}, SOON_MS))

    def add_room(self, term: int, note: dict[str, Any]) -> None:
        """Add a waiting room's state, and who has just been admitted."""
        window, called = note["window"], note["students"] or ()
        self.rooms[topics.room(term, window)] = room_state(note)
        signal = turn_signal(window, min(CALLED_MS, len(called)))
        for student in called:
            self.say(topics.student(term, student), signal)

    def say(self, topic: Topic, signal: Signal) -> None:
        """Add a signal for pages; a later one of the same name replaces it."""
        self.signals[topic][f"{signal.name} {signal.detail.get('section', '')}"] = signal

    def _add_moment(self, topic: Topic, event: dict[str, Any]) -> None:
        """Announce what others did for a student; the page has shown the student's own actions.

        A notification announces admin adjustments.
        """
        states = BY_HAND if event["cause"] == "adjust" else STATES
        if event["name"] in states:
            detail = {"section": event["section"], "state": states[event["name"]]}
            self.say(topic, Signal("own", detail, SOON_MS))
        else:
            self.moments[topic].append(event)
