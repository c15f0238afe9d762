"""Cost of ten thousand waiting students: processor time for pages with a socket and without.

Pages with a socket get messages; pages without one poll. The web processes, the scheduler and the
ledger are real, and only their time counts. Some of the ten thousand have an open page; their cost
is scaled up to all.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import NamedTuple

from bench import load, portal_on_trial, stage
from bench.meter import Cost, Meter, meter_of
from bench.portal_on_trial import get
from bench.sockets import Pages
from portal.app import create_app
from portal.backend import backend
from portal.core.settings import Settings
from portal.live import waiting_rooms
from portal.runtime.child_process import Child
from portal.waiting_room import room, wait_estimates
from portal.waiting_room.room import QueueEntry
from tests.recorder.rush import Rush

WAITERS = 10_000
PROCESSES = 2
FIGURES = {
    "waiting_room_cost": ("cores", "10,000 open pages in a queue that moves, all processes"),
    "waiters_still": ("cores", "the same in a queue that does not move: keepalives"),
    "waiters_message_us": ("µs", "one message to one page"),
    "waiters_asking": ("cores", "10,000 pages without a socket that poll as they are told"),
    "waiters_ask_per_s": ("1/s", "polls of all these pages a second"),
}


class Size(NamedTuple):
    """Numbers of students who wait, have an open page, and poll; seconds per measurement."""

    places: int = WAITERS
    pages: int = 2000
    polls: int = 1000
    seconds: float = 12.0


FULL, QUICK = Size(), Size(300, 100, 50, 3.0)


def figures(_: int = 0, *, quick: bool = False) -> dict[str, float]:
    """Return the figures above."""
    size = QUICK if quick else FULL
    with ExitStack() as stack:
        folder = stage.servers(stack, quick=quick)
        app = create_app(Settings.read())
        port = stage.free_port()
        web = stage.web(folder, "web", port, "wsgi:app", WEB_CONCURRENCY=str(PROCESSES))
        scheduler = Child("scheduler", stage.cli("scheduler"), folder.log("scheduler"))
        for child in (web, scheduler):
            stage.started(stack, child)
        stage.patiently(web, lambda: load.run(port, [get("/clock")] * 20, 4))
        term = stack.enter_context(portal_on_trial.a_rush(size.places, sections=1))
        hall = portal_on_trial.rush_of(term, size.places)
        room.set_limits(hall.term, hall.window, 0, WAITERS, off=False)
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda each: room.enter(hall.term, hall.window, each), hall.students))
        cookies = portal_on_trial.cookies(app, range(size.places - size.pages, size.places))
        meter = meter_of(web, scheduler)
        still, message = pushes(hall, port, cookies, meter, size.seconds)
        a_second, polling = asking(hall, port, cookies[-size.polls :], meter)
    of_pages = still.spent["web"] + still.spent["ledger"]
    idle = (of_pages * WAITERS / size.pages + still.spent["scheduler"]) / still.took
    messages = WAITERS / waiting_rooms.pause(WAITERS // PROCESSES)
    return {
        "waiting_room_cost": idle + message * messages,
        "waiters_still": idle,
        "waiters_message_us": message * 1_000_000,
        "waiters_asking": polling.total / size.polls * a_second,
        "waiters_ask_per_s": a_second,
    }


def pushes(
    hall: Rush, port: int, cookies: list[str], meter: Meter, seconds: float
) -> tuple[Cost, float]:
    """Return the cost of open pages while the queue stands still, and seconds per message."""
    pages = Pages(port)
    pages.open(cookies, {"term": hall.term, "sections": [], "room": hall.window})
    time.sleep(seconds / 3)  # until the work of opening them is over
    with meter() as still:
        time.sleep(seconds)
    pages.heard.clear()
    room.set_limits(hall.term, hall.window, 60, WAITERS, off=False)
    with meter() as usage:
        time.sleep(seconds)
    room.set_limits(hall.term, hall.window, 0, WAITERS, off=False)
    if pages.lost or pages.heard["room"] < len(cookies):
        raise SystemExit(f"Some pages got no message: {pages.lost} lost, {pages.heard}")
    pages.close()
    print(f"still {still.spent}, told {usage.spent}, {pages.heard['room']} messages")
    return still, (usage.total - still.total) / pages.heard["room"]


def asking(hall: Rush, port: int, cookies: list[str], meter: Meter) -> tuple[float, Cost]:
    """Return how often all pages without a socket poll a second, and the cost of some polls."""
    address = f"/live/room?term={hall.term}&room={hall.window}"
    questions = [get(address, cookie) for cookie in cookies]
    load.run(port, questions, 16)  # warms the processes
    with meter() as usage:
        answers = load.run(port, questions, 16)
    if set(answers.statuses) != {200}:
        raise SystemExit(f"Some polls failed: {dict(answers.statuses)}")
    print(f"{usage.total / len(cookies) * 1000:.2f} ms a poll, {usage.spent}")
    per_minute, at_once = backend().settings.room or (0, 0)
    usual = {"per_minute": per_minute, "at_once": at_once}
    stands = replace(room.state(hall.term, hall.window), **usual)
    everyone = [QueueEntry("waiting", stands, ahead=each) for each in range(WAITERS)]
    return sum(1 / wait_estimates.poll_interval(each) for each in everyone), usage
