"""One event of the ledger, told alike by the journal and by the event log."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from portal.core.moments import milliseconds, moment

CONTEXT = ("actor", "correlation", "cause", "request")
OF_A_SEAT = ("enrolled", "promoted", "dropped")
# Where there are some: by hand, why and the codes of the reasons that were put aside; else the
# window that was open to whom it was decided for.
MORE = ("reason", "overrides", "during")

IMPORT_PREFIX = "import:"  # begins the correlation of what an import does; its number is behind


@dataclass(frozen=True, slots=True)
class Event:
    """What happened (`name`, `payload`), to what (`aggregate`), when, and by whom (`context`)."""

    seq: int
    at: datetime
    name: str
    version: int
    aggregate: str
    payload: dict[str, Any]
    context: dict[str, Any]

    @property
    def by_hand(self) -> bool:
        """Whether an admin gave or took the seat; what follows from it is not."""
        return "reason" in self.context and self.name in OF_A_SEAT

    @property
    def imported(self) -> bool:
        """Whether an import gave or took the seat."""
        return self.by_hand and str(self.context["correlation"]).startswith(IMPORT_PREFIX)

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for it to be recorded: a decision about a student.

        Sections and windows that are set, and seats that an import gives, come in bulk and often
        before a recorder runs. How late they are recorded says nothing about what people wait for.
        """
        imported = str(self.context.get("correlation", "")).startswith(IMPORT_PREFIX)
        return "student" in self.payload and not imported


def parsed(entry: bytes) -> Event:
    """The fact of a journal entry's JSON."""
    event = orjson.loads(entry)
    take = event.pop
    return Event(
        seq=take("seq"),
        at=moment(take("at")),
        name=take("name"),
        version=take("version"),
        aggregate=take("aggregate"),
        context={key: take(key, "") for key in CONTEXT}
        | {key: take(key) for key in MORE if key in event},
        payload=event,  # what is left
    )


def entry_of(fact: Event) -> str:
    """The JSON of a journal entry that tells the fact."""
    told = {"seq": fact.seq, "at": milliseconds(fact.at), "name": fact.name}
    told |= {"version": fact.version, "aggregate": fact.aggregate}
    context = {name: fact.context[name] for name in (*CONTEXT, *MORE) if fact.context.get(name)}
    return orjson.dumps(told | context | fact.payload).decode()
