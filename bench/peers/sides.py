"""One run of the comparison: hellos, claims of one hot section or quota, and pages of 40 rows."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any

from bench import load, portal_on_trial
from bench.claims import answered_well
from bench.peers.pretix_on_trial import EAGER, WITH_CELERY, Mode, Pretix
from bench.portal_on_trial import get, post
from bench.site import CONNECTIONS, Site, by_turns, caught_up
from portal.backend import backend
from portal.recorder.consistency.audit import audit_term

ROWS = 40
CSRF = "c" * 32
FIRST_CHECK, NEXT_CHECK = 0.1, 0.25  # seconds, as pretix's script waits


@dataclass(frozen=True)
class Size:
    """How much a run measures."""

    shoppers: int = 400  # of each crowd, for the places of one quota or section
    places: int = 100
    rushes: int = 6  # of the portal, one section each, so that they last some seconds
    pretix_pages: int = 200
    pages: int = 1500
    hellos: int = 6000


QUICK = Size(shoppers=40, places=10, rushes=1, pretix_pages=20, pages=60, hellos=300)


@dataclass
class Measured:
    """Answered requests, the seconds that they took, and processor time of all processes."""

    latencies: list[float] = field(default_factory=list)
    seconds: float = 0.0
    spent: float = 0.0
    oversold: int = 0

    def add(self, latencies: Iterable[float], seconds: float, spent: float) -> None:
        """Add a part of the run."""
        self.latencies.extend(latencies)
        self.seconds += seconds
        self.spent += spent

    def figures(self, name: str) -> dict[str, float]:
        """Return the rate, the 99th percentile and the processor time of a request."""
        return {
            f"{name}_per_s": len(self.latencies) / self.seconds,
            f"{name}_p99_ms": load.p99(self.latencies),
            f"{name}_took_us": self.spent * 1e6 / len(self.latencies),
        }


def figures(run: int, here: Site, pretix: Pretix, shops: Any, size: Size) -> dict[str, float]:
    """Measure everything once; odd runs measure in reverse order."""
    crowds = iter(shops["crowds"][2 * run :])
    eager, celery = next(crowds), next(crowds)
    catalog = shops["catalog"]
    hello, ours, pages, by_eager, by_celery, shop_pages = by_turns(
        run,
        lambda: hellos(here, size),
        lambda: portal_claims(here, pretix, size),
        lambda: portal_pages(here, pretix, size),
        lambda: carts(pretix, EAGER, eager, size),
        lambda: carts(pretix, WITH_CELERY, celery, size),
        lambda: pretix_pages(pretix, catalog, size),
    )
    return {
        "peers_hello_per_s": len(hello.latencies) / hello.seconds,
        **ours.figures("peers_claim"),
        **by_celery.figures("pretix_celery"),
        **by_eager.figures("pretix_eager"),
        **pages.figures("peers_picker"),
        **shop_pages.figures("pretix_shop"),
        "peers_oversold": ours.oversold,
    }


def hellos(here: Site, size: Size) -> Measured:
    """Measure a bare Flask application under the portal's settings."""
    report, spent = here.hellos(size.hellos)
    return Measured(report.latencies, report.seconds, spent["web"])


def portal_claims(here: Site, pretix: Pretix, size: Size) -> Measured:
    """Measure claims of one hot section at a time, until they are recorded.

    The first tenth of each crowd warms the processes.
    """
    found, warming = Measured(), size.shoppers // 10
    with here.web() as port:
        for _ in range(size.rushes):
            with portal_on_trial.a_rush(size.shoppers, sections=1, seats=size.places) as term:
                claims = portal_on_trial.claims(here.app, term, size.shoppers, 1)
                answered_well(load.run(port, claims[:warming], CONNECTIONS))
                caught_up(term)
                before = portal_spent(here, pretix)
                report = answered_well(load.run(port, claims[warming:], CONNECTIONS))
                caught_up(term)
                spent = portal_spent(here, pretix) - before
                found.add(report.latencies, report.seconds, spent)
                found.oversold += oversold(term)
    return found


def oversold(term: int) -> int:
    """Return the seats beyond capacity; raise SystemExit if the audit of the term is not clean."""
    if not (audit := audit_term(term))["clean"]:
        raise SystemExit(f"The audit is not clean: {audit}")
    return sum(max(0, each.taken - each.capacity) for each in backend().ledger.seats(term).values())


