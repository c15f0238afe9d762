"""Claims a second through the whole portal, over requests a second of a bare Flask hello.

Both run under the same gunicorn settings with the same number of workers, one after the other, in
odd runs the other way round, asked over 64 kept-alive connections. The portal's side is a rush:
students who are logged in, each with three claims among 200 sections of 30 seats, the first tenth
of which warms the processes. Each claim passes access token, session, CSRF, limits and rules, is
decided by the ledger, whose append-only file is flushed to disk before it answers, is journaled and
published, and is answered with rendered fragments; meanwhile the workers record, and after each run
the audit must be clean. Processor time is counted until all is recorded. The same rush is run
against a web server whose gate is off, and claims without a pass are sent to the one whose gate is
on: each of the students' few are refused in words, those of a script that goes on are refused in
one line.
"""

from collections import Counter

from bench import gate, load, portal_on_trial
from bench.site import CONNECTIONS, Site, by_turns, caught_up, each_took, site
from portal.recorder.consistency.audit import audit_term

EACH = 3
Measured = tuple[load.Report, Counter[str]]
FIGURES = {
    "claim_vs_hello": ("ratio", "claims a second over requests a second of a bare Flask hello"),
    "claim_vs_hello_at_most": (
        "ratio",
        "processor time of a hello over that of a claim, in all processes together",
    ),
    "claims_per_s": ("1/s", "answered claims a second"),
    "hello_per_s": ("1/s", "answered hellos a second"),
    "claim_p99_ms": ("ms", "99 % of claims are answered within"),
    "claim_generator": ("cores", "what the load generator takes of the same machine meanwhile"),
    "claim_took_us": ("µs", "processor time of a claim in all processes together"),
    "claim_took_web_us": ("µs", "of which the web processes"),
    "claim_took_workers_us": ("µs", "of which the workers and the scheduler"),
    "claim_took_postgres_us": ("µs", "of which PostgreSQL"),
    "claim_took_ledger_us": ("µs", "of which the ledger"),
    "claim_took_bench_us": ("µs", "of which the load generator"),
    "hello_took_us": ("µs", "processor time of a hello in all processes together"),
    "hello_took_bench_us": ("µs", "of which the load generator"),
    **gate.FIGURES,
}


def figures(run: int = 0, *, quick: bool = False) -> dict[str, float]:
    """Hellos, claims with the gate and refusals, and claims without it, by turns."""
    students, here = (60 if quick else 1500), site(quick=quick)
    refused: list[load.Report] = []

    def hellos() -> Measured:
        return here.hellos(600 if quick else 12_000)

    def gated() -> Measured:
        with portal_on_trial.a_rush(students) as term, here.web() as port:
            found = rush(here, term, students, port)
            refused.extend(gate.refusals(here.app, term, students, port, CONNECTIONS))
            return found

    def ungated() -> Measured:
        with portal_on_trial.a_rush(students) as term, here.web("open", FAIRSEAT_GATE="0") as port:
            return rush(here, term, students, port)

    (hello, by_hello), (claims, by_claim), (without, _) = by_turns(run, hellos, gated, ungated)
    took = {
        **each_took("claim", claims, by_claim, "web", "workers", "postgres", "ledger", "bench"),
        **each_took("hello", hello, by_hello, "bench"),
    }
    return {
        "claim_vs_hello": claims.rate / hello.rate,
        "claim_vs_hello_at_most": took["hello_took_us"] / took["claim_took_us"],
        "claims_per_s": claims.rate,
        "hello_per_s": hello.rate,
        "claim_p99_ms": claims.p99,
        "claim_generator": claims.cpu,
        **took,
        **gate.figures(hello, claims, without, *refused),
    }


def rush(here: Site, term: int, students: int, port: int) -> Measured:
    """Claims of a rush, recorded and audited; and who took how long until they were recorded.

    The first tenth warms the processes. Stops where the audit is not clean.
    """
    requests = portal_on_trial.claims(here.app, term, students, EACH)
    warming, rest = requests[: len(requests) // 10], requests[len(requests) // 10 :]
    answered_well(load.run(port, warming, CONNECTIONS))
    caught_up(term)
    before = here.spent()
    claims = answered_well(load.run(port, rest, CONNECTIONS))
    caught_up(term)
    spent = here.spent() - before
    if not (found := audit_term(term))["clean"]:
        raise SystemExit(f"The audit is not clean: {found}")
    return claims, spent


def answered_well(report: load.Report) -> load.Report:
    """The report; stops where a claim was not answered as it should be."""
    if set(report.statuses) != {200}:
        raise SystemExit(f"Not every claim was answered well: {dict(report.statuses)}")
    return report
