"""Local times in an admin's form, in the institution's zone, with error messages."""

from dataclasses import dataclass, field
from typing import Any

from werkzeug.datastructures import MultiDict

from portal.catalog.local_time import AmbiguousTime, LocalClock, SkippedTime
from portal.core.i18n import _, _l


@dataclass(frozen=True)
class Listed:
    """A list of student numbers: how many, how many repeated, and which are unknown."""

    given: int
    again: int
    unknown: list[str]


@dataclass
class Reading:
    """Values read from a form, and errors by field."""

    values: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, list[str]] = field(default_factory=dict)
    # By field: the two moments of an ambiguous local time, for the admin to choose from.
    choices: dict[str, tuple[int, int]] = field(default_factory=dict)
    listed: Listed | None = None

    def wrong(self, name: str, message: str) -> None:
        """Add an error to a field."""
        self.errors.setdefault(name, []).append(message)


FARTHEST = 5 * 365 * 24 * 60 * 60_000  # ms; a later time means a mistyped year
LABELS = {"opens": _l("Begins"), "closes": _l("Ends")}


def read_time(
    reading: Reading, form: MultiDict[str, str], name: str, clock: LocalClock, label: str = ""
) -> None:
    """Read the moment (ms) in a field; a second input resolves a time that occurs twice."""
    text = form.get(name, "").strip()
    chosen = {"first": False, "second": True}.get(form.get(f"{name}_which", ""))
    try:
        reading.values[name] = clock.moment(text, second=chosen)
    except AmbiguousTime as twice:
        reading.choices[name] = twice.choices
        reading.wrong(
            name,
            _(
                "%(field)s: the clocks go back that night, and this time comes twice. Choose one.",
                field=label or LABELS[name],
            ),
        )
        return
    except SkippedTime:
        before, after = clock.jump(text)
        reading.wrong(
            name,
            _(
                "The clocks go forward that night, and this time does not exist:"
                " %(last)s is followed by %(next)s.",
                last=f"{clock.clock(before)} {clock.name(before)}",
                next=clock.full(after),
            ),
        )
    except (ValueError, OverflowError):
        reading.wrong(
            name,
            _(
                "%(field)s: give a day and a time, such as November 23, 9:00 am.",
                field=label or LABELS[name],
            ),
        )
    else:
        _keep_choice(reading, form, name, clock)


def check_order(reading: Reading, now: int) -> None:
    """Add errors for the order of the two times and of the ledger's clock."""
    for name, label in LABELS.items():
        if abs(reading.values.get(name, now) - now) > FARTHEST:
            reading.wrong(
                name, _("%(field)s: that is more than five years away. Mind the year.", field=label)
            )
            del reading.values[name]
    opens, closes = reading.values.get("opens"), reading.values.get("closes")
    if closes is not None and closes <= now:
        reading.wrong("closes", _("The end is in the past."))
    if opens is not None and closes is not None and closes <= opens:
        reading.wrong("closes", _("The end must come after the beginning."))


def _keep_choice(reading: Reading, form: MultiDict[str, str], name: str, clock: LocalClock) -> None:
    """If a time occurs twice, keep showing the choice made, so that it can be changed."""
    try:
        clock.moment(form[name].strip())
    except AmbiguousTime as twice:
        reading.choices[name] = twice.choices
