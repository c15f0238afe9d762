"""The ledger's Python face for what is changed by hand, past rules where they are named."""

from collections.abc import Mapping, Sequence

from portal.seats import replies
from portal.seats.answers import Answer, Reason
from portal.seats.asks import ByHand, as_payload
from portal.seats.library import Library


class LedgerByHand:
    """The part of the Ledger that an admin asks."""

    library: Library

    def adjust(
        self,
        term: int,
        change: ByHand,
        *,
        overrides: Sequence[str],
        reason: str,
        request: str | None,
        actor: str,
        correlation: str,
    ) -> Answer:
        """Put a student into a section, take one out of one, or, with both, move them in one step.

        Refused with every reason whose code is not among `overrides`. Raises KeyReused.
        """
        payload = as_payload(change) | {
            "overrides": sorted(set(overrides)) or None,
            "reason": reason,
            "request": request,
            "actor": actor,
            "correlation": correlation,
        }
        return replies.answer(self.library.ask("adjust", term, payload, again=bool(request)))

    def adjust_all(
        self,
        term: int,
        changes: Mapping[str, ByHand],
        *,
        overrides: Sequence[str],
        reason: str,
        actor: str,
        correlation: str,
    ) -> list[Answer]:
        """Many such changes by their request keys, each decided by itself, in one round trip.

        A refusal is not kept under its key: whoever imports asks until it is granted.
        """
        common = {
            "overrides": sorted(set(overrides)) or None,
            "reason": reason,
            "actor": actor,
            "correlation": correlation,
            "retries": True,
        }
        asked = [as_payload(each) | common | {"request": key} for key, each in changes.items()]
        return [replies.answer(each) for each in self.library.ask_all("adjust", term, asked)]

    def exchange(
        self,
        term: int,
        ring: Sequence[ByHand],
        *,
        overrides: Sequence[str],
        reason: str,
        request: str | None,
        actor: str,
        correlation: str,
    ) -> tuple[Answer, ...]:
        """Moves, each into the seat that the next one leaves, the last into the first one's.

        All of them in one step, or none: then those in whose way something stands say what. The
        key is the first student's; a refusal is not kept under it. Raises KeyReused, and NoRing,
        also for more than 100.
        """
        payload = {
            "moves": [as_payload(each) for each in ring],
            "student": ring[0].student,
            "overrides": sorted(set(overrides)) or None,
            "reason": reason,
            "request": request,
            "actor": actor,
            "correlation": correlation,
            "retries": True,
        }
        return replies.exchange(self.library.ask("exchange", term, payload, again=bool(request)))

    def preview(self, term: int, change: ByHand) -> tuple[Reason, ...]:
        """Everything that stands in the way of `adjust` as things are; changes nothing."""
        found = self.library.read("preview", term, as_payload(change))
        return replies.reasons(found.get("reasons"))
