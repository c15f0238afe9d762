"""How often tests repeat what chance decides: more often in `make soak`."""

import os

SOAK = os.environ.get("FAIRSEAT_SOAK") == "1"


def rounds(few: int, *, soak: int) -> int:
    """Return how often to repeat."""
    return soak if SOAK else few
