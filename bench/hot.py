"""All students on one hot section, decided by the ledger and by a row lock in PostgreSQL.

The baseline is the same portal under the same server: session, CSRF, pass, limits, rules, rendered
answer. `bench/baselines/row_lock.py` decides by another way: it locks the section's row with SELECT
... FOR UPDATE, enters the seat or the place in line and commits, which flushes to disk as the
ledger does. It leaves out much of what a claim at the ledger brings with it: it keeps no journal,
so that nothing is recorded and there are no read models, and it publishes no counts; nor does it
decide clashes, credits, pools and reserves, or keep answers by request key. What all this takes is
in the processor times, which are counted until everything is recorded.

Both are asked over 64 connections, one after the other, in odd runs the other way round; the first
tenth of the claims warms each. As each connection asks again once it is answered, the times in
which 99 % are answered tell little more than the rates do.

Then both decide alone, with no web server in front and nothing warmed: the ledger for 256
connections, which are made meanwhile, while the workers record; and the same statements by pgbench
over 40, as the pools of two web processes have. The ledger's time ends with its answers, before
all is recorded. From these rates and what a claim takes through the web follows with how many
cores a row lock would answer as many, and the portal so many times as many as the bar asks for, if
a claim takes as long there.
"""

from collections import Counter

from bench import decisions, load, portal_on_trial
from bench.bars import BARS
from bench.baselines import row_lock
from bench.claims import answered_well
from bench.site import CONNECTIONS, Site, by_turns, caught_up, each_took, site
from portal.backend import backend

SEATS = 100  # for so many times as many students
FIGURES = {
    "claim_vs_row_lock": ("ratio", "claims a second of one section over those by a row lock"),
    "claim_p99_vs_row_lock": (
        "ratio",
        "time in which 99 % are answered, over the same by a row lock; mirrors the rates",
    ),
    "hot_claims_per_s": ("1/s", "claims of one section answered a second"),
    "row_lock_claims_per_s": ("1/s", "the same by a row lock"),
    "hot_took_us": ("µs", "processor time of such a claim in all processes together"),
    "hot_took_web_us": ("µs", "of which the web processes"),
    "hot_took_workers_us": ("µs", "of which the workers and the scheduler"),
    "hot_took_postgres_us": ("µs", "of which PostgreSQL"),
    "hot_took_ledger_us": ("µs", "of which the ledger"),
    "row_lock_took_us": ("µs", "processor time of a claim by a row lock in all processes together"),
    "row_lock_took_web_us": ("µs", "of which the web processes"),
    "row_lock_took_postgres_us": ("µs", "of which PostgreSQL"),
    "ledger_alone_per_s": ("1/s", "claims of one section that the ledger alone decides a second"),
    "row_lock_alone_per_s": ("1/s", "the same of a row lock alone"),
    "decision_vs_row_lock": ("ratio", "the ledger alone over a row lock alone"),
    "row_lock_full_cores": ("cores", "with which as many are answered as a row lock alone decides"),
    "row_lock_bar_cores": ("cores", "with which the ledger's portal answers three times as many"),
}


def figures(run: int = 0, *, quick: bool = False) -> dict[str, float]:
    """One section for all, by the ledger and by a row lock."""
    students, here = (120 if quick else 2000), site(quick=quick)
    row_lock.prepare()
    (ours, by_us), (theirs, by_them) = by_turns(
        run,
        lambda: rush(here, students, "portal", "wsgi:app"),
        lambda: rush(here, students, "row_lock", "bench.baselines.row_lock:app()"),
    )
    by_ledger, by_lock = by_turns(
        run, lambda: ledger_alone(students), lambda: row_lock_alone(students)
    )
    took = {
        **each_took("hot", ours, by_us, "web", "workers", "postgres", "ledger"),
        **each_took("row_lock", theirs, by_them, "web", "postgres"),
    }
    bar = BARS["claim_vs_row_lock"].value
    return {
        "claim_vs_row_lock": ours.rate / theirs.rate,
        "claim_p99_vs_row_lock": ours.p99 / theirs.p99,
        "hot_claims_per_s": ours.rate,
        "row_lock_claims_per_s": theirs.rate,
        **took,
        "ledger_alone_per_s": by_ledger,
        "row_lock_alone_per_s": by_lock,
        "decision_vs_row_lock": by_ledger / by_lock,
        "row_lock_full_cores": by_lock * took["row_lock_took_us"] / 1e6,
        "row_lock_bar_cores": bar * by_lock * took["hot_took_us"] / 1e6,
    }


def rush(here: Site, students: int, name: str, app: str) -> tuple[load.Report, Counter[str]]:
    """A claim by everyone, and who took how long until they were recorded."""
    with (
        portal_on_trial.a_rush(students, sections=1, seats=SEATS) as term,
        here.web(name, app) as port,
    ):
        row_lock.offer(backend().ledger.seats(term).values())
        wishes = portal_on_trial.claims(here.app, term, students, 1)
        answered_well(load.run(port, wishes[: students // 10], CONNECTIONS))
        caught_up(term)
        before = here.spent()
        answered = answered_well(load.run(port, wishes[students // 10 :], CONNECTIONS))
        caught_up(term)
        return answered, here.spent() - before


def ledger_alone(students: int) -> float:
    """Claims of one section that the ledger decides a second, one of everyone."""
    with portal_on_trial.a_rush(students, sections=1, seats=SEATS) as term:
        [section] = backend().ledger.seats(term)
        rate = decisions.by_ledger(term, section, portal_on_trial.students(students))
        caught_up(term)
        return rate


def row_lock_alone(claims: int) -> float:
    """Claims of one section that a row lock decides a second."""
    with portal_on_trial.a_rush(claims, sections=1, seats=SEATS) as term:
        counts = backend().ledger.seats(term)
        row_lock.offer(counts.values())
        return decisions.by_row_lock(next(iter(counts)), claims)