def portal_spent(here: Site, pretix: Pretix) -> float:
    """Return the processor seconds of all the portal's processes, without the load generator."""
    found = here.spent()
    return found.total() - found["bench"] - pretix.spent()


def portal_pages(here: Site, pretix: Pretix, size: Size) -> Measured:
    """Measure the picker of a term of 40 sections, requested by different students in turn."""
    with here.web() as port, portal_on_trial.a_rush(200, ROWS) as term:
        everyone = portal_on_trial.cookies(here.app, range(200))
        asked = [get(f"/terms/{term}", cookies) for cookies in everyone]
        return pages(port, asked, size.pages, lambda: portal_spent(here, pretix), b'id="section-')


def pretix_pages(pretix: Pretix, catalog: Any, size: Size) -> Measured:
    """Measure the shop page of an event with 40 items, requested by different visitors in turn."""
    asked = [get(catalog["path"], _cookies(each)) for each in catalog["sessions"]]
    with pretix.web(WITH_CELERY, catalog["path"]) as port:
        return pages(port, asked, size.pretix_pages, pretix.spent, b'name="item_')


def pages(
    port: int, asked: list[bytes], many: int, spent: Callable[[], float], row: bytes
) -> Measured:
    """Measure `many` pages; each must have 40 rows."""
    found = Measured()
    load.run(port, islice(cycle(asked), max(20, many // 10)), CONNECTIONS)
    bodies: Counter[int] = Counter()
    todo, before = islice(cycle(asked), many), spent()
    report = load.play(port, [_reader(todo, row, bodies) for _ in range(CONNECTIONS)])
    found.add(report.latencies, report.seconds, spent() - before)
    if set(report.statuses) != {200} or set(bodies) != {ROWS}:
        raise SystemExit(f"Some pages failed: {dict(report.statuses)}, rows {dict(bodies)}")
    return found


def _reader(todo: Iterator[bytes], row: bytes, bodies: Counter[int]) -> load.Script:
    for request in todo:
        answer = yield request
        bodies[answer.body.count(row) if answer else 0] += 1


def carts(pretix: Pretix, mode: Mode, crowd: Any, size: Size) -> Measured:
    """Measure how visitors with prepared sessions add the one item to their carts."""
    found, sessions = Measured(), crowd["sessions"]
    warming = len(sessions) // 10
    with pretix.web(mode, crowd["path"]) as port:
        sold, _, _ = _shopped(port, crowd, sessions[:warming])
        before = pretix.spent()
        more, took, seconds = _shopped(port, crowd, sessions[warming:])
        found.add(took, seconds, pretix.spent() - before)
    if sold + more < size.places:
        raise SystemExit(f"pretix sold only {sold + more} places.")
    return found


def _shopped(port: int, crowd: Any, sessions: list[str]) -> tuple[int, list[float], float]:
    """Return how many visitors got a place, the seconds of each answer, and those of all."""
    took: list[float] = []
    sold: list[bool] = []
    todo = iter(sessions)
    report = load.play(port, [_shopper(todo, crowd, took, sold) for _ in range(CONNECTIONS)])
    if set(report.statuses) != {200} or len(took) != len(sessions):
        raise SystemExit(f"Some carts failed: {dict(report.statuses)}, {len(took)} answers")
    return sum(sold), took, report.seconds


def _shopper(todo: Iterator[str], crowd: Any, took: list[float], sold: list[bool]) -> load.Script:
    """Add the item to each session's cart and check until the task is done, as the page does."""
    address, item = f"{crowd['path']}cart/add", f"item_{crowd['item']}"
    for each in todo:
        began, wait = time.perf_counter(), FIRST_CHECK
        form = {"csrfmiddlewaretoken": CSRF, "ajax": "1", item: "1"}
        answer = yield post(address, _cookies(each), **form)
        told = _told(answer)
        check = told.get("check_url", "")
        while not told.get("ready"):
            yield time.perf_counter() + wait
            answer = yield get(check, _cookies(each))
            told, wait = _told(answer), NEXT_CHECK
        took.append(time.perf_counter() - began)
        sold.append(told["success"])


def _told(answer: load.Answer | None) -> Any:
    """Return the content of an answer; raise SystemExit if it is an error."""
    if answer is None or answer.status != 200:
        raise SystemExit(f"pretix answered {answer}")
    return json.loads(answer.body)


def _cookies(session: str) -> str:
    return f"pretix_session={session}; pretix_csrftoken={CSRF}"
