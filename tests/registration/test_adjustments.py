"""Admin adjustments, from the portal to the ledger."""

from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from portal.ledger.errors import KeyReused
from portal.ledger.types import Decision, Outcome
from portal.registration import adjustments
from portal.registration.adjustments import Adjustment
from tests import cast as builders
from tests.cast import Cast


def test_key_includes_the_requested_credits(term: Any, cast: Cast) -> None:
    section = builders.a_section(builders.a_course(), term, credits_min=1, credits_max=3)
    key = uuid4().hex

    def add(credits_: Decimal | None) -> Decision:
        change = Adjustment(term.id, cast.ada.id, add=section.id, credits=credits_)
        return adjustments.adjust(
            change, why="Agreed.", by=cast.max.id, idempotency_key=key, correlation=""
        )

    assert add(Decimal(2)).outcome == Outcome.ENROLLED
    assert add(Decimal(2)).replayed
    for other in (Decimal(3), None):
        with pytest.raises(KeyReused):
            add(other)
