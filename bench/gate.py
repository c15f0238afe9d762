"""What the gate costs a claim that it lets through, and what it takes to refuse one."""

from flask import Flask

from bench import load, portal_on_trial
from bench.load import Report

PER_STUDENT = 3
FLOOD = 2  # claims of one script, as a multiple of the students
FIGURES = {
    "gate_cost": (
        "ratio",
        "claims a second through the gate over those with the gate off",
    ),
    "claim_p99_no_gate_ms": ("ms", "99 % are answered within, with the gate off"),
    "refused_per_s": ("1/s", "claims without a pass that are refused in words, a second"),
    "refused_vs_hello": ("ratio", "the same over requests a second of the bare hello"),
    "refused_briefly_vs_hello": (
        "ratio",
        "claims without a pass of one script, refused in one line, over those of the hello",
    ),
}


def refusals(
    app: Flask, term: int, students: int, port: int, connections: int
) -> tuple[Report, Report]:
    """Claims that are refused: in words, of many students, and briefly, of one."""
    many = portal_on_trial.claims(app, term, students, PER_STUDENT, turn=False)
    refused = load.run(port, many, connections)
    (one,) = portal_on_trial.claims(app, term, 1, 1, turn=False)
    load.run(port, [one] * 1000, connections)  # until it has had its refusals in words
    briefly = load.run(port, [one] * FLOOD * students, connections)
    for report, status in (refused, 403), (briefly, 429):
        if report.statuses[status] < 0.9 * report.statuses.total():
            raise SystemExit(f"Claims without a pass were answered: {dict(report.statuses)}")
    return refused, briefly


def figures(
    hello: Report, claims: Report, without: Report, refused: Report, briefly: Report
) -> dict[str, float]:
    """One run's figures, by the names above."""
    return {
        "gate_cost": claims.rate / without.rate,
        "claim_p99_no_gate_ms": without.p99,
        "refused_per_s": refused.rate,
        "refused_vs_hello": refused.rate / hello.rate,
        "refused_briefly_vs_hello": briefly.rate / hello.rate,
    }
