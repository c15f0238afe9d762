"""Cost of the gate for a claim that passes it, and cost of a refusal."""

from flask import Flask

from bench import load, portal_on_trial
from bench.load import Report

PER_STUDENT = 3
FLOOD = 2  # claims of one script, as a multiple of the students
FIGURES = {
    "gate_cost": (
        "ratio",
        "claims a second with the gate on over claims a second with the gate off",
    ),
    "claim_p99_no_gate_ms": ("ms", "99th percentile of the response time with the gate off"),
    "refused_per_s": ("1/s", "full refusals a second, for claims without an access token"),
    "refused_vs_hello": ("ratio", "full refusals a second over requests a second of the hello"),
    "refused_briefly_vs_hello": (
        "ratio",
        "one-line refusals of one script a second over requests a second of the hello",
    ),
}


def refusals(
    app: Flask, term: int, students: int, port: int, connections: int
) -> tuple[Report, Report]:
    """Return the reports of full refusals of many students, and of one-line refusals of one."""
    many = portal_on_trial.claims(app, term, students, PER_STUDENT, turn=False)
    refused = load.run(port, many, connections)
    (one,) = portal_on_trial.claims(app, term, 1, 1, turn=False)
    load.run(port, [one] * 1000, connections)  # use up its full refusals
    briefly = load.run(port, [one] * FLOOD * students, connections)
    for report, status in (refused, 403), (briefly, 429):
        if report.statuses[status] < 0.9 * report.statuses.total():
            raise SystemExit(f"Claims without a token were not refused: {dict(report.statuses)}")
    return refused, briefly


def figures(
    hello: Report, claims: Report, without: Report, refused: Report, briefly: Report
) -> dict[str, float]:
    """Return one run's figures, by the names above."""
    return {
        "gate_cost": claims.rate / without.rate,
        "claim_p99_no_gate_ms": without.p99,
        "refused_per_s": refused.rate,
        "refused_vs_hello": refused.rate / hello.rate,
        "refused_briefly_vs_hello": briefly.rate / hello.rate,
    }
