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
WINDOW_SIGNALS = {
    "window_set": ("window", SPREAD_MS),
    "window_opened": ("turned", AT_ONCE),
    "window_closed": ("turned", AT_ONCE),
}
# Pages learn of deadlines from the catalog.
DEADLINE_EVENTS = {"deadlines_set", "deadline_passed"}
# Signals to students, apart from seats. A notification may go to thousands at once.
STUDENT_SIGNALS = {"plan": SOON_MS, "notice": SPREAD_MS}
# The signals by kind of topic after updates may have been missed: the pages then ask.
SIGNALS_AFTER_A_GAP = {
    "student": ("own", *STUDENT_SIGNALS),
    "account": ("notice",),
    "windows": ("window",),
    "roster": ("roster",),
}
ADMITTED_MS = 1000  # spreads the requests of very many students admitted at once
STATES = {
    "enrolled": "selected",
    "waitlisted": "waiting",
    "swap_planned": "waiting",
    "dropped": "",
    "left": "",
}
STATES_OF_ADJUSTMENTS = STATES | {"promoted": "selected"}
WAITLIST_EVENTS = {"waitlisted", "left", "promoted", "passed_over", "section_set"}


@dataclass(frozen=True)
class PageSignal:
    """A signal to the pages' scripts, which act after a random delay (ms)."""

    name: str
    detail: dict[str, Any] = field(default_factory=dict)
    between: tuple[int, int] = AT_ONCE

    @cached_property
    def text(self) -> str:
        """Return the message to send, the same for all pages."""
        return json.dumps(asdict(self))


def turn_signal(window: int, spread: int = 0) -> PageSignal:
    """Return the signal that the student may be admitted now; check within `spread` ms."""
    return PageSignal("turn", {"window": window}, (0, spread))


@dataclass
class Updates:
    """Changed counts, moved waitlists, events to show, and signals."""

    counts: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))  # by term
    waitlists: set[Topic] = field(default_factory=set)
    student_events: dict[Topic, list[dict[str, Any]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    signals: dict[Topic, dict[str, PageSignal]] = field(default_factory=lambda: defaultdict(dict))
    rooms: dict[Topic, RoomState] = field(default_factory=dict)  # the latest state of each

    def add_event(self, term: int, event: dict[str, Any]) -> None:
        name, section = event["name"], event.get("section")
        if name in WINDOW_SIGNALS:
            signal, between = WINDOW_SIGNALS[name]
            self.add_signal(
                topics.windows(term), PageSignal(signal, {"window": event["window"]}, between)
            )
        if name in DEADLINE_EVENTS:
            self.add_signal(topics.windows(term), PageSignal("window", {}, LATER_MS))
        if section and name in WAITLIST_EVENTS:
            self.waitlists.add(topics.waitlist(term, section))
        if section and event.get("student"):
            self._add_student_event(topics.student(term, event["student"]), event)

    def add_recorded(self, term: int, message: dict[str, Any]) -> None:
        """Add that events up to `seq` have been recorded."""
        detail = {"seq": message["seq"]}
        for section in message.get("sections", ()):
            self.add_signal(topics.roster(term, section), PageSignal("roster", detail))
        for student in message.get("students", ()):
            self.add_signal(topics.student(term, student), PageSignal("recorded", detail))

    def add_student_signal(self, term: int, message: dict[str, Any]) -> None:
        name, topic = message["signal"], topics.student(term, message["student"])
        self.add_signal(topic, PageSignal(name, message["detail"], STUDENT_SIGNALS[name]))
        if name == "notice":
            # The section may be canceled: a panel that shows it may have to say so.
            self.add_signal(topic, PageSignal("own", {}, LATER_MS))

    def add_notification(self, account: int, _message: Any) -> None:
        self.add_signal(topics.account(account), PageSignal("notice", {}, SOON_MS))

    def add_room(self, term: int, message: dict[str, Any]) -> None:
        """Add a waiting room's state, and who has just been admitted."""
        window, admitted = message["window"], message["students"] or ()
        self.rooms[topics.room(term, window)] = room_state(message)
        signal = turn_signal(window, min(ADMITTED_MS, len(admitted)))
        for student in admitted:
            self.add_signal(topics.student(term, student), signal)

    def add_signal(self, topic: Topic, signal: PageSignal) -> None:
        """Add a signal for pages; a later one of the same name replaces it."""
        self.signals[topic][f"{signal.name} {signal.detail.get('section', '')}"] = signal

    def _add_student_event(self, topic: Topic, event: dict[str, Any]) -> None:
        """Announce what others did for a student; the page has shown the student's own actions.

        A notification announces admin adjustments.
        """
        states = STATES_OF_ADJUSTMENTS if event["cause"] == "adjust" else STATES
        if event["name"] in states:
            detail = {"section": event["section"], "state": states[event["name"]]}
            self.add_signal(topic, PageSignal("own", detail, SOON_MS))
        else:
            self.student_events[topic].append(event)
