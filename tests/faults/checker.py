"""Whether the answers to students are true: judged by histories, event log and ledger alone."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from portal.recorder.events import Event
from tests.faults.history import WRONG, Request

Pair = tuple[int, int]  # section, student
ACTS = {"enrolled", "waitlisted", "dropped", "left", "swap_planned"}
# The events under the key of a request with this outcome.
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
class SectionState:
    """A section as it follows from the events so far."""

    seated: set[int] = field(default_factory=set)
    queue: list[int] = field(default_factory=list)  # in the order in which they joined
    skipped: set[int] = field(default_factory=set)

    def first(self) -> int | None:
        """Return the student who has the next free seat."""
        return next((each for each in self.queue if each not in self.skipped), None)


def judge(
    requests: Sequence[Request], events: Sequence[Event], held: set[Pair], waiting: set[Pair]
) -> Verdict:
    """Return what is wrong with the log of a term, its answers, seats and waitlist positions."""
    verdict, sections = Verdict(), defaultdict[int, SectionState](SectionState)
    for event in events:
        if "section" in event.payload:
            _follow(verdict, sections[event.payload["section"]], event)
    verdict.lost += _unlike("seat", {(s, x) for s in sections for x in sections[s].seated}, held)
    verdict.lost += _unlike(
        "position", {(s, x) for s in sections for x in sections[s].queue}, waiting
    )
    under = defaultdict[str, list[Event]](list)
    for event in events:
        under[event.context.get("request", "")].append(event)
    verdict.lost += [
        wrong for request in requests for wrong in _missing(request, under[request.key])
    ]
    verdict.twice += [
        wrong for request in requests for wrong in _twice(request, under[request.key])
    ]
    verdict.odd += [wrong for request in requests for wrong in _odd(request)]
    return verdict


def _follow(verdict: Verdict, state: SectionState, event: Event) -> None:
    """Move a section over an event, and compare what the event says of it."""
    who, seats = event.payload.get("student"), event.payload.get("seats") or {}
    if event.name in {"enrolled", "promoted"} and state.first() not in {None, who}:
        verdict.order.append(f"event {event.seq}: {who} got a seat before {state.first()}")
    _move(state, event.name, who)
    taken, reported = len(state.seated), seats.get("taken", 0)
    if taken > seats.get("capacity", 0) or reported > seats.get("capacity", 0) or reported < 0:
        verdict.oversold.append(f"event {event.seq}: {taken} in {seats}")
    same = (taken, len(state.queue)) == (reported, seats.get("waiting", 0))
    if not same and event.name != "passed_over":
        verdict.lost.append(f"event {event.seq}: {taken} and {len(state.queue)}, but {seats}")


def _move(state: SectionState, name: str, who: Any) -> None:
    if name in {"enrolled", "promoted"}:
        state.seated.add(who)
    if name in {"promoted", "left"} and who in state.queue:
        state.queue.remove(who)
        state.skipped.discard(who)
    if name == "waitlisted":
        state.queue.append(who)
    if name == "passed_over":
        state.skipped.add(who)
    if name == "dropped":
        state.seated.discard(who)
    if name in {"dropped", "section_set"} or (name == "reconsidered" and who is None):
        state.skipped.clear()
    if name == "reconsidered":
        state.skipped.discard(who)


def _unlike(what: str, logged: set[Pair], known: set[Pair]) -> Iterator[str]:
    for section, student in logged ^ known:
        where = "log" if (section, student) in logged else "ledger"
        yield f"{what} of {student} in {section} is in the {where} alone"


def _missing(request: Request, events: Sequence[Event]) -> Iterator[str]:
    """Yield what the log lacks of an answer, and what it has beyond it."""
    about = request.section, request.student
    own = [event for event in events if about == _about(event)]
    names = set(map(_name, own))
    wanted = BEHIND.get(request.outcome, set()) | {ALSO.get(request.outcome, "")}
    if request.outcome and not names & wanted:
        yield f"{request.key}: answered {request.outcome}, the log has {sorted(names)}"
    answer = request.outcome or "nothing"
    for event in own:
        if event.name in ACTS and event.name not in wanted:
            yield f"{request.key}: answered {answer}, yet {event.name} ({event.seq})"


def _about(event: Event) -> tuple[int | None, int | None]:
    """Return section and student; events of a whole section or term name no student."""
    return event.payload.get("section"), event.payload.get("student")


def _name(event: Event) -> str:
    codes = {reason["code"] for reason in event.payload.get("reasons", ())}
    already = codes & {"already_enrolled", "already_waiting"}
    return f"refused {already.pop()}" if event.name == "refused" and already else event.name


def _twice(request: Request, events: Sequence[Event]) -> Iterator[str]:
    acts = [event for event in events if event.name in ACTS]
    counted = Counter((event.name, *_about(event)) for event in acts)
    yield from (f"{request.key}: {many} times {what}" for what, many in counted.items() if many > 1)
    if len({event.at for event in acts}) > 1:
        yield f"{request.key}: decided at several times"
    first = f"{request.outcome} {request.receipt}"
    if any(each != first for each in request.repeated):
        yield f"{request.key}: answered {first}, then {request.repeated}"


def _odd(request: Request) -> Iterator[str]:
    yield from (f"{request.key}: {each.what}" for each in request.tries if each.said == WRONG)
    if not request.outcome:
        yield f"{request.key}: never answered"
