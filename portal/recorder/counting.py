"""What a section's row of the read models counts of its seats, as the ledger counts them."""

from typing import Any

from portal.recorder.fact import Fact, milliseconds

Row = dict[str, Any]

NOBODY: Row = {"enrolled": 0, "waiting": 0, "passed": 0}


def settings(told: Row) -> Row:
    """What an event says that a section is set to, whoever has a seat in it."""
    return {
        "section_id": told["section"],
        "status": told["status"],
        "capacity": told["capacity"],
        "waitlist_capacity": told["waitlist"],
        "prior": told["prior"],
        "pool_id": told.get("pool"),
        "pool_capacity": None,
        "reserves": told.get("reserves", []),
    }


def counts(row: Row) -> Row:
    """The counts that the ledger must tell of a section for itself; a pool's are its own."""
    found = {
        "capacity": row["capacity"],
        "taken": taken(row),
        "waiting": row["waiting"],
        "waitlist_capacity": row["waitlist_capacity"],
        "status": row["status"],
        "passed": row["passed"],
    }
    return found | {"kept": row["kept"]} if row["kept"] else found


def taken(row: Row) -> int:
    """Seats that somebody has, be it since before the term was imported."""
    return int(row["prior"] + row["enrolled"])


def keep(row: Row, fact: Fact, given: int) -> None:
    """Count what is held under each reserve, and what all of them keep at that moment."""
    held, reserve, now = row["reserved"], fact.payload.get("reserve"), milliseconds(fact.at)
    if given and reserve:
        held[str(reserve)] = held.get(str(reserve), 0) + given
        row["reserved"] = {each: number for each, number in held.items() if number}
    row["kept"] = sum(
        max(0, each["seats"] - row["reserved"].get(str(each["id"]), 0))
        for each in row["reserves"]
        if not 0 < each["until"] <= now
    )
