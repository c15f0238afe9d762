"""What the ledger is told: sections as it needs them, and waiters to consider."""

from dataclasses import dataclass
from typing import Any

from portal.seats.answers import Reason

# days (Monday=1 … Sunday=64), start and end (minutes since midnight, end excluded),
# first and last day (days since 1970-01-01, both included)
Meeting = tuple[int, int, int, int, int]


@dataclass(frozen=True)
class SectionSpec:
    """A section for the ledger: credits in hundredths; applied if `version` is a newer one."""

    section: int
    capacity: int
    waitlist: int
    prior: int  # seats taken before the import
    status: str  # NEW, OPEN, CONFIRMED or CANCELED
    course: int
    credits_min: int
    credits_max: int
    times: tuple[Meeting, ...]  # those meetings that can clash
    version: int


@dataclass(frozen=True)
class Candidate:
    """A waiter as the catalogue and the record know them now; credits in hundredths."""

    student: int
    windows: tuple[int, ...]
    limit: int
    corequisites: dict[str, Any] | None = None
    rules: tuple[Reason, ...] = ()
