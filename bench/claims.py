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
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from bench import load, portal_on_trial, report  # noqa: E402
from portal import backend, create_app  # noqa: E402
from portal.children import Child  # noqa: E402
from portal.config import Settings  # noqa: E402
from portal.embedded import Servers  # noqa: E402
from portal.embedded.folder import Folder  # noqa: E402
from portal.ops import schema  # noqa: E402
from portal.record.audit import audit_term  # noqa: E402

CONNECTIONS = 64
CLAIMS_EACH = 3
HELLO = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
HELLO_PORT, PORTAL_PORT = 8791, 8792


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
    folder = Folder(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "var")
    folder.own()
    servers = Servers(folder)
    servers.start()
    stack.callback(folder.release)
    stack.callback(servers.stop)
    os.environ.update(servers.urls(), SECRET_KEY="for the bench alone")
    schema.upgrade(servers.database_url)
    app = create_app(Settings.read())
    for name in ("record", "promote", "maintain"):
        started(stack, Child(name, cli("worker", name), folder.log(name)))
    started(stack, Child("clock", cli("clock"), folder.log("clock")))
    started(stack, web(folder, "hello", HELLO_PORT, "bench.baselines.hello:app"))
    started(stack, web(folder, "web", PORTAL_PORT, "wsgi:app"))
    patiently(lambda: load.run(HELLO_PORT, [HELLO] * 4000, CONNECTIONS))
    patiently(lambda: load.run(PORTAL_PORT, [HELLO] * 500, CONNECTIONS))
    return [repeat(app, students) for _ in range(repeats)]


def repeat(app: Any, students: int) -> dict[str, float]:
    """Rates of hellos and of claims, one after the other; stops where the audit is not clean."""
    hello = load.run(HELLO_PORT, [HELLO] * 12_000, CONNECTIONS)
    with portal_on_trial.a_rush(students) as term:
        requests = portal_on_trial.claims(app, term, students, CLAIMS_EACH)
        claims = load.run(PORTAL_PORT, requests, CONNECTIONS)
        if set(claims.statuses) != {200}:
            raise SystemExit(f"Not every claim was answered well: {dict(claims.statuses)}")
        if not (found := audit_term(term))["clean"]:
            raise SystemExit(f"The audit is not clean: {found}")
        taken = sum(seats.taken for seats in backend.backend().ledger.seats(term).values())
    print(f"hello {hello.rate:.0f}/s, claims {claims.rate:.0f}/s, {taken} seats taken, audit clean")
    p99 = statistics.quantiles(claims.latencies, n=100)[98] * 1000
    return {"hello": hello.rate, "claims": claims.rate, "p99": p99}


def cli(*arguments: str) -> list[str]:
    """The command line of a `fairseat` command."""
    return [sys.executable, "-m", "portal.cli", *arguments]


def web(folder: Folder, name: str, port: int, app: str) -> Child:
    """A web server with the portal's own gunicorn settings."""
    command = [sys.executable, "-m", "gunicorn", "-c", "python:portal.server", app]
    env = {"FAIRSEAT_BIND": f"127.0.0.1:{port}", "PYTHONPATH": str(ROOT)}
    return Child(name, command, folder.log(name), env)


def started(stack: ExitStack, child: Child) -> None:
    """Start a child that the stack stops."""
    child.start()
    stack.callback(child.stop)


def patiently(action: Callable[[], object], seconds: float = 30) -> None:
    """Try until the server answers."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with suppress(ConnectionError):
            action()
            return
        time.sleep(0.2)
    raise SystemExit("A server did not come up.")


def figure(values: list[float], unit: str, what: str) -> report.Figure:
    """The median of some runs with their spread."""
    return {
        "value": statistics.median(values),
        "low": min(values),
        "high": max(values),
        "runs": len(values),
        "unit": unit,
        "what": what,
    }


if __name__ == "__main__":
    main()
