"""Whether what students were told holds: judged from histories, event log and ledger alone."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from portal.recorder.events import Event
from tests.faults.history import WRONG, Deed

Pair = tuple[int, int]  # section, student
ACTS = {"enrolled", "waitlisted", "dropped", "left", "swap_planned"}
# What has happened under the key of whoever is told so.
BEHIND = {
    "enrolled": {"enrolled"},
    "waitlisted": {"waitlisted", "swap_planned"},
    "dropped": {"dropped"},
    "left": {"left"},
    "refused": {"refused"},
    "already_registered": {"refused already_enrolled"},
}
ALSO = {"waitlisted": "refused already_waiting"}


@dataclass
class Verdict:
    """What is wrong, by kind."""

    lost: list[str] = field(default_factory=list)
    oversold: list[str] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    mails: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Return whether nothing is."""
        return not any(vars(self).values())


@dataclass
class Line:
    """One section as the log tells of it so far."""

    seated: set[int] = field(default_factory=set)
    queue: list[int] = field(default_factory=list)  # in the order in which they joined
    passed: set[int] = field(default_factory=set)

    def first(self) -> int | None:
        """Who has the next free seat."""
        return next((each for each in self.queue if each not in self.passed), None)


def judge(
    deeds: Sequence[Deed], facts: Sequence[Event], held: set[Pair], waiting: set[Pair]
) -> Verdict:
    """What is wrong with the log of a term, with what its students were told and now have."""
    verdict, sections = Verdict(), defaultdict[int, Line](Line)
    for fact in facts:
        if "section" in fact.payload:
            _follow(verdict, sections[fact.payload["section"]], fact)
    verdict.lost += _unlike("seat", {(s, x) for s in sections for x in sections[s].seated}, held)
    verdict.lost += _unlike("place", {(s, x) for s in sections for x in sections[s].queue}, waiting)
    under = defaultdict[str, list[Event]](list)
    for fact in facts:
        under[fact.context.get("request", "")].append(fact)
    verdict.lost += [wrong for deed in deeds for wrong in _missing(deed, under[deed.key])]
    verdict.twice += [wrong for deed in deeds for wrong in _twice(deed, under[deed.key])]
    verdict.odd += [wrong for deed in deeds for wrong in _odd(deed)]
    return verdict


def _follow(verdict: Verdict, line: Line, fact: Event) -> None:
    """Move a section over an event, and compare what the event says of it."""
    who, seats = fact.payload.get("student"), fact.payload.get("seats") or {}
    if fact.name in {"enrolled", "promoted"} and line.first() not in {None, who}:
        verdict.order.append(f"event {fact.seq}: {who} came in before {line.first()}")
    _move(line, fact.name, who)
    taken, told = len(line.seated), seats.get("taken", 0)
    if taken > seats.get("capacity", 0) or told > seats.get("capacity", 0) or told < 0:
        verdict.oversold.append(f"event {fact.seq}: {taken} in {seats}")
    if (taken, len(line.queue)) != (told, seats.get("waiting", 0)) and fact.name != "passed_over":
        verdict.lost.append(f"event {fact.seq}: {taken} and {len(line.queue)}, but {seats}")


def _move(line: Line, name: str, who: Any) -> None:
    if name in {"enrolled", "promoted"}:
        line.seated.add(who)
    if name in {"promoted", "left"} and who in line.queue:
        line.queue.remove(who)
        line.passed.discard(who)
    if name == "waitlisted":
        line.queue.append(who)
    if name == "passed_over":
        line.passed.add(who)
    if name == "dropped":
        line.seated.discard(who)
    if name in {"dropped", "section_set"} or (name == "reconsidered" and who is None):
        line.passed.clear()
    if name == "reconsidered":
        line.passed.discard(who)


def _unlike(what: str, logged: set[Pair], known: set[Pair]) -> Iterator[str]:
    for section, student in logged ^ known:
        where = "log" if (section, student) in logged else "ledger"
        yield f"{what} of {student} in {section} is in the {where} alone"


def _missing(deed: Deed, facts: Sequence[Event]) -> Iterator[str]:
    """Where the log does not have what a student was told, or has more."""
    about = deed.section, deed.student
    own = [fact for fact in facts if about == _about(fact)]
    names = set(map(_name, own))
    wanted = BEHIND.get(deed.outcome, set()) | {ALSO.get(deed.outcome, "")}
    if deed.outcome and not names & wanted:
        yield f"{deed.key}: told {deed.outcome}, the log has {sorted(names)}"
    for fact in own:
        if fact.name in ACTS and fact.name not in wanted:
            yield f"{deed.key}: told {deed.outcome or 'nothing'}, yet {fact.name} ({fact.seq})"


def _about(fact: Event) -> tuple[int | None, int | None]:
    """Section and student; what is told of a whole section or term names no student."""
    return fact.payload.get("section"), fact.payload.get("student")


def _name(fact: Event) -> str:
    codes = {reason["code"] for reason in fact.payload.get("reasons", ())}
    already = codes & {"already_enrolled", "already_waiting"}
    return f"refused {already.pop()}" if fact.name == "refused" and already else fact.name


def _twice(deed: Deed, facts: Sequence[Event]) -> Iterator[str]:
    acts = [fact for fact in facts if fact.name in ACTS]
    counted = Counter((fact.name, *_about(fact)) for fact in acts)
    yield from (f"{deed.key}: {many} times {what}" for what, many in counted.items() if many > 1)
    if len({fact.at for fact in acts}) > 1:
        yield f"{deed.key}: decided at several times"
    if any(each != f"{deed.outcome} {deed.receipt}" for each in deed.repeated):
        yield f"{deed.key}: told {deed.outcome} {deed.receipt}, then {deed.repeated}"


def _odd(deed: Deed) -> Iterator[str]:
    yield from (f"{deed.key}: {each.what}" for each in deed.tries if each.said == WRONG)
    if not deed.outcome:
        yield f"{deed.key}: never answered"
