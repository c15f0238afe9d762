"""What the person who imports may choose."""

from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

LAYOUTS = ("semester", "oneroster")


@dataclass(frozen=True)
class Options:
    """The choices of one import."""

    layout: str = "semester"
    term: str = ""  # of a semester: its name
    update: bool = False  # whether a semester may be of a term that is there already
    past: bool = False  # whether students are put in past all rules and the capacity
    leave_out: bool = False  # whether seats that would be refused keep nothing else from being done
    remove: bool = False  # whether what the files should name, but don't, goes
    waitlist: int = 10  # length where the source gives none
    credit_limit: int = 21  # of a new term
    starts: date | None = None  # the term's dates, where meetings have none
    ends: date | None = None

    def kept(self) -> dict[str, Any]:
        """As JSON."""
        return {name: _plain(value) for name, value in asdict(self).items()}

    @classmethod
    def read(cls, kept: dict[str, Any]) -> "Options":
        """Out of JSON."""
        days = {name: kept[name] and date.fromisoformat(kept[name]) for name in ("starts", "ends")}
        return cls(**(kept | days))


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value
