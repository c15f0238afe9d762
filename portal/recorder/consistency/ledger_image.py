"""The image: what the ledger should hold of a term according to the event log.

It describes every key and entry. Audits compare the ledger with it; `rebuild ledger` writes it. A
key whose kind is not in KINDS is always a difference. `portal.ledger.types.SectionSpec` describes
the settings of a section; the ledger's functions and events follow it too.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from portal.core.moments import milliseconds
from portal.ledger import types
from portal.ledger.types import BAND, COUNTS, DEADLINES
from portal.recorder.events import Event
from portal.recorder.projections import Pair, Row, TermState

Shape = Literal["hash", "set", "sorted set", "text"]
# A hash's fields, a set's members (value True), or a sorted set's members and scores.
Entries = Mapping[str, Any]
Keys = Mapping[str, Entries]  # by their names without the term's prefix

WAITS = {"waiting", "passed"}
PASSED = ":passed"  # after the name of a deadline that has passed
TEXT = "value"  # the name of a string key's only entry
# No event describes these: the journal and its fence, stored answers (see `answered`), rate limits,
# changes of plans, metrics, markers for replicas, and who was notified. Waiting rooms are compared
# by room_image.py.
NOT_IN_LOG = {
    "deadlines_seen",
    "journal",
    "seq",
    "fence",
    "plans",
    "rate",
    "replicated",
    "request",
    "room",
    "tally",
    "warmup",
    "woken",
}


@dataclass
class Image(TermState):
    """Everything that follows from the log of a term: read models, and the ledger's extras.

    `aside` and `elsewhere` follow from no event: an audit reads them from the ledger. A rebuilt
    ledger starts without them.
    """

    last: Event | None = None
    settings: dict[int, Row] = field(default_factory=dict)  # of each section
    # when its reserves were last checked (ms)
    planned: dict[int, int] = field(default_factory=dict)
    pool_versions: dict[int, int] = field(default_factory=dict)
    opened: set[int] = field(default_factory=set)  # windows
    ended: set[int] = field(default_factory=set)
    deadlines: Row = field(default_factory=dict)  # ms by name, those passed, and their version
    in_round: dict[int, int] = field(default_factory=dict)  # the round that holds a section
    round_ends: dict[int, int] = field(default_factory=dict)  # ms, until its sections are held
    passes: dict[Pair, int] = field(default_factory=dict)  # that are in force
    drops: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))  # by day
    # waiting students without a matching reserved seat
    aside: set[Pair] = field(default_factory=set)
    elsewhere: set[int] = field(default_factory=set)  # ms: reserves of other sections

    def applied(self, event: Event) -> None:
        """Apply one more event."""
        self.last, payload = event, event.payload
        match event.name:
            case "section_set":
                self._set(event)
            case "reserve_opened":
                self.planned[payload["section"]] = milliseconds(event.at)
            case "dropped" if "day" in payload:
                self.drops[payload["student"]][payload["day"]] += 1
            case "passed_over" if "passes" in payload:
                self.passes[payload["section"], payload["student"]] = payload["passes"]
            case "left" | "promoted":
                self.passes.pop((payload["section"], payload["student"]), None)
            case "window_opened":
                self.opened.add(payload["window"])
            case "window_closed":
                self.ended.add(payload["window"])
            case "round_end_set" | "round_held" | "round_ended":
                self._hold(event)
            case "deadlines_set" | "deadline_passed":
                self._set_deadlines(payload)

    def _set(self, event: Event) -> None:
        settings, pool = event.payload, event.payload.get("pool")
        self.settings[settings["section"]] = settings
        self.planned[settings["section"]] = milliseconds(event.at)
        if pool:
            version = max(self.pool_versions.get(pool, 0), settings.get("pool_version", 0))
            self.pool_versions[pool] = version
        for gone in [each for each in self.pool_versions if not self.pools.get(each)]:
            del self.pool_versions[gone]

    def _hold(self, event: Event) -> None:
        number = event.context["round"]
        if event.name == "round_end_set":
            self.round_ends[number] = event.payload["ends"]
            return
        self.round_ends.pop(number, None)
        for section in event.payload["sections"]:
            if event.name == "round_held":
                self.in_round[section] = number
            else:
                self.in_round.pop(section, None)

    def _set_deadlines(self, payload: Row) -> None:
        if "deadline" in payload:
            self.deadlines[payload["deadline"] + PASSED] = 1
            return
        known, self.deadlines = self.deadlines, {"version": payload["deadlines_version"]}
        for name in DEADLINES:
            if name in payload:
                self.deadlines[name] = payload[name]
                if known.get(name) == payload[name] and name + PASSED in known:
                    self.deadlines[name + PASSED] = 1

    def keys(self) -> dict[str, Entries]:
        """Return the keys that must exist, with their entries."""
        return {
            kind.key(number): {str(name): value for name, value in entries.items()}
            for kind in KINDS
            for number, entries in kind.entries_of(self)
            if entries
        }

    def held_seats(self) -> Iterator[tuple[Pair, Row]]:
        return ((at, row) for at, row in self.enrollments.items() if row["state"] == "enrolled")

    def waitlist_positions(self) -> Iterator[tuple[Pair, Row]]:
        return ((at, row) for at, row in self.waitlist.items() if row["state"] in WAITS)

    def set_aside(self, found: Keys) -> None:
        """Take from the ledger which waiting, not skipped students were set aside."""
        self.aside = {
            (section, student)
            for (section, student), row in self.waitlist_positions()
            if row["state"] == "waiting" and str(student) in found.get(f"aside:{section}", ())
        }


# What each kind of key holds --------------------------------------------------------------------

Numbered = Iterable[tuple[int | None, Mapping[Any, Any]]]  # the number in the key, and its entries


def _sections(image: Image) -> Numbered:
    for section, settings in image.settings.items():
        # Events from before a field existed lack it, and so does the ledger.
        fields = {name: settings[name] for name in types.SECTION_FIELDS if name in settings}
        fields |= {"version": settings["section_version"], "pool": settings.get("pool") or 0}
        yield section, fields | {"reserves": settings.get("reserves", [])}


def _counts(image: Image) -> Numbered:
    unasked, found = _unasked(image), {}
    for section, row in image.seats.items():
        counted = {"seq": row["seq"], "kept": row["kept"], "unasked": unasked[section]}
        counted |= image.counted(row)
        found[section] = [counted[name] for name in COUNTS if name in counted]
    yield None, found


def _unasked(image: Image) -> dict[int, int]:
    """Return, by section, how many waiting students are not yet checked for reserved seats."""
    aside = Counter(section for section, _ in image.aside)
    return {
        section: row["waiting"] - row["passed"] - aside[section]
        if row["kept"] and image.counted(row)["taken"] < row["capacity"]
        else 0
        for section, row in image.seats.items()
    }


def _vacant(image: Image) -> Numbered:
    """Return the sections with a free seat and a waiting student who is still to be checked.

    After the last day to add there are none, and none in sections that a round holds.
    """
    if "add_deadline" + PASSED in image.deadlines:
        yield None, {}
        return
    unasked, found = _unasked(image), {}
    for section, row in image.seats.items():
        if section in image.in_round:
            continue
        counted = image.counted(row)
        room = not row["pool_id"] or counted["pool_taken"] < counted["pool_capacity"]
        free = counted["taken"] + row["kept"] < row["capacity"] and row["waiting"] > row["passed"]
        if row["status"] == "OPEN" and room and (free or unasked[section] > 0):
            found[section] = True
    yield None, found


def _emptying(image: Image) -> Numbered:
    canceled = {each: row for each, row in image.seats.items() if row["status"] == "CANCELED"}
    yield None, {each: True for each, row in canceled.items() if row["enrolled"] + row["waiting"]}


def _rosters(image: Image) -> Numbered:
    parts = "credits", "registration", "since", "reserve"
    return _by_section((at, _joined(row, *parts)) for at, row in image.held_seats())


def _queues(image: Image) -> Numbered:
    return _by_section(
        (at, (row["band"] - 1) * BAND + row["ticket"]) for at, row in image.waitlist_positions()
    )


def _passed(image: Image) -> Numbered:
    return _by_section((at, image.waitlist[at]["reasons"]) for at in image.skipped)


def _by_section(found: Iterable[tuple[Pair, Any]]) -> Numbered:
    sections: dict[int, dict[int, Any]] = defaultdict(dict)
    for (section, student), value in found:
        sections[section][student] = value
    return sections.items()


def _students(image: Image) -> Numbered:
    found: dict[int, dict[str, Any]] = defaultdict(dict)
    for (section, student), row in image.held_seats():
        found[student][f"e:{section}"] = row["credits"]
        if row["corequisites"]:
            found[student][f"c:{section}"] = row["corequisites"]
    for (section, student), row in image.waitlist_positions():
        entry = _joined(row, "ticket", "credits", "since", "instead")
        if row["band"] > 1:
            entry += f"{'' if row['instead'] else ':'}:{row['band']}"
        found[student][f"w:{section}"] = entry
    return found.items()


def _joined(row: Row, *names: str) -> str:
    """Return the values joined as the ledger does it; the last may be missing."""
    *values, last = [milliseconds(row[name]) if name == "since" else row[name] for name in names]
    return ":".join(map(str, [*values, last] if last else values))


def _pools(image: Image) -> Numbered:
    capacities = {
        pool: next(image.seats[each]["pool_capacity"] for each in image.pools[pool])
        for pool in image.pool_versions
    }
    yield None, {pool: f"{capacities[pool]}:{image.pool_versions[pool]}" for pool in capacities}


def _opening_reserves(image: Image) -> dict[int, int]:
    """Return, by section, when (ms) the next of its reserves ends."""
    ends = {
        section: [each["until"] for each in row["reserves"] if each["until"] > planned]
        for section, planned in image.planned.items()
        if (row := image.seats.get(section))
    }
    return {section: min(coming) for section, coming in ends.items() if coming}


def _windows(image: Image) -> Numbered:
    turned = {"opened": image.opened, "ended": image.ended}
    found = {}
    for window, row in image.windows.items():
        found[window] = {
            "name": row["name"],
            "opens": milliseconds(row["opens_at"]),
            "closes": milliseconds(row["closes_at"]),
            "state": row["state"],
            "cohort": row["cohort"],
        } | {name: True for name, windows in turned.items() if window in windows}
    yield None, found


def _next(image: Image) -> Numbered:
    due = {*_opening_reserves(image).values(), *image.elsewhere}
    for window, row in image.windows.items():
        opened = window in image.opened
        if row["state"] != "canceled" and not (opened and window in image.ended):
            due.add(milliseconds(row["closes_at" if opened else "opens_at"]))
    for name in DEADLINES:
        if name in image.deadlines and name + PASSED not in image.deadlines:
            due.add(image.deadlines[name])
    yield None, {TEXT: min(due)} if due else {}


@dataclass(frozen=True)
class Kind:
    """A kind of key: `name`, or `name:<number>` where `per` says what has one.

    Fields or members are numbers of an `entry`, or names of their own. With `extras_allowed`,
    extra entries in the ledger do no harm: the ledger checks and removes them.
    """

    name: str
    shape: Shape
    per: str
    entry: str
    entries_of: Callable[[Image], Numbered]
    extras_allowed: bool = False

    def key(self, number: object = None) -> str:
        """Return the name of a key, without the term's prefix."""
        return f"{self.name}:{number}" if self.per else self.name

    def describe(self, number: str, name: str) -> str:
        """Return how a difference names an entry: "section 12, student 5"."""
        parts = f"{self.per} {number}" if self.per else "", f"{self.entry} {name}".strip()
        return ", ".join(part for part in parts if part)


