"""Cost of a claim and of a promotion in the ledger of a small college and of a large country.

One script fills two ledgers, and both get the same requests in turns. The figures are processor
time of the ledger, which hardly depends on other work on the machine. The append-only file is off,
because it takes the same time at any size.

A third ledger, as small as the first, flushes to disk before it answers and is never idle. It
serves 256 connections with one claim each, which also count against the rate limit. The runs
alternate between no subscriber and 50 subscribers to the channels of a web process's hub.
"""

from contextlib import ExitStack
from statistics import median

from bench.crowd import LISTENERS, Ledger

SMALL, LARGE, QUICK_LARGE = (10_000, 200), (1_000_000, 20_000), (20_000, 400)
TURNS, QUICK_TURNS = 10, 1
CLAIMS, QUICK_CLAIMS = 4000, 500  # of a rush
FIGURES = {
    "claim_small_us": ("µs", "ledger time of a claim with 10,000 students and 200 sections"),
    "claim_large_us": ("µs", "ledger time of a claim with 1,000,000 students, 20,000 sections"),
    "scale_claim": ("ratio", "ledger time of a claim, large ledger over small"),
    "promote_small_us": ("µs", "ledger time of a promotion in the small ledger"),
    "promote_large_us": ("µs", "ledger time of a promotion in the large ledger"),
    "scale_promote": ("ratio", "ledger time of a promotion, large ledger over small"),
    "ledger_claims_per_s": ("1/s", "claims that one ledger decides, counts and flushes a second"),
    "claim_listener_us": ("µs", "ledger time per claim for each subscribed web process"),
    "flush_us": ("µs", "time to append a little to a file in the ledger's folder and flush it"),
}


def figures(_: int = 0, *, quick: bool = False) -> dict[str, float]:
    """Return the figures above."""
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
            _, pushed = busy.rush(many, LISTENERS)
            found["ledger_claims_per_s"].append(rate)
            found["claim_listener_us"].append((pushed - alone) / LISTENERS)
            found["flush_us"].append(busy.flush())
    costs = {name: median(each) for name, each in found.items() if each}
    return costs | {
        "scale_claim": costs["claim_large_us"] / costs["claim_small_us"],
        "scale_promote": costs["promote_large_us"] / costs["promote_small_us"],
    }
