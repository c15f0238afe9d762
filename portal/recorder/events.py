"""An event of the ledger, in the same form in the journal and the event log."""

from datetime import datetime
from typing import Any, NamedTuple

import orjson

from portal.core.i18n import _l
from portal.core.moments import milliseconds, moment

CONTEXT = ("actor", "correlation", "cause", "request")
OF_A_SEAT = ("enrolled", "promoted", "dropped")
# Present only where they apply: the reason and the overridden rules of an admin adjustment, with
# the approved application that caused it and its mark; otherwise the window that was open to the
# student. `permitted` has the rules that the student's own permission lifted; `round` and `turn`
# say which allocation round gave the seat, and in which turn.
MORE = ("reason", "overrides", "application", "mark", "during", "permitted", "round", "turn")

# What happened to a student, by the name of the event.
STUDENT_EVENTS = {
    "enrolled": _l("A student enrolled"),
    "dropped": _l("A student dropped a section or was dropped"),
    "waitlisted": _l("A student joined a waitlist"),
    "swap_planned": _l("A student chose the section to swap when a seat opens"),
    "left": _l("A student left a waitlist"),
    "promoted": _l("A student was promoted from a waitlist"),
    "passed_over": _l("A waiting student was skipped"),
    "reconsidered": _l("A skipped student can be promoted again"),
    "refused": _l("A registration was refused"),
}

QUEUE = "queue:"  # begins the aggregate of a waiting room's events
IMPORT_PREFIX = "import:"  # begins the correlation id of an import; its number follows


class Event(NamedTuple):
    """An event: `name` and `payload`, its `aggregate`, its time, and the actor in `context`."""

    seq: int
    at: datetime
    name: str
    version: int
    aggregate: str
    payload: dict[str, Any]
    context: dict[str, Any]

    @property
    def is_adjustment(self) -> bool:
        """Return whether an admin gave or took the seat; consequences do not count."""
        return "reason" in self.context and self.name in OF_A_SEAT

    @property
    def imported(self) -> bool:
        """Return whether an import gave or took the seat."""
        return self.is_adjustment and str(self.context["correlation"]).startswith(IMPORT_PREFIX)

    @property
    def awaited(self) -> bool:
        """Return whether a person waits for it to be recorded: a decision about a student.

        Settings of sections and windows, and imported seats, come in bulk and often before a
        recorder runs. Their lag says nothing about how long people wait. Students in a waiting
        room do not wait for the record of their position.
        """
        imported = str(self.context.get("correlation", "")).startswith(IMPORT_PREFIX)
        queued = self.aggregate.startswith(QUEUE)
        return "student" in self.payload and not imported and not queued


def parsed(entry: bytes) -> Event:
    """Return the event in a journal entry's JSON."""
    payload = orjson.loads(entry)
    take = payload.pop
    return Event(
        seq=take("seq"),
        at=moment(take("at")),
        name=take("name"),
        version=take("version"),
        aggregate=take("aggregate"),
        context={key: take(key, "") for key in CONTEXT}
        | {key: take(key) for key in MORE if key in payload},
        payload=payload,  # the rest
    )


def entry_of(event: Event) -> str:
    """Return the event as the JSON of a journal entry."""
    head = {"seq": event.seq, "at": milliseconds(event.at), "name": event.name}
    head |= {"version": event.version, "aggregate": event.aggregate}
    context = {name: event.context[name] for name in (*CONTEXT, *MORE) if event.context.get(name)}
    return orjson.dumps(head | context | event.payload).decode()
