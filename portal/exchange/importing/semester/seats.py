"""The seats of a section's row: never more than the source can mean."""

from dataclasses import dataclass

from portal.catalog.spellings import Unreadable, count_of
from portal.core.i18n import _k, stored_message
from portal.exchange.importing.report import Report
from portal.exchange.importing.tables import Row


@dataclass(frozen=True)
class RowSeats:
    """Capacities, and students who are in already."""

    capacity: int
    waitlist: int
    prior: int


def read_seats(row: Row, waitlist: int, report: Report) -> RowSeats:
    """The seats of a row; `waitlist` is the length of a list where the row gives none."""
    remaining = number(row, "remaining", report)
    enrolled = whole(row, "enrolled", report)
    capacity = read_capacity(row, enrolled, remaining, report)
    prior = read_prior(row, capacity, enrolled, remaining, report)
    if prior > capacity:
        report.note(
            "over_capacity",
            row,
            "enrolled",
            stored_message(_k("%(taken)s of %(seats)s."), taken=prior, seats=capacity),
        )
    if capacity == 0:
        report.note("no_seats", row, "capacity")
    if None not in (enrolled, remaining) and capacity - prior != remaining:
        report.note(
            "counts_disagree",
            row,
            "remaining",
            stored_message(_k("%(seats)s less %(taken)s."), seats=capacity, taken=prior),
        )
    return RowSeats(capacity, read_waitlist(row, capacity, waitlist, report), prior)


def read_capacity(row: Row, enrolled: int | None, remaining: int | None, report: Report) -> int:
    """The capacity; without a readable one enrolled and remaining, else none at all."""
    capacity = whole(row, "capacity", report)
    if capacity is not None:
        return capacity
    stand_in = max(0, (enrolled or 0) + (remaining or 0)) if remaining is not None else 0
    report.note("count", row, "capacity", stored_message(_k("Seats: %(seats)s."), seats=stand_in))
    return stand_in


def read_prior(
    row: Row, capacity: int, enrolled: int | None, remaining: int | None, report: Report
) -> int:
    """Who is in already; where that can't be known the section counts as full."""
    if enrolled is not None:
        return enrolled
    if remaining is not None:
        return max(0, capacity - remaining)
    if row["enrolled"]:
        report.note(
            "count",
            row,
            "enrolled",
            stored_message(_k("It counts as full, so that no seat goes twice.")),
        )
        return capacity
    return 0


def read_waitlist(row: Row, capacity: int, default: int, report: Report) -> int:
    """The length of the waitlist; a blank one is `default`, or 0 where there are no seats."""
    stated = whole(row, "wait_capacity", report)
    if stated is not None:
        return stated
    return default if capacity > 0 else 0


def whole(row: Row, column: str, report: Report) -> int | None:
    """A number that can't be negative."""
    found = number(row, column, report)
    if found is not None and found < 0:
        report.note("count", row, column, stored_message(_k("0 stands in for a negative number.")))
        return 0
    return found


def number(row: Row, column: str, report: Report) -> int | None:
    """A number, None where there is none or it can't be read."""
    try:
        return count_of(row[column])
    except Unreadable as error:
        report.note("count", row, column, error.stored)
        return None
