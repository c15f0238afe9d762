"""The ledger's Python client: each decision is one call, atomic and already in the journal.

Credits are hundredths. Times are milliseconds since 1970 by the ledger's clock.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, TypeVar

from redis import Redis
from redis.exceptions import TimeoutError as LateReply

from portal.core.ledger_servers import Servers, address_of
from portal.ledger import replies
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.function_library import FunctionLibrary, prefix, translate_errors
from portal.ledger.types import (
    BAND,
    AdminAdjustment,
    Candidate,
    Change,
    Decision,
    LedgerChoice,
    Promotion,
    Reason,
    Registrations,
    RequestContext,
    RoundAnswer,
    RoundMove,
    SeatCounts,
    SectionSpec,
    SkipRule,
    StudentState,
    SubmissionResult,
    WindowView,
    as_payload,
)

if TYPE_CHECKING:
    from portal.core.redis_clients import Address

Answer = TypeVar("Answer")
Times = tuple[int, int]  # when a window opens and closes (ms)


class Ledger:
    """Decides who gets a seat.

    Every method raises LedgerUnavailable if the ledger cannot answer, and LedgerSilent if it may
    have decided without an answer.
    """

    at_once = 100  # seats and waitlist positions that a canceled section frees in one step

    def __init__(self, servers: Servers, replicas: int = 0) -> None:
        self.servers = servers
        self.library = FunctionLibrary(servers, replicas=replicas)

    def redis(self, term: int) -> Redis:
        """Return the client of the server that has the term."""
        return self.servers.of(prefix(term))

    def ask_servers(
        self, terms: Iterable[int], ask: Callable[[Redis, list[int]], Iterable[Answer]]
    ) -> list[Answer]:
        """Return the answers of every server to `ask` about its terms.

        Terms of a server that is away are left out. Raises LedgerUnavailable if all are away.
        """
        by_tag = {prefix(term): term for term in terms}
        found: list[Answer] = []
        away: LedgerUnavailable | None = None
        silent: set[Address] = set()  # each would take the whole timeout again for every term
        for redis, tags in self.servers.grouped(by_tag, silent):
            try:
                with translate_errors():
                    found += ask(redis, [by_tag[tag] for tag in tags])
            except LedgerUnavailable as error:
                away = error
                if isinstance(error.__cause__, LateReply) and (address := address_of(redis)):
                    silent.add(address)
        if away and not found:
            raise away
        return found

    # Registration ---------------------------------------------------------------------------------

    def submit(
        self,
        context: RequestContext,
        *,
        credit_limit: int,
        windows: Sequence[int],
        choices: Sequence[LedgerChoice],
        content: Sequence[Any],
        room: int | None = None,
        order: Sequence[int] | None = None,
    ) -> SubmissionResult:
        """Decide several choices in one step; `credit_limit` is in hundredths.

        `order` gives the numbers (from 1) in which to decide them; the results keep the order of
        `choices`. `room` is the window whose waiting room must have admitted the student; otherwise
        it raises NotAdmitted. Other `content` under the same idempotency key raises KeyReused, and
        a request over the rate limit RateLimited.
        """
        payload = {
            "credit_limit": credit_limit,
            "windows": windows,
            "choices": [as_payload(choice) for choice in choices],
            "content": content,
            "order": order,
            "room": room,
        }
        return replies.submission(self._request("submit", context, payload))

    def drop(
        self,
        context: RequestContext,
        section: int,
        along: Sequence[int] = (),
        *,
        windows: Sequence[int],
        days: Sequence[tuple[int, str]],
        drop_limit: int,
    ) -> Decision:
        """Drop a seat, and the seats and waitlist positions in `along`, in one step.

        A seat that depends on another of them does not count as a drop of its own. `days` are the
        starts (ms) and names of the days around now.
        """
        payload = {
            "section": section,
            "along": along or None,
            "windows": windows,
            "days": days,
            "drop_limit": drop_limit,
        }
        return replies.answer(self._request("drop", context, payload))

    def leave(self, context: RequestContext, section: int) -> Decision:
        """Leave a waitlist; no open window is needed."""
        return replies.answer(self._request("leave", context, {"section": section}))

    def _request(self, op: str, context: RequestContext, payload: dict[str, Any]) -> Any:
        payload |= {
            "student": context.student,
            "actor": context.actor,
            "correlation": context.correlation,
            "idempotency_key": context.idempotency_key,
            "rate": context.rate,
        }
        again = bool(context.idempotency_key)
        return self.library.ask(op, context.term, payload, again=again)

    def registrations(self, term: int, student: int) -> Registrations:
        """Return a student's seats and waitlist positions."""
        return replies.registrations(self.library.read("registrations", term, {"student": student}))

    def student_state(self, term: int, student: int, sections: Sequence[int] = ()) -> StudentState:
        """Return the state of a student and the counts of these sections, in one round trip."""
        payload = {"student": student, "sections": sections or None}
        return replies.student_state(self.library.read("student_state", term, payload), sections)

    def count_plan_change(self, term: int, student: int) -> None:
        """Note that the student's plan has changed."""
        with translate_errors():
            self.redis(term).incr(f"{prefix(term)}:plans:{student}")

    def drops(self, term: int, student: int) -> dict[str, int]:
        """Return how many drops of a student counted on each day."""
        with translate_errors():
            return replies.drops(self.redis(term).hgetall(f"{prefix(term)}:drops:{student}"))

    # Admin adjustments ----------------------------------------------------------------------------

    def adjust(
        self,
        term: int,
        change: AdminAdjustment,
        *,
        overrides: Sequence[str],
        reason: str,
        idempotency_key: str | None,
        actor: str,
        correlation: str,
    ) -> Decision:
        """Add a student to a section, drop one, or do both in one step (a move).

        Refused with every reason whose code is not in `overrides`. Raises KeyReused.
        """
        payload = as_payload(change) | {
            "overrides": sorted(set(overrides)) or None,
            "reason": reason,
            "idempotency_key": idempotency_key,
            "actor": actor,
            "correlation": correlation,
        }
        again = bool(idempotency_key)
        return replies.answer(self.library.ask("adjust", term, payload, again=again))

    def adjust_batch(
        self,
        term: int,
        changes: Mapping[str, AdminAdjustment],
        *,
        overrides: Sequence[str],
        reason: str,
        actor: str,
        correlation: str,
    ) -> list[Decision]:
        """Decide many adjustments in one step; by idempotency key, decisions in the same order.

        Every drop counts before any addition. Refused adjustments change nothing; the others are
        done. A refusal is not stored under its key, so an import may ask again until it succeeds.
        """
        payload = {
            "moves": [as_payload(each) | {"idempotency_key": key} for key, each in changes.items()],
            "overrides": sorted(set(overrides)) or None,
            "reason": reason,
            "actor": actor,
            "correlation": correlation,
        }
        return replies.batch(self.library.ask("adjust_batch", term, payload, again=True))

    def preview(self, term: int, change: AdminAdjustment) -> tuple[Reason, ...]:
        """Return every reason why `adjust` would be refused now; changes nothing."""
        found = self.library.read("preview", term, as_payload(change))
        return replies.reasons(found.get("reasons"))

    # Allocation rounds ----------------------------------------------------------------------------

    def put_round_end(self, term: int, round_id: int, ends: int) -> Change:
        """Note when (ms) an announced round ends; nothing happens if it is known.

        From then on, no one gets a seat in the term until `hold_for_round` or `end_round` is
        called, or a quarter of an hour has passed.
        """
        payload = {"round": round_id, "ends": ends}
        return replies.change(self.library.ask("put_round_end", term, payload, again=True))

    def hold_for_round(
        self, term: int, round_id: int, sections: Sequence[int], *, recorded: int = 0
    ) -> Change:
        """Hold back the seats of sections for an allocation round; nothing happens if they are.

        Until `end_round`, no one else gets a seat or waitlist position there. Raises LedgerBehind
        if the ledger has not reached event `recorded`.
        """
        payload = {"round": round_id, "sections": sections, "recorded": recorded}
        return replies.change(self.library.ask("hold_for_round", term, payload, again=True))

    def allocate(
        self, term: int, round_id: int, moves: Sequence[RoundMove], actor: str, correlation: str
    ) -> list[RoundAnswer]:
        """Give seats and waitlist positions of an allocation round, each once, in one step.

        No window is needed. Each move gets an answer, also if its key was used for something else.
        """
        payload = {
            "round": round_id,
            "moves": [as_payload(each) for each in moves],
            "actor": actor,
            "correlation": correlation,
        }
        return replies.allocated(self.library.ask("allocate", term, payload, again=True))

    def end_round(self, term: int, round_id: int) -> Change:
        """Let the sections of an allocation round go; nothing happens if they are free."""
        return replies.change(self.library.ask("end_round", term, {"round": round_id}, again=True))

    # Waitlists ------------------------------------------------------------------------------------

    def head(self, term: int, section: int, n: int) -> list[int]:
        """Return the first `n` students on a waitlist who were not skipped."""
        reply = self.library.read("head", term, {"section": section, "n": n})
        return list(reply.get("students") or ())

    def ahead(self, term: int, section: int, band: int) -> int:
        """Return how many students a student who joins the waitlist in that band would follow."""
        with translate_errors():
            queue = f"{prefix(term)}:queue:{section}"
            return int(self.redis(term).zcount(queue, "-inf", f"({band * BAND}"))

    def promote(
        self,
        term: int,
        section: int,
        candidates: Sequence[Candidate],
        correlation: str,
        passes: SkipRule | None = None,
    ) -> Promotion:
        """Promote students from the head while seats are free; stop at one who is no candidate.

        A student who is skipped keeps the position, unless `passes` says that it is now lost.
        """
        payload = {
            "passes": passes.payload if passes else None,
            "section": section,
            "candidates": [as_payload(candidate) for candidate in candidates],
            "correlation": correlation,
        }
        return replies.promotion(self.library.ask("promote", term, payload))

    def reconsider(self, term: int, section: int, student: int | None = None) -> Change:
        """Give all skipped students of a section another chance, or only one of them."""
        ask = {"section": section} if student is None else {"section": section, "student": student}
        return replies.change(self.library.ask("reconsider", term, ask, again=True))

    # Sections -------------------------------------------------------------------------------------

    def put_section(self, term: int, spec: SectionSpec) -> Change:
        """Store a section; nothing changes if the ledger knows this version.

        A canceled section frees its seats and its waitlist, and accepts no claims from the first
        step on. If a later step fails, the promotion worker continues (`more`).
        """
        return self.put_sections(term, [spec])[0]

    def put_sections(
        self, term: int, specs: Iterable[SectionSpec], *, recorded: int = 0
    ) -> list[Change]:
        """Store many sections in one round trip.

        Raises LedgerBehind if the ledger has not reached event `recorded`.
        """
        more = {"recorded": recorded, "batch": self.at_once}
        payloads = [asdict(spec) | more for spec in specs]
        found = self.library.ask_all("put_section", term, payloads)
        changes = [replies.change(each) for each in found]
        return [
            self._emptied(term, payload["section"], change)
            for payload, change in zip(payloads, changes, strict=True)
        ]

    def _emptied(self, term: int, section: int, change: Change) -> Change:
        with suppress(LedgerUnavailable):
            while change.more:
                again = self.empty(term, section)
                change = replace(change, more=again.more, wake=(*change.wake, *again.wake))
        return change

    def empty(self, term: int, section: int) -> Change:
        """Free some of the seats and waitlist positions left in a canceled section."""
        payload = {"section": section, "batch": self.at_once}
        return replies.change(self.library.ask("empty", term, payload, again=True))

    def emptying(self, term: int) -> set[int]:
        """Return the canceled sections that still have seats or waitlist positions to free."""
        with translate_errors():
            return {
                int(section) for section in self.redis(term).smembers(f"{prefix(term)}:emptying")
            }

    def held(self, term: int, sections: Sequence[int]) -> dict[int, tuple[int, int]]:
        """Return students enrolled and waiting by section; ignore seats from before the import."""
        with translate_errors(), self.redis(term).pipeline(transaction=False) as pipe:
            for section in sections:
                pipe.hlen(f"{prefix(term)}:roster:{section}")
                pipe.zcard(f"{prefix(term)}:queue:{section}")
            counts = iter(pipe.execute())
        return {section: (next(counts), next(counts)) for section in sections}

    def pools(self, term: int) -> dict[int, int]:
        """Return the seat pool of each section that shares seats."""
        with translate_errors():
            pools = [int(pool) for pool in self.redis(term).hkeys(f"{prefix(term)}:pools")]
            with self.redis(term).pipeline(transaction=False) as pipe:
                for pool in pools:
                    pipe.smembers(f"{prefix(term)}:pool:{pool}")
                members = pipe.execute()
        return {
            int(section): pool
            for pool, sections in zip(pools, members, strict=True)
            for section in sections
        }

    def seats(self, term: int) -> dict[int, SeatCounts]:
        """Return the counts of every section of a term."""
        with translate_errors():
            return replies.seats(self.redis(term).hgetall(f"{prefix(term)}:seats"))

    def seats_of(self, term: int, sections: Sequence[int]) -> dict[int, SeatCounts]:
        """Return the counts of those of the sections that the ledger knows."""
        if not sections:
            return {}
        with translate_errors():
            found = self.redis(term).hmget(
                f"{prefix(term)}:seats", [str(each) for each in sections]
            )
        return replies.seats(dict(zip(sections, found, strict=True)))

    def reserved(self, term: int, section: int) -> dict[int, int]:
        """Return how many seats of a section are taken under each of its reserves."""
        with translate_errors():
            found = self.redis(term).hgetall(f"{prefix(term)}:reserved:{section}")
        return {int(reserve): int(held) for reserve, held in found.items()}

    def vacant(self, term: int) -> set[int]:
        """Return the sections with a free seat that belongs to a waiting student."""
        with translate_errors():
            return {int(section) for section in self.redis(term).smembers(f"{prefix(term)}:vacant")}

    # Selection windows -------------------------------------------------------------------------
    #
    # `was` gives the times that a window had when the change was decided: the ledger refuses the
    # change if the times differ by now.

    def windows(self, term: int) -> list[WindowView]:
        """Return every window of a term, ordered by opening time."""
        with translate_errors():
            return replies.windows(self.redis(term).hgetall(f"{prefix(term)}:windows"))

    def put_window(
        self,
        term: int,
        window: int,
        name: str,
        opens: int,
        closes: int,
        cohort: dict[str, Any],
        actor: str,
        *,
        recorded: int = 0,
    ) -> Change:
        """Schedule a new window; `closes` is the first millisecond that is too late.

        Raises LedgerBehind if the ledger has not reached event `recorded`.
        """
        facts = {"name": name, "opens": opens, "closes": closes, "cohort": cohort}
        return self._window("put_window", term, window, actor, **facts, recorded=recorded)

    def move_window(
        self, term: int, window: int, opens: int, closes: int, actor: str, was: Times | None = None
    ) -> Change:
        """Change the times of a window that has not opened."""
        return self._window("move_window", term, window, actor, opens=opens, closes=closes, was=was)

    def cancel_window(self, term: int, window: int, actor: str, was: Times | None = None) -> Change:
        """Cancel a window that has not opened."""
        return self._window("cancel_window", term, window, actor, was=was)

    def extend_window(
        self, term: int, window: int, closes: int, actor: str, was: Times | None = None
    ) -> Change:
        """Let an open window close later."""
        return self._window("extend_window", term, window, actor, closes=closes, was=was)

    def close_window(self, term: int, window: int, actor: str, was: Times | None = None) -> Change:
        """Close an open window now."""
        return self._window("close_window", term, window, actor, was=was)

    def _window(self, op: str, term: int, window: int, actor: str, **payload: Any) -> Change:
        payload |= {"window": window, "actor": actor}
        return replies.change(self.library.ask(op, term, payload))

    def put_deadlines(
        self,
        term: int,
        deadlines: Mapping[str, int],
        version: int,
        *,
        actor: str | None = None,
        recorded: int = 0,
    ) -> Change:
        """Set the deadlines of a term: the first ms after each, by the names of DEADLINES.

        Nothing changes if they are the same, or if the ledger knows a newer `version`. Raises
        LedgerBehind if the ledger has not reached event `recorded`.
        """
        payload = {
            "deadlines": deadlines,
            "version": version,
            "actor": actor,
            "recorded": recorded,
        }
        return replies.change(self.library.ask("put_deadlines", term, payload, again=True))

    def turn(self, term: int) -> list[tuple[int, str]]:
        """Return windows that opened or closed since the last call; each is reported once."""
        reply = self.library.ask("turn", term, {})
        return [(window, turned) for window, turned in reply.get("turned") or ()]

    # Clock, events and workers -------------------------------------------------------------------

    def now(self) -> int:
        """Return the ledger's time in ms. In a cluster, the clocks of all servers must agree."""
        with translate_errors():
            seconds, micros = self.servers.any.time()
        return int(seconds) * 1000 + int(micros) // 1000

    def last_seq(self, term: int) -> int:
        """Return the number of the term's latest event; 0 if there is none."""
        with translate_errors():
            return int(self.redis(term).get(f"{prefix(term)}:seq") or 0)

    def clear_woken(self, term: int, worker: str) -> None:
        """Note that a worker has started, so that the next decision enqueues it again."""
        with translate_errors():
            self.redis(term).hdel(f"{prefix(term)}:woken", worker)
