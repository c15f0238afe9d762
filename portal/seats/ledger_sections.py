"""The ledger's Python face for sections: what is offered, how full it is, and who comes next."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace

from redis import Redis

from portal.seats import replies
from portal.seats.answers import Change, Promotion, Seats
from portal.seats.asks import Candidate, Passes, SectionSpec, as_payload
from portal.seats.errors import LedgerUnavailable
from portal.seats.library import Library, prefix, reached


class LedgerSections:
    """The part of the Ledger that keeps the sections and their waitlists."""

    redis: Redis
    library: Library
    at_once = 100  # seats and places that a canceled section gives up in one step

    # Waitlists

    def head(self, term: int, section: int, n: int) -> list[int]:
        """The first `n` waiters who are not passed over."""
        reply = self.library.read("head", term, {"section": section, "n": n})
        return list(reply.get("students") or ())

    def promote(
        self,
        term: int,
        section: int,
        candidates: Sequence[Candidate],
        correlation: str,
        passes: Passes | None = None,
    ) -> Promotion:
        """Place waiters from the head while seats are free; stops at one who is no candidate.

        Who can't be placed keeps the place, unless `passes` says that it is lost by now.
        """
        payload = {
            "passes": passes.payload if passes else None,
            "section": section,
            "candidates": [as_payload(candidate) for candidate in candidates],
            "correlation": correlation,
        }
        return replies.promotion(self.library.ask("promote", term, payload))

    def reconsider(self, term: int, section: int, student: int | None = None) -> Change:
        """Give passed-over waiters of a section another chance, or only that one."""
        ask = {"section": section} if student is None else {"section": section, "student": student}
        return replies.change(self.library.ask("reconsider", term, ask, again=True))

    # Sections

    def put_section(self, term: int, spec: SectionSpec) -> Change:
        """Tell the ledger of a section; nothing happens if it knows this version.

        One that is canceled gives up its waitlist and its seats. Nobody can claim there from the
        first step on; should the others fail, the promoter goes on (`more`).
        """
        return self.put_sections(term, [spec])[0]

    def put_sections(
        self, term: int, specs: Iterable[SectionSpec], *, recorded: int = 0
    ) -> list[Change]:
        """Tell the ledger of many sections in one round trip.

        Raises LedgerBehind where it has not come as far as event `recorded`.
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
        """Have a canceled section give up what is left in it, so many seats and places at most."""
        payload = {"section": section, "batch": self.at_once}
        return replies.change(self.library.ask("empty", term, payload, again=True))

    def emptying(self, term: int) -> set[int]:
        """Canceled sections that have not given up all of their seats and places yet."""
        with reached():
            return {int(section) for section in self.redis.smembers(f"{prefix(term)}:emptying")}

    def held(self, term: int, sections: Sequence[int]) -> dict[int, tuple[int, int]]:
        """Students with a seat and students in line, of each; no seats from before the import."""
        with reached(), self.redis.pipeline(transaction=False) as pipe:
            for section in sections:
                pipe.hlen(f"{prefix(term)}:roster:{section}")
                pipe.zcard(f"{prefix(term)}:queue:{section}")
            counts = iter(pipe.execute())
        return {section: (next(counts), next(counts)) for section in sections}

    def pools(self, term: int) -> dict[int, int]:
        """The pool of each section that shares seats with others."""
        with reached():
            pools = [int(pool) for pool in self.redis.hkeys(f"{prefix(term)}:pools")]
            with self.redis.pipeline(transaction=False) as pipe:
                for pool in pools:
                    pipe.smembers(f"{prefix(term)}:pool:{pool}")
                told = pipe.execute()
        return {
            int(section): pool
            for pool, sections in zip(pools, told, strict=True)
            for section in sections
        }

    def seats(self, term: int) -> dict[int, Seats]:
        """The counts of every section of a term."""
        with reached():
            return replies.seats(self.redis.hgetall(f"{prefix(term)}:seats"))

    def seats_of(self, term: int, sections: Sequence[int]) -> dict[int, Seats]:
        """The counts of those sections that the ledger knows."""
        if not sections:
            return {}
        with reached():
            found = self.redis.hmget(f"{prefix(term)}:seats", [str(each) for each in sections])
        return replies.seats(dict(zip(sections, found, strict=True)))

    def reserved(self, term: int, section: int) -> dict[int, int]:
        """Seats of a section that are held under its reserves, by reserve."""
        with reached():
            found = self.redis.hgetall(f"{prefix(term)}:reserved:{section}")
        return {int(reserve): int(held) for reserve, held in found.items()}

    def vacant(self, term: int) -> set[int]:
        """Sections with a free seat that belongs to a waiter."""
        with reached():
            return {int(section) for section in self.redis.smembers(f"{prefix(term)}:vacant")}
