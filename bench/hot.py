"""All students claim one hot section, decided by the ledger and by a row lock in PostgreSQL.

The baseline is the same portal under the same server: session, CSRF token, access token, rate
limits, rules, rendered answer. Only the decision differs. `bench/baselines/row_lock.py` locks the
section's row with SELECT ... FOR UPDATE, inserts the seat or the waitlist position, and commits.
The commit flushes to disk, as the ledger does. The baseline leaves out much of what the ledger
does for a claim. It has no journal, so nothing is recorded and there are no read models. It
publishes no counts, does not check clashes, credits, pools and reserved seats, and stores no
answers by idempotency key. The ledger's processor time includes all this, because it is counted
until everything is recorded.

Both sides get their claims over 64 connections, one side after the other, in reverse order in odd
runs. The first tenth of the claims warms each side. Each connection sends its next claim as soon
as it has an answer, so the 99th percentiles say little more than the rates.

Then each side decides alone, without a web server and without warming. The ledger serves 256
connections, which are opened meanwhile, while the workers record. The row lock runs the same
statements with pgbench over 40 connections, as many as the pools of two web processes have. The
ledger's time ends with its answers, before everything is recorded.

The last two figures follow from these rates and from the processor time of a claim. They are the
cores with which the portal on a row lock would reach the lock's limit, and those with which the
portal on the ledger would reach the bar. They assume that a claim takes as long on more cores.
"""

from collections import Counter

from bench import decisions, load, portal_on_trial
from bench.bars import BARS
from bench.baselines import row_lock
from bench.claims import answered_well
from bench.site import CONNECTIONS, Site, by_turns, caught_up, each_took, site
from portal.backend import backend

SEATS = 100  # of the section, whatever the number of students
FIGURES = {
    "claim_vs_row_lock": ("ratio", "claims a second of one section over those with a row lock"),
    "claim_p99_vs_row_lock": (
        "ratio",
        "99th percentile of the response time over that with a row lock",
    ),
    "hot_claims_per_s": ("1/s", "claims of one section answered a second"),
    "row_lock_claims_per_s": ("1/s", "the same with a row lock"),
    "hot_took_us": ("µs", "processor time of such a claim in all processes together"),
    "hot_took_web_us": ("µs", "processor time of such a claim in the web processes"),
    "hot_took_workers_us": ("µs", "processor time of such a claim in the workers and scheduler"),
    "hot_took_postgres_us": ("µs", "processor time of such a claim in PostgreSQL"),
    "hot_took_ledger_us": ("µs", "processor time of such a claim in the ledger"),
    "row_lock_took_us": ("µs", "processor time of a row-lock claim in all processes together"),
    "row_lock_took_web_us": ("µs", "processor time of a row-lock claim in the web processes"),
    "row_lock_took_postgres_us": ("µs", "processor time of a row-lock claim in PostgreSQL"),
    "ledger_alone_per_s": ("1/s", "claims of one section that the ledger alone decides a second"),
    "row_lock_alone_per_s": ("1/s", "claims of one section that a row lock alone decides a second"),
    "decision_vs_row_lock": ("ratio", "decisions a second of the ledger alone over the row lock's"),
    "row_lock_full_cores": ("cores", "for the row-lock portal to answer all its lock can decide"),
    "row_lock_bar_cores": ("cores", "for the ledger's portal to answer three times as many"),
}


def figures(run: int = 0, *, quick: bool = False) -> dict[str, float]:
    """Measure both sides, through the web and then alone."""
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
    """Return the report of one claim per student, and the processor time by kind of process.

    The time counts until all claims are recorded.
    """
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
    """Return how many claims of one section the ledger decides a second, one per student."""
    with portal_on_trial.a_rush(students, sections=1, seats=SEATS) as term:
        [section] = backend().ledger.seats(term)
        rate = decisions.by_ledger(term, section, portal_on_trial.students(students))
        caught_up(term)
        return rate


def row_lock_alone(claims: int) -> float:
    """Return how many claims of one section a row lock decides a second."""
    with portal_on_trial.a_rush(claims, sections=1, seats=SEATS) as term:
        counts = backend().ledger.seats(term)
        row_lock.offer(counts.values())
        return decisions.by_row_lock(next(iter(counts)), claims)
