"""What the gate costs a claim that it lets through, and what it takes to refuse one."""

from typing import Any

from bench import load, portal_on_trial

PER_STUDENT = 3
FLOOD = 3000  # claims of one script
FIGURES = {
    "gate_cost": (
        "ratio",
        "claims a second through pass, ticket and limits over those with the gate off, each run",
    ),
    "claim_p99_no_gate_ms": ("ms", "99 % are answered within, with the gate off"),
    "refused_per_s": ("1/s", "claims without a pass that are refused in words, a second"),
    "refused_vs_hello": ("ratio", "the same over requests a second of the bare hello"),
    "refused_briefly_vs_hello": (
        "ratio",
        "claims without a pass of one script, refused in one line, over those of the hello",
    ),
}


def refusals(app: Any, term: int, students: int, port: int, connections: int) -> dict[str, float]:
    """Claims a second that are refused: in words, of many students, and briefly, of one."""
    many = portal_on_trial.claims(app, term, students, PER_STUDENT, turn=False)
    refused = load.run(port, many, connections)
    (one,) = portal_on_trial.claims(app, term, 1, 1, turn=False)
    load.run(port, [one] * 1000, connections)  # until it has had its refusals in words
    briefly = load.run(port, [one] * FLOOD, connections)
    for report, status in (refused, 403), (briefly, 429):
        if report.statuses[status] < 0.9 * report.statuses.total():
            raise SystemExit(f"Claims without a pass were answered: {dict(report.statuses)}")
    return {"refused": refused.rate, "briefly": briefly.rate}


def figures(run: dict[str, float]) -> dict[str, float]:
    """One run's figures, by the names above."""
    return {
        "gate_cost": run["claims"] / run["open"],
        "claim_p99_no_gate_ms": run["open_p99"],
        "refused_per_s": run["refused"],
        "refused_vs_hello": run["refused"] / run["hello"],
        "refused_briefly_vs_hello": run["briefly"] / run["hello"],
    }
