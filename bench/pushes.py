"""News to ten thousand open pages, beside a bare loop over as many sockets of flask-sock.

Both under the same gunicorn settings and with all their sockets open at once, told by turns of the
same text. Compared is a burst after a rest, from the first frame that arrives to the last: what
comes before the first, as gathering news and drawing them, is in `push_p99_s`. The pages are read
by one thread on the same machine, which only receives while frames arrive and reads them
afterwards; what it takes meanwhile is a figure. Each page is of a student of its own; a hundred
others are opened before memory is measured, as the first bring what a process needs for any.
"""

import random
import resource
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from itertools import product
from typing import Any, NamedTuple

from bench import portal_on_trial, stage
from bench.baselines.bare_sock import CHANNEL
from bench.sizes import family, private
from bench.sockets import Pages
from portal.app import create_app
from portal.backend import backend
from portal.core.settings import Settings
from portal.live.hub import LONGEST_SECONDS
from portal.runtime.child_process import Child
from portal.runtime.data_folder import DataFolder
from tests.record.rush import Rush, a_rush, claim

WARMING, PAGES, QUICK_PAGES = 100, 10_000, 300
SHOWN = 20  # sections on a page
CLAIMANTS = 5  # who claim them all, and have no page here
BURSTS, PUSHES, QUICK_BURSTS, QUICK_PUSHES = 8, 30, 1, 2
REST = LONGEST_SECONDS + 0.3  # seconds until counts are due again, however many pages there are
PATIENCE = 120.0  # seconds
SPARE = 700  # files that are something else
FIGURES = {
    "fanout_per_s": ("1/s", "frames of a burst after a rest to 10,000 pages, first to last"),
    "fanout_bare_per_s": ("1/s", "the same frames in a bare loop over as many sockets"),
    "fanout_vs_bare": ("ratio", "frames a second to pages over those of the bare loop"),
    "fanout_generator": ("cores", "what receives the frames takes of the same machine meanwhile"),
    "fanout_bare_generator": ("cores", "the same for the bare loop"),
    "socket_page_kb": ("KB", "memory of the web processes for an idle page, each of a student"),
    "socket_bare_kb": ("KB", "the same for a bare idle socket"),
    "socket_kb": ("ratio", "memory for an idle page over that for a bare socket"),
    "push_p99_s": (
        "s",
        f"from a claim at any moment after another to the last page, the slowest of {PUSHES}",
    ),
}


class Burst(NamedTuple):
    """Seconds from the news and from the first frame to the last, and of what received them."""

    since_news: float
    since_first: float
    receiving: float


def figures(_: int = 0, *, quick: bool = False) -> dict[str, float]:
    """The figures above."""
    many = QUICK_PAGES if quick else _as_many_as_may_be()
    bursts, pushes = (QUICK_BURSTS, QUICK_PUSHES) if quick else (BURSTS, PUSHES)
    with ExitStack() as stack:
        folder = stage.servers(stack, durable=not quick)
        app = create_app(Settings.read())
        rush = a_rush(SHOWN, CLAIMANTS + WARMING + many, capacity=10_000)
        cookies = portal_on_trial.cookies(app, "rush", WARMING + many)
        wish = {"term": rush.term, "sections": list(rush.sections)}
        pages, size = opened(stack, folder, "wsgi:app", cookies, wish)
        sockets, bare_size = opened(stack, folder, "bench.baselines.bare_sock:app", cookies, {})
        change, repeat = claims(rush), lambda: backend().redis.publish(CHANNEL, pages.text)
        ours, bare = [], []
        for _ in range(bursts):
            ours.append(told(pages, change, after=REST))
            bare.append(told(sockets, repeat))
        told(pages, change, after=REST)  # as each of the following comes after one
        waits = [told(pages, change, random.uniform(0, REST)).since_news for _ in range(pushes)]
    rate, bare_rate = per_second(pages, ours), per_second(sockets, bare)
    return {
        "fanout_per_s": rate,
        "fanout_bare_per_s": bare_rate,
        "fanout_vs_bare": rate / bare_rate,
        "fanout_generator": cores(ours),
        "fanout_bare_generator": cores(bare),
        "socket_page_kb": size,
        "socket_bare_kb": bare_size,
        "socket_kb": size / bare_size,
        "push_p99_s": max(waits),
    }


def opened(
    stack: ExitStack, folder: DataFolder, app: str, cookies: list[str], wish: dict[str, Any]
) -> tuple[Pages, float]:
    """So many open pages of a server, and KB of its memory that each takes.

    The first are not measured: they bring what a process needs for any.
    """
    port = stage.free_port()
    server = stage.started(stack, stage.web(folder, app.split(":", maxsplit=1)[0], port, app))
    pages = Pages(port)
    stage.patiently(server, lambda: pages.open(cookies[:WARMING], wish), PATIENCE)
    time.sleep(REST)  # until the first of everything has been done
    before = _memory(server)
    pages.open(cookies[WARMING:], wish)
    if wish:
        until(lambda: pages.shown == len(cookies))  # each has been shown all of its counts
    stack.callback(pages.close)
    return pages, (_memory(server) - before) / (len(cookies) - WARMING)


def told(pages: Pages, tell: Callable[[], object], after: float = 0.0) -> Burst:
    """How long such news take to the last of the pages."""
    time.sleep(after)
    with pages.burst():
        began = time.monotonic()
        tell()
        spent = time.process_time()
        until(lambda: pages.arrived == pages.count)
        receiving = time.process_time() - spent
    until(lambda: pages.shown == pages.count)
    return Burst(pages.shown_at - began, pages.shown_at - pages.first_at, receiving)


def per_second(pages: Pages, bursts: list[Burst]) -> float:
    """Frames a second, the median."""
    return pages.count / statistics.median(each.since_first for each in bursts)


def cores(bursts: list[Burst]) -> float:
    """What receiving took of the machine meanwhile, the median."""
    return statistics.median(each.receiving / each.since_first for each in bursts)


def until(true: Callable[[], bool]) -> None:
    """Wait for it; stops where it does not come to be."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > deadline:
            raise SystemExit("Not every page was told.")
        time.sleep(0.005)


def claims(rush: Rush) -> Callable[[], object]:
    """What claims a seat that all pages show, each time another."""
    seats = product(rush.students[:CLAIMANTS], rush.sections)
    return lambda: claim(rush, *next(seats))


def _memory(server: Child) -> float:
    """KB of all its processes that no other shares."""
    return sum(map(private, family(server))) * 1024


def _as_many_as_may_be() -> int:
    """Ten thousand, unless the system lets a process open fewer than two times as many."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(2 * PAGES + SPARE, most) if most != resource.RLIM_INFINITY else 2 * PAGES + SPARE
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    return (wanted - SPARE) // 2
