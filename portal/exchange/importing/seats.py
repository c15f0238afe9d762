"""The seats of a section, of its waitlist, and those taken before, as a row of its table says."""

from typing import Any

from portal.catalog.spellings import Unreadable, count_of
from portal.core.i18n import _k
from portal.exchange.importing.tables import Row

# Findings about numbers of new sections that can't be read, and the fields that lack them then.
UNREAD_COUNTS = {
    "enrolled": ("taken_unread", "prior"),
    "remaining": ("taken_unread", "prior"),
    "wait_capacity": ("waitlist_unread", "waitlist"),
}


def read_seats(row: Row, default: int, unread: set[str], *, new: bool) -> dict[str, Any] | None:
    """Return capacity, length of the waitlist, and seats taken before, as far as the row tells.

    There are never more seats than the source can mean. None if a new section would have none, or
    if the capacity can't be read. A new section's waitlist has the length `default` if it is blank.
    Fields of a new section that can't be read are added to `unread`.
    """
    enrolled = _read_number(row, "enrolled", unread, new=new)
    remaining = _read_number(row, "remaining", unread, new=new)
    waitlist: int | None = 0
    if row["wait_capacity"].strip().upper() != "NONE":
        waitlist = _read_number(row, "wait_capacity", unread, new=new)
    try:
        capacity = _read_capacity(row, remaining, enrolled, new=new)
    except Unreadable:
        return None
    if capacity is None:
        known = {} if waitlist is None else {"waitlist": waitlist}
        return None if new else known | {"prior": 0}
    prior = enrolled
    if prior is None and remaining is not None:
        prior = max(0, capacity - remaining)
    elif prior is None and "prior" in unread:
        prior = capacity
    prior = prior or 0
    if prior > capacity:
        text = _k("%(taken)s of %(seats)s.")
        row.note("over_capacity", "enrolled", text, taken=prior, seats=capacity)
    if capacity == 0:
        row.note("no_seats", "capacity")
    if None not in (enrolled, remaining) and capacity - prior != remaining:
        text = _k("%(seats)s minus %(taken)s.")
        row.note("counts_disagree", "remaining", text, seats=capacity, taken=prior)
    if waitlist is None and new:
        waitlist = default if capacity > 0 else 0
    found = {"capacity": capacity, "waitlist": waitlist, "prior": prior}
    return {name: number for name, number in found.items() if number is not None}


def _read_capacity(
    row: Row, remaining: int | None, enrolled: int | None, *, new: bool
) -> int | None:
    """Return the number of seats, None if the row leaves it out. Raise Unreadable."""
    found = count_of(row["capacity"])
    if found is not None and found < 0:
        raise Unreadable(_k("Write a whole number."))
    if found is None and remaining is not None and enrolled is not None and new:
        found = max(0, enrolled + remaining)
        text = _k("Seats: %(seats)s = %(taken)s + %(left)s.")
        row.note("capacity_missing", "capacity", text, seats=found, taken=enrolled, left=remaining)
    return found


def _read_number(row: Row, column: str, unread: set[str], *, new: bool) -> int | None:
    """Return a number of a new or known section, None if there is none or it can't be read.

    Only the seats left can be negative. They are needed only if those taken are blank.
    """
    fault = Unreadable(_k("It is negative."))
    try:
        found = count_of(row[column])
        if found is None or found >= 0 or column == "remaining":
            return found
    except Unreadable as error:
        fault = error
    kind, name = UNREAD_COUNTS[column]
    if not new or (column == "remaining" and row["enrolled"]):
        kind = "count" if new else "count_unread"
    else:
        unread.add(name)
    row.note(kind, column, fault)
    return None
