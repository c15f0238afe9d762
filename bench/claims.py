"""Claims a second through the whole portal, over requests a second of a bare Flask hello.

Both run under the same gunicorn settings with the same number of workers, one after the other in
each run, asked over 64 kept-alive connections. The portal's side is a rush: students who are logged
in, each with three claims among 200 sections of 30 seats. Each claim passes pass, ticket, session,
CSRF, limits and rules, is decided by the ledger, whose append-only file is flushed to disk before
it answers, is journaled and published, and is answered with rendered fragments; meanwhile the
workers record, and after each run the audit must be clean. The same rush is run against a web
server whose gate is off, and claims without a pass are sent to the one whose gate is on: each of
the students' few are refused in words, those of a script that goes on are refused in one line.
"""

from collections import Counter

from bench import gate, load, portal_on_trial
from bench.site import CONNECTIONS, Site, site
from portal.record.audit import audit_term

EACH = 3
FIGURES = {
    "claim_vs_hello": ("ratio", "claims a second over requests a second of a bare Flask hello"),
    "claims_per_s": ("1/s", "answered claims a second"),
    "hello_per_s": ("1/s", "answered hellos a second"),
    "claim_p99_ms": ("ms", "99 % of claims are answered within"),
    "claim_generator": ("cores", "what the load generator takes of the same machine meanwhile"),
    "claim_took_us": ("µs", "processor time of a claim in all processes together"),
    "claim_took_web_us": ("µs", "of which the web processes"),
    "claim_took_workers_us": ("µs", "of which the workers and the clock"),
    "claim_took_postgres_us": ("µs", "of which PostgreSQL"),
    "claim_took_ledger_us": ("µs", "of which the ledger"),
    "claim_took_bench_us": ("µs", "of which the load generator"),
    "hello_took_us": ("µs", "processor time of a hello in all processes together"),
    "hello_took_bench_us": ("µs", "of which the load generator"),
    **gate.FIGURES,
}


def figures(_run: int = 0, *, quick: bool = False) -> dict[str, float]:
    """Hellos, claims with the gate and without, and refusals, one after another."""
    students, here = (60 if quick else 1500), site()
    here.hello()
    before = here.spent()
    hello = here.hellos(600 if quick else 12_000)
    by_hello = here.spent() - before
    with portal_on_trial.a_rush(students) as term:
        claims, by_claim = rush(here, term, students, here.web())
        refused = gate.refusals(here.app, term, students, here.web(), CONNECTIONS)
    with portal_on_trial.a_rush(students) as term:
        without, _ = rush(here, term, students, here.web("open", FAIRSEAT_GATE="0"))
    return {
        "claim_vs_hello": claims.rate / hello.rate,
        "claims_per_s": claims.rate,
        "hello_per_s": hello.rate,
        "claim_p99_ms": claims.p99,
        "claim_generator": claims.cpu,
        **each_took("claim", claims, by_claim, "web", "workers", "postgres", "ledger", "bench"),
        **each_took("hello", hello, by_hello, "bench"),
        **gate.figures(hello, claims, without, *refused),
    }


def each_took(name: str, report: load.Report, spent: Counter[str], *kinds: str) -> dict[str, float]:
    """Processor time by request, in all processes and in some kinds of them."""
    times = {f"{name}_took_{kind}_us": spent[kind] for kind in kinds}
    times[f"{name}_took_us"] = spent.total()
    return {each: time * 1e6 / len(report.latencies) for each, time in times.items()}


def rush(here: Site, term: int, students: int, port: int) -> tuple[load.Report, Counter[str]]:
    """Every claim of a rush, which is recorded and audited; and who took how long meanwhile.

    Stops where the audit is not clean.
    """
    requests = portal_on_trial.claims(here.app, term, students, EACH)
    before = here.spent()
    claims = load.run(port, requests, CONNECTIONS)
    spent = here.spent() - before
    if set(claims.statuses) != {200}:
        raise SystemExit(f"Not every claim was answered well: {dict(claims.statuses)}")
    if not (found := audit_term(term))["clean"]:
        raise SystemExit(f"The audit is not clean: {found}")
    return claims, spent
