"""`make bench`: claims a second through the whole portal, as a ratio to a bare "hello".

Both run under the same gunicorn settings with the same number of workers and the same lean load
generator, one after the other in each repeat. The portal's side is a whole one: session, CSRF,
rate limits, rules, the ledger with its append-only file flushed before each answer, the journal,
the rendered answer; meanwhile its workers record everything, and the audit must be clean.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from bench import gate, load, portal_on_trial, report, stage, waiters, waits  # noqa: E402
from bench.report import figure  # noqa: E402
from bench.stage import cli, patiently, started, web  # noqa: E402
from portal import create_app  # noqa: E402
from portal.config import Settings  # noqa: E402
from portal.record.audit import audit_term  # noqa: E402
from portal.running.children import Child  # noqa: E402

CONNECTIONS = 64
CLAIMS_EACH = 3
HELLO = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
HELLO_PORT, PORTAL_PORT, OPEN_PORT = 8791, 8792, 8793


def main() -> None:
    """Measure, print, and write bench/results.json and docs/benchmarks.md."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--students", type=int, default=2000)
    asked = options.parse_args()
    with ExitStack() as stack:
        runs = measure(stack, asked.repeats, asked.students)
    results = {
        "claim_vs_hello": figure([run["claims"] / run["hello"] for run in runs], "ratio", RATIO),
        "claims_per_s": figure([run["claims"] for run in runs], "1/s", "answered claims a second"),
        "hello_per_s": figure([run["hello"] for run in runs], "1/s", "answered hellos a second"),
        "claim_p99_ms": figure([run["p99"] for run in runs], "ms", "99 % are answered within"),
    }
    of_gate = [gate.figures(run) for run in runs]
    results |= {
        name: figure([each[name] for each in of_gate], *told) for name, told in gate.FIGURES.items()
    }
    # By itself, as it patches its process like a server's.
    cost = [sys.executable, "bench/claim_cost.py", "--json"]
    results |= json.loads(subprocess.run(cost, cwd=ROOT, check=True, capture_output=True).stdout)
    for other, times in (waits, 3), (waiters, 1):
        runs = [other.figures(each) for each in range(times)]
        results |= {
            name: figure([each[name] for each in runs], *told)
            for name, told in other.FIGURES.items()
        }
    (ROOT / "bench/results.json").write_text(json.dumps(results, indent=2) + "\n")
    report.write(
        ROOT / "docs/benchmarks.md",
        results,
        machine=f"Here: {os.cpu_count()} cores.",
        connections=CONNECTIONS,
        students=asked.students,
        each=CLAIMS_EACH,
        sections=portal_on_trial.SECTIONS,
        seats=portal_on_trial.SEATS,
    )
    for name, value in results.items():
        print(f"{name:16} {value['value']:9.3g} ({value['low']:.3g} to {value['high']:.3g})")


RATIO = (
    "claims a second through the whole web stack over requests a second of a bare Flask hello"
    " under the same server, both with the load generator on the same machine"
)


def measure(stack: ExitStack, repeats: int, students: int) -> list[dict[str, float]]:
    """One repeat a row: hellos, then a rush of claims that is recorded and audited."""
    folder = stage.servers(stack)
    app = create_app(Settings.read())
    for name in ("record", "promote", "maintain"):
        started(stack, Child(name, cli("worker", name), folder.log(name)))
    started(stack, Child("clock", cli("clock"), folder.log("clock")))
    started(stack, web(folder, "hello", HELLO_PORT, "bench.baselines.hello:app"))
    started(stack, web(folder, "web", PORTAL_PORT, "wsgi:app"))
    started(stack, web(folder, "open", OPEN_PORT, "wsgi:app", FAIRSEAT_GATE="0"))
    patiently(lambda: load.run(HELLO_PORT, [HELLO] * 4000, CONNECTIONS))
    for port in (PORTAL_PORT, OPEN_PORT):
        patiently(lambda port=port: load.run(port, [HELLO] * 500, CONNECTIONS))
    return [repeat(app, students) for _ in range(repeats)]


def repeat(app: Any, students: int) -> dict[str, float]:
    """Rates of hellos, of claims with the gate and without, and of refusals, one after another."""
    hello = load.run(HELLO_PORT, [HELLO] * 12_000, CONNECTIONS)
    with portal_on_trial.a_rush(students) as term:
        claims = rush(app, term, students, PORTAL_PORT)
        refused = gate.refusals(app, term, students, PORTAL_PORT, CONNECTIONS)
    with portal_on_trial.a_rush(students) as term:
        without = rush(app, term, students, OPEN_PORT)
    rates = f"claims {claims.rate:.0f}/s, without the gate {without.rate:.0f}/s"
    print(f"hello {hello.rate:.0f}/s, {rates}")
    return {
        "hello": hello.rate,
        "claims": claims.rate,
        "p99": p99(claims),
        "open": without.rate,
        "open_p99": p99(without),
        **refused,
    }


def rush(app: Any, term: int, students: int, port: int) -> load.Report:
    """Every claim of a rush, which is recorded and audited; stops where that is not clean."""
    requests = portal_on_trial.claims(app, term, students, CLAIMS_EACH)
    claims = load.run(port, requests, CONNECTIONS)
    if set(claims.statuses) != {200}:
        raise SystemExit(f"Not every claim was answered well: {dict(claims.statuses)}")
    if not (found := audit_term(term))["clean"]:
        raise SystemExit(f"The audit is not clean: {found}")
    return claims


def p99(report: load.Report) -> float:
    """Milliseconds within which 99 of 100 were answered."""
    return statistics.quantiles(report.latencies, n=100)[98] * 1000


if __name__ == "__main__":
    main()
