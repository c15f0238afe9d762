"""What a claim and a promotion cost the ledger of a small college and of a large country.

Two ledgers filled by the same script, asked by turns. Processor time of the ledger, which other
work on the machine changes less; without its append-only file, which takes the same at any size.

A third, as small as the first and flushed before it answers, is never left idle: 256 connections
with a claim each, which the gate's meter counts as well, by turns with nobody who listens and with
50 that listen to all that the hub of a web process does.
"""

from contextlib import ExitStack
from statistics import median

from bench.crowd import LISTENERS, Ledger

SMALL, LARGE, QUICK_LARGE = (10_000, 200), (1_000_000, 20_000), (100_000, 2000)
TURNS, QUICK_TURNS = 10, 2
CLAIMS, QUICK_CLAIMS = 4000, 500  # of a rush
FIGURES = {
    "claim_small_us": ("µs", "of the ledger for a claim, with 10,000 students and 200 sections"),
    "claim_large_us": ("µs", "the same with 1,000,000 students and 20,000 sections"),
    "scale_claim": ("ratio", "processor time of a claim, the large ledger's over the small one's"),
    "promote_small_us": ("µs", "of the ledger for a promotion, the small one"),
    "promote_large_us": ("µs", "the same, the large one"),
    "scale_promote": ("ratio", "the same of a promotion, the large ledger's over the small one's"),
    "ledger_claims_per_s": ("1/s", "claims that one ledger decides, counts and flushes, a second"),
    "claim_listener_us": ("µs", "of the ledger for each web process that is told of a claim"),
    "flush_us": ("µs", "until a little more of a file is on the disk, in the ledger's folder"),
}


def figures(_: int = 0, *, quick: bool = False) -> dict[str, float]:
    """The figures above."""
    turns, many = (QUICK_TURNS, QUICK_CLAIMS) if quick else (TURNS, CLAIMS)
    with ExitStack() as stack:
        small = Ledger(stack, *SMALL)
        large = Ledger(stack, *(QUICK_LARGE if quick else LARGE))
        busy = Ledger(stack, *SMALL, durable=True)
        found: dict[str, list[float]] = {name: [] for name in FIGURES}
        for _ in range(turns):
            for name, ledger in ("small", small), ("large", large):
                found[f"claim_{name}_us"].append(ledger.claims())
                found[f"promote_{name}_us"].append(ledger.promotions())
            rate, alone = busy.rush(many)
            _, told = busy.rush(many, LISTENERS)
            found["ledger_claims_per_s"].append(rate)
            found["claim_listener_us"].append((told - alone) / LISTENERS)
            found["flush_us"].append(busy.flush())
    costs = {name: median(each) for name, each in found.items() if each}
    return costs | {
        "scale_claim": costs["claim_large_us"] / costs["claim_small_us"],
        "scale_promote": costs["promote_large_us"] / costs["promote_small_us"],
    }