KINDS = (
    Kind("section", "hash", "section", "", _sections),
    Kind("seats", "hash", "", "section", _counts),
    Kind("roster", "hash", "section", "student", _rosters),
    Kind("queue", "sorted set", "section", "student", _queues),
    Kind("passed", "hash", "section", "student", _passed),
    Kind("passes", "hash", "section", "student", lambda image: _by_section(image.passes.items())),
    Kind("aside", "set", "section", "student",
         lambda image: _by_section((at, True) for at in image.aside)),
    Kind("reserved", "hash", "section", "reserve",
         lambda image: ((each, row["reserved"]) for each, row in image.seats.items())),
    Kind("pool", "set", "pool", "section",
         lambda image: ((pool, dict.fromkeys(each, True)) for pool, each in image.pools.items())),
    Kind("pools", "hash", "", "pool", _pools),
    Kind("reserves", "sorted set", "", "section", lambda image: [(None, _opening_reserves(image))]),
    Kind("vacant", "set", "", "section", _vacant),
    Kind("emptying", "set", "", "section", _emptying, extras_allowed=True),
    Kind("marked", "set", "", "section",
         lambda image: [(None, {section: True for section, _ in image.skipped})],
         extras_allowed=True),
    Kind("student", "hash", "student", "", _students),
    Kind("drops", "hash", "student", "", lambda image: image.drops.items()),
    Kind("windows", "hash", "", "window", _windows),
    Kind("in_round", "hash", "", "section", lambda image: [(None, image.in_round)]),
    Kind("round_ends", "hash", "", "", lambda image: [(None, image.round_ends)]),
    Kind("deadlines", "hash", "", "", lambda image: [(None, image.deadlines)]),
    Kind("next", "text", "", "", _next),
)  # fmt: skip
BY_NAME = {kind.name: kind for kind in KINDS}


def split(key: str) -> tuple[str, str]:
    """Return the kind of a key, and its number."""
    kind, _, number = key.partition(":")
    return kind, number


def stored(value: Any) -> str:
    """Return a value as the ledger stores it: lists and mappings as JSON."""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def plain(value: bytes | str) -> Any:
    """Return the ledger's value for comparison; it may write an empty list as an empty object."""
    text = value.decode() if isinstance(value, bytes) else value
    try:
        found = _listed(orjson.loads(text))
    except ValueError:
        return text
    return text if found is None else found


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _listed(each) for name, each in value.items()} or []
    return [_listed(each) for each in value] if isinstance(value, list) else value
