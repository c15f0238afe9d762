"""What only `make soak` tries: more rounds of chance, and cases that closely resemble others."""

import os
from collections.abc import Sequence
from random import Random
from typing import TypeVar

import pytest

SOAK = os.environ.get("FAIRSEAT_SOAK") == "1"
Item = TypeVar("Item")

# For a long test with processes of its own.
only_in_soak = pytest.mark.skipif(not SOAK, reason="only `make soak` runs it")


def rounds(few: int, *, soak: int) -> int:
    """Return how often to repeat."""
    return soak if SOAK else few


def in_soak(*items: Item) -> Sequence[Item]:
    """Return the items in `make soak`, else none: cases that closely resemble others."""
    return items if SOAK else ()


def one_in(number: int, items: Sequence[Item], seed: str = "") -> Sequence[Item]:
    """Return that part of the items, the same in each run for a seed; in `make soak` return all."""
    return items if SOAK else Random(seed).sample(items, -(-len(items) // number))
