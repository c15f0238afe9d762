"""What a claim and a promotion cost the ledger of a small college and of a large country.

Two ledgers filled by the same script, asked by turns. Processor time of the ledger, which other
work on the machine changes less; without its append-only file, which takes the same at any size.
"""

from contextlib import ExitStack
from statistics import median

from bench.crowd import Ledger

SMALL, LARGE, QUICK_LARGE = (10_000, 200), (1_000_000, 20_000), (100_000, 2000)
TURNS, QUICK_TURNS = 10, 2
FIGURES = {
    "claim_small_us": ("µs", "of the ledger for a claim, with 10,000 students and 200 sections"),
    "claim_large_us": ("µs", "the same with 1,000,000 students and 20,000 sections"),
    "scale_claim": ("ratio", "processor time of a claim, the large ledger's over the small one's"),
    "promote_small_us": ("µs", "of the ledger for a promotion, the small one"),
    "promote_large_us": ("µs", "the same, the large one"),
    "scale_promote": ("ratio", "the same of a promotion, the large ledger's over the small one's"),
    "claim_listener_us": ("µs", "of the ledger for each web process that is told of a claim"),
}


def figures(_: int = 0, *, quick: bool = False) -> dict[str, float]:
    """The figures above."""
    with ExitStack() as stack:
        small = Ledger(stack, *SMALL)
        large = Ledger(stack, *(QUICK_LARGE if quick else LARGE))
        found: dict[str, list[float]] = {name: [] for name in FIGURES}
        for _ in range(QUICK_TURNS if quick else TURNS):
            for name, ledger in ("small", small), ("large", large):
                found[f"claim_{name}_us"].append(ledger.claims())
                found[f"promote_{name}_us"].append(ledger.promotions())
            found["claim_listener_us"].append(small.telling())
    costs = {name: median(each) for name, each in found.items() if each}
    return costs | {
        "scale_claim": costs["claim_large_us"] / costs["claim_small_us"],
        "scale_promote": costs["promote_large_us"] / costs["promote_small_us"],
    }
