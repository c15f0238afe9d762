"""How often tests repeat what chance decides: more often in `make soak`."""

import os
from collections.abc import Sequence
from random import Random
from typing import TypeVar

SOAK = os.environ.get("FAIRSEAT_SOAK") == "1"
Item = TypeVar("Item")


def rounds(few: int, *, soak: int) -> int:
    """Return how often to repeat."""
    return soak if SOAK else few


def one_in(number: int, items: Sequence[Item], seed: str = "") -> Sequence[Item]:
    """Return that part of the items, the same in each run for a seed; in `make soak` return all."""
    return items if SOAK else Random(seed).sample(items, -(-len(items) // number))
