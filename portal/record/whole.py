"""What the ledger knows beside the read models, as the events tell it."""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from portal.record.fact import Fact, milliseconds
from portal.record.project import Pair, Row, State


@dataclass
class Whole(State):
    """All that follows from the log of a term."""

    last: Fact | None = None
    told: dict[int, Row] = field(default_factory=dict)  # what each section was set to be
    planned: dict[int, int] = field(default_factory=dict)  # when its reserves were looked at (ms)
    pool_versions: dict[int, int] = field(default_factory=dict)
    opened: set[int] = field(default_factory=set)  # windows
    ended: set[int] = field(default_factory=set)
    passes: dict[Pair, int] = field(default_factory=dict)  # that count
    drops: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))  # by day

    def hear(self, fact: Fact) -> None:
        """Note one event more."""
        self.last = fact
        if note := NOTES.get(fact.name):
            note(self, fact)


def _set(whole: Whole, fact: Fact) -> None:
    told, pool = fact.payload, fact.payload.get("pool")
    whole.told[told["section"]] = told
    whole.planned[told["section"]] = milliseconds(fact.at)
    if pool:
        version = max(whole.pool_versions.get(pool, 0), told.get("pool_version", 0))
        whole.pool_versions[pool] = version
    for gone in [each for each in whole.pool_versions if not whole.pools.get(each)]:
        del whole.pool_versions[gone]


def _reserve_opened(whole: Whole, fact: Fact) -> None:
    whole.planned[fact.payload["section"]] = milliseconds(fact.at)


def _dropped(whole: Whole, fact: Fact) -> None:
    if "day" in fact.payload:
        whole.drops[fact.payload["student"]][fact.payload["day"]] += 1


def _passed_over(whole: Whole, fact: Fact) -> None:
    told = fact.payload
    if "passes" in told:
        whole.passes[told["section"], told["student"]] = told["passes"]


def _gone_from_list(whole: Whole, fact: Fact) -> None:
    whole.passes.pop((fact.payload["section"], fact.payload["student"]), None)


NOTES: dict[str, Callable[[Whole, Fact], None]] = {
    "section_set": _set,
    "reserve_opened": _reserve_opened,
    "dropped": _dropped,
    "passed_over": _passed_over,
    "left": _gone_from_list,
    "promoted": _gone_from_list,
    "window_opened": lambda whole, fact: whole.opened.add(fact.payload["window"]),
    "window_closed": lambda whole, fact: whole.ended.add(fact.payload["window"]),
}
