"""Claims a second through the whole portal, over requests a second of a bare Flask hello.

Both run under the same gunicorn settings with the same number of workers, one after the other, in
reverse order in odd runs. The requests come over 64 keep-alive connections. The portal's side is a
rush: students who are logged in send three claims each for 200 sections of 30 seats. The first
tenth of the claims warms the processes. Each claim passes the checks of access token, session,
CSRF token, rate limits and rules. The ledger decides it, flushes its append-only file to disk,
writes the journal and publishes the change. The portal answers with rendered fragments. Meanwhile
the workers record, and after each run the audit must be clean. Processor time is counted until
everything is recorded.

The same rush runs against a web server whose gate is off. The server whose gate is on also gets
claims without an access token. A student who sends a few gets a full refusal; a script that keeps
sending them gets one line.
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
    "claim_web_vs_hello": (
        "ratio",
        "processor time of a claim over that of a hello, in the web processes",
    ),
    "claims_per_s": ("1/s", "answered claims a second"),
    "hello_per_s": ("1/s", "answered hellos a second"),
    "claim_p99_ms": ("ms", "99th percentile of the response time of claims"),
    "claim_generator": ("cores", "load of the generator on the same machine meanwhile"),
    "claim_took_us": ("µs", "processor time of a claim in all processes together"),
    "claim_took_web_us": ("µs", "processor time of a claim in the web processes"),
    "claim_took_workers_us": ("µs", "processor time of a claim in the workers and the scheduler"),
    "claim_took_postgres_us": ("µs", "processor time of a claim in PostgreSQL"),
    "claim_took_ledger_us": ("µs", "processor time of a claim in the ledger"),
    "claim_took_bench_us": ("µs", "processor time of a claim in the load generator"),
    "hello_took_us": ("µs", "processor time of a hello in all processes together"),
    "hello_took_web_us": ("µs", "processor time of a hello in the web processes"),
    "hello_took_bench_us": ("µs", "processor time of a hello in the load generator"),
    **gate.FIGURES,
}


def figures(run: int = 0, *, quick: bool = False) -> dict[str, float]:
    """Measure hellos, claims and refusals with the gate on, and claims with the gate off."""
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
        **each_took("hello", hello, by_hello, "web", "bench"),
    }
    return {
        "claim_vs_hello": claims.rate / hello.rate,
        "claim_vs_hello_at_most": took["hello_took_us"] / took["claim_took_us"],
        "claim_web_vs_hello": took["claim_took_web_us"] / took["hello_took_web_us"],
        "claims_per_s": claims.rate,
        "hello_per_s": hello.rate,
        "claim_p99_ms": claims.p99,
        "claim_generator": claims.cpu,
        **took,
        **gate.figures(hello, claims, without, *refused),
    }


def rush(here: Site, term: int, students: int, port: int) -> Measured:
    """Return the report of a rush of claims, and the processor time by kind of process.

    The first tenth warms the processes. The time counts until all claims are recorded. Raise
    SystemExit if the audit is not clean.
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
    """Return the report; raise SystemExit if any answer is not 200."""
    if set(report.statuses) != {200}:
        raise SystemExit(f"Some claims failed: {dict(report.statuses)}")
    return report
