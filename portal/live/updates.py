"""What has been heard and not been told yet, gathered by topic."""

import json
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from portal.live import topics
from portal.live.topics import Topic
from portal.waiting_room.room import RoomState, room_state

AT_ONCE = (0, 0)
# By then every process knows what is offered.
LATER_MS = (2100, 3500)
# A page that made the change itself has had its answer by then.
SOON_MS = (200, 500)
# Later than pages may go by windows that they read before; not all at the same instant.
SPREAD_MS = (1100, 2600)
# Pages open and close by their own countdown, so this only reminds those that overslept.
WINDOW_NEWS = {
    "window_set": ("window", SPREAD_MS),
    "window_opened": ("turned", AT_ONCE),
    "window_closed": ("turned", AT_ONCE),
}
# What a student is told apart from seats. A notice may go to thousands at the same moment.
TOLD = {"plan": SOON_MS, "notice": SPREAD_MS}
# What pages ask about, by topic, after nobody knows what they have missed.
MISSED = {
    "student": ("own", *TOLD),
    "account": ("notice",),
    "windows": ("window",),
    "roster": ("roster",),
}
CALLED_MS = 1000  # over which those called at once come in, where there are very many
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
    """A word to the scripts of pages, which act on it after so many ms, by chance."""

    name: str
    detail: dict[str, Any] = field(default_factory=dict)
    between: tuple[int, int] = AT_ONCE

    @cached_property
    def text(self) -> str:
        """It as it is sent, the same to all."""
        return json.dumps(asdict(self))


def turn_signal(window: int, spread: int = 0) -> Signal:
    """That one's turn may have come, to be looked at within so many ms."""
    return Signal("turn", {"window": window}, (0, spread))


@dataclass
class Updates:
    """Sections whose counts have changed, waitlists that have moved, events to show, signals."""

    counts: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))  # by term
    queues: set[Topic] = field(default_factory=set)
    moments: dict[Topic, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    signals: dict[Topic, dict[str, Signal]] = field(default_factory=lambda: defaultdict(dict))
    rooms: dict[Topic, RoomState] = field(default_factory=dict)  # as each stood last

    def hear(self, term: int, event: dict[str, Any]) -> None:
        """Take in an event of the ledger."""
        name, section = event["name"], event.get("section")
        if name in WINDOW_NEWS:
            word, between = WINDOW_NEWS[name]
            self.say(topics.windows(term), Signal(word, {"window": event["window"]}, between))
        if section and name in QUEUE_MOVES:
            self.queues.add(topics.queue(term, section))
        if section and event.get("student"):
            self._hear_of_student(topics.student(term, event["student"]), event)

    def hear_recorded(self, term: int, note: dict[str, Any]) -> None:
        """Take in that events up to `seq` have been recorded."""
        detail = {"seq": note["seq"]}
        for section in note.get("sections", ()):
            self.say(topics.roster(term, section), Signal("roster", detail))
        for student in note.get("students", ()):
            self.say(topics.student(term, student), Signal("recorded", detail))

    def hear_told(self, term: int, note: dict[str, Any]) -> None:
        """Take in what a student is to be told."""
        name, topic = note["signal"], topics.student(term, note["student"])
        self.say(topic, Signal(name, note["detail"], TOLD[name]))
        if name == "notice":
            # Perhaps of a section that was canceled: a panel that shows it may have to say so.
            self.say(topic, Signal("own", {}, LATER_MS))

    def hear_notice(self, account: int, _note: Any) -> None:
        """Take in that there is news for an account."""
        self.say(topics.account(account), Signal("notice", {}, SOON_MS))

    def hear_room(self, term: int, note: dict[str, Any]) -> None:
        """Take in how a waiting room stands, and who has just been called."""
        window, called = note["window"], note["students"] or ()
        self.rooms[topics.room(term, window)] = room_state(note)
        signal = turn_signal(window, min(CALLED_MS, len(called)))
        for student in called:
            self.say(topics.student(term, student), signal)

    def say(self, topic: Topic, signal: Signal) -> None:
        """Give pages a signal; of several alike only the last is given."""
        self.signals[topic][f"{signal.name} {signal.detail.get('section', '')}"] = signal

    def _hear_of_student(self, topic: Topic, event: dict[str, Any]) -> None:
        """What students do themselves their page has shown; what is done for them it has not.

        What is done by hand is told by its notice.
        """
        states = BY_HAND if event["cause"] == "adjust" else STATES
        if event["name"] in states:
            detail = {"section": event["section"], "state": states[event["name"]]}
            self.say(topic, Signal("own", detail, SOON_MS))
        else:
            self.moments[topic].append(event)
