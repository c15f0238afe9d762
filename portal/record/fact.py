"""One event of the ledger, told alike by the journal and by the event log."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
CONTEXT = ("actor", "correlation", "cause", "request")


@dataclass(frozen=True, slots=True)
class Fact:
    """What happened (`name`, `payload`), to what (`aggregate`), when, and by whom (`context`)."""

    seq: int
    at: datetime
    name: str
    version: int
    aggregate: str
    payload: dict[str, Any]
    context: dict[str, Any]


def parsed(entry: bytes) -> Fact:
    """The fact of a journal entry's JSON."""
    event = json.loads(entry.decode())
    take = event.pop
    return Fact(
        seq=take("seq"),
        at=moment(take("at")),
        name=take("name"),
        version=take("version"),
        aggregate=take("aggregate"),
        context={key: take(key, "") for key in CONTEXT},
        payload=event,  # what is left
    )


def moment(milliseconds: int) -> datetime:
    """A time of the ledger as a date and time, to the millisecond."""
    return EPOCH + milliseconds * MILLISECOND


def milliseconds(moment: datetime) -> int:
    """A date and time as the ledger has it."""
    return (moment - EPOCH) // MILLISECOND
