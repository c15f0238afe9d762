"""All students on one hot section, decided by the ledger and by a row lock in PostgreSQL.

The baseline is the same portal under the same server: session, CSRF, pass, limits, rules, rendered
answer. Only the decision differs: `bench/baselines/row_lock.py` locks the section's row with SELECT
... FOR UPDATE, enters the seat or the place in line and commits, which flushes to disk as the
ledger does. It spares itself what the ledger also decides in that step: clashes, credits, pools,
reserves, answers kept by request key. Both are asked over 64 connections, one after the other.
"""

from bench import load, portal_on_trial
from bench.baselines import row_lock
from bench.site import CONNECTIONS, Site, site
from portal.backend import backend

SEATS = 100  # for so many times as many students
FIGURES = {
    "claim_vs_row_lock": ("ratio", "claims a second of one section over those by a row lock"),
    "claim_p99_vs_row_lock": ("ratio", "99 % are answered within, over the same by a row lock"),
    "hot_claims_per_s": ("1/s", "claims of one section answered a second"),
    "row_lock_claims_per_s": ("1/s", "the same by a row lock"),
}


def figures(_run: int = 0, *, quick: bool = False) -> dict[str, float]:
    """One section for all, first by the ledger, then by a row lock."""
    students, here = (120 if quick else 2000), site()
    row_lock.prepare()
    ours = rush(here, students, here.web())
    theirs = rush(here, students, here.web("row_lock", "bench.baselines.row_lock:app()"))
    return {
        "claim_vs_row_lock": ours.rate / theirs.rate,
        "claim_p99_vs_row_lock": ours.p99 / theirs.p99,
        "hot_claims_per_s": ours.rate,
        "row_lock_claims_per_s": theirs.rate,
    }


def rush(here: Site, students: int, port: int) -> load.Report:
    """A claim by everyone; the first tenth warms the processes."""
    with portal_on_trial.a_rush(students, sections=1, seats=SEATS) as term:
        row_lock.offer(backend().ledger.seats(term).values())
        wishes = portal_on_trial.claims(here.app, term, students, 1)
        load.run(port, wishes[: students // 10], CONNECTIONS)
        answered = load.run(port, wishes[students // 10 :], CONNECTIONS)
    if set(answered.statuses) != {200}:
        raise SystemExit(f"Not every claim was answered well: {dict(answered.statuses)}")
    return answered
