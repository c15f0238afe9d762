"""The comparison as text: a table with ratios, the versions, settings and caveats beside it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.figures import Figures, figure, short

FIGURES = {
    "peers_hello_per_s": ("1/s", "hellos of a bare Flask application a second"),
    "peers_oversold": ("seats", "seats of the portal beyond the capacity of a section"),
    "pretix_oversold": ("places", "places of pretix beyond the size of a quota"),
} | {
    f"{side}_{kind}": (unit, f"{what} of {name}")
    for side, name in {
        "peers_claim": "the portal's claims",
        "pretix_celery": "pretix's cart additions with Celery",
        "pretix_eager": "pretix's cart additions without Celery",
        "peers_picker": "the portal's picker with 40 rows",
        "pretix_shop": "pretix's shop page with 40 items",
    }.items()
    for kind, unit, what in (
        ("per_s", "1/s", "answers a second"),
        ("p99_ms", "ms", "99th percentile of the response time"),
        ("took_us", "µs", "processor time of all processes for each answer"),
    )
}
BEGIN, END = "<!-- written by bench/peers -->", "<!-- until here, by bench/peers -->"
HOW = """\
`make bench-peers` installs pretix, a ticket shop, in an environment of its own and writes this
section. Both sides run on the same machine, one at a time, with 2 web processes each and the same
embedded PostgreSQL and Valkey. The requests come over 64 connections. Sessions are prepared on both
sides. The first tenth of each crowd warms the processes. Processor time is that of all processes of
a side, without the load generator; the portal's counts until everything is recorded.

Claims: a crowd of {shoppers} asks for one section or item with {places} places. All get an answer:
in pretix the others are refused, in the portal they join the waitlist. In one run pretix serves a
crowd with Celery and one without; the ratio takes the better. The portal serves {rushes} crowds one
after the other, because a single one takes it too short a time to measure.

- In the portal: `POST …/pick`, until its answer.
- In pretix: `POST …/cart/add`, then checks until its task is done, at the intervals of pretix's own
  script.

Pages: the portal's picker in a term with 40 sections, and the shop page of an event with 40 items,
each with a quota of its own. Visitors take turns; no request is conditional.

Settings of pretix: gunicorn's sync workers, Celery's default worker, sessions and cache in Valkey,
debugging off, all else as installed. Its Valkey does not write to disk before it answers; the
portal's does. PostgreSQL flushes each commit on both sides.

What to keep in mind:

- A cart position is a reservation that expires; a seat in the portal is final. An order in pretix
  takes further steps, which are not measured.
- The two do different work. The portal checks login, access token, rate limits and rules, and
  records each claim. pretix has no login here. It computes prices and taxes, and it looks for
  vouchers, add-ons, bundles and plugins even where an event has none.
- gunicorn's sync workers open a connection for each request and serve one at a time. With Celery
  they also wait for the task, up to half a second. The portal's web processes do neither.
- With 64 connections that always ask, the 99th percentile mostly mirrors the rate.
- The portal's workers stay up, idle, while pretix is measured.
"""


@dataclass(frozen=True)
class Row:
    """A row of the table: one kind of figure of the portal and of pretix's ways to do the same."""

    label: str
    kind: str
    ours: str
    theirs: tuple[str, ...]
    aim: float = 0.0

    def cells(self, found: Figures) -> tuple[str, ...]:
        """Return the row's cells; a ratio above 1 is in the portal's favour."""
        shown = [_shown(found, f"{each}_{self.kind}") for each in self.theirs]
        times = ratio(found, self)
        reached = "reached" if times >= self.aim else "not reached"
        wanted = f"{self.aim:g}: {reached}" if self.aim else ""
        mine = _shown(found, f"{self.ours}_{self.kind}")
        return (self.label, mine, *shown, *[""] * (2 - len(shown)), short(times), wanted)


_CLAIMS = ("peers_claim", ("pretix_celery", "pretix_eager"))
_PAGES = ("peers_picker", ("pretix_shop",))
ROWS = (
    Row("claims a second", "per_s", *_CLAIMS, aim=40),
    Row("99th percentile of a claim, ms", "p99_ms", *_CLAIMS),
    Row("processor time of a claim, µs", "took_us", *_CLAIMS),
    Row("pages a second", "per_s", *_PAGES, aim=30),
    Row("99th percentile of a page, ms", "p99_ms", *_PAGES),
    Row("processor time of a page, µs", "took_us", *_PAGES),
)


def summary(found: Figures) -> str:
    """Return the table of both sides; a ratio above 1 is in the portal's favour."""
    head = ("", "Fairseat", "pretix", "pretix without Celery", "ratio", "aim")
    over = [_shown(found, f"{side}_oversold") for side in ("peers", "pretix")]
    rows = [each.cells(found) for each in ROWS]
    return _lines([head, ("---",) * 6, *rows, ("seats oversold", *over, "", "", "")])


def ratio(found: Figures, row: Row) -> float:
    """Return how many times better the portal's median is than the better one of pretix."""
    mine = found[f"{row.ours}_{row.kind}"]["value"] or 0.0
    others = [found[f"{each}_{row.kind}"]["value"] or 0.0 for each in row.theirs]
    if row.kind == "per_s":
        return mine / max(others)
    return min(others) / mine


def _shown(found: Figures, name: str) -> str:
    each = found[name]
    if each["value"] is None or each["low"] is None or each["high"] is None:
        return "not measured"
    if each["low"] == each["high"]:
        return short(each["value"])
    return f"{short(each['value'])} ({short(each['low'])} to {short(each['high'])})"


def setup(steps: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return the commands and seconds of set-up of both sides."""
    rows = [("set-up", "commands", "seconds", "which"), ("---",) * 4]
    for side, taken in steps.items():
        seconds = sum(each["seconds"] for each in taken)
        which = ", ".join(f"{each['command']} ({each['seconds']:.0f} s)" for each in taken)
        commands = sum(each["command"].count("; ") + 1 for each in taken)
        rows.append((side, str(commands), f"{seconds:.0f}", which))
    return (
        f"{_lines(rows)}\n\nOnly commands that the comparison needs are counted. A real pretix also"
        " needs a user, services, a reverse proxy and a periodic job."
    )


def _lines(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def section(result: Mapping[str, Any]) -> str:
    """Return the section of docs/benchmarks.md on one result of `make bench-peers`."""
    versions = ", ".join(f"{name} {each}" for name, each in result["versions"].items())
    hello = short(result["figures"]["peers_hello_per_s"]["value"])
    runs = result["figures"]["peers_hello_per_s"]["runs"]
    return "\n\n".join(
        (
            HOW.format(**result["size"]).strip(),
            f"Measured: {result['began']}, runs: {runs}, {hello} hellos a second. {versions}.",
            summary(result["figures"]),
            setup(result["steps"]),
        )
    )


def figures_of(runs: Sequence[Mapping[str, float]]) -> Figures:
    """Return the figures over all runs."""
    return {name: figure([run[name] for run in runs], *each) for name, each in FIGURES.items()}


def shown(folder: Path) -> str:
    """Return the section on the stored result, between the marks."""
    path = folder / "peers/results.json"
    text = "Not measured yet."
    if path.exists():
        text = section(json.loads(path.read_text(encoding="utf-8")))
    return f"{BEGIN}\n{text}\n{END}"


def put(page: str, content: str) -> str:
    """Return the page with another section between the marks."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{content}{after}"
