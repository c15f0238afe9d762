"""Pages a second over requests a second of a bare Flask hello.

The pages are those of a student in a term of 2,000 sections. They are the full lobby before an
opening, the full picker while the window is open, and the section list that the search box
requests. Each run requests all of them and the hellos over 64 connections, one after the other, in
reverse order in odd runs.
"""

from itertools import cycle, islice

from bench import load, portal_on_trial
from bench.portal_on_trial import get
from bench.site import CONNECTIONS, Site, by_turns, site

SECTIONS = 2000
STUDENTS = 200
WORDS = ("BEN", "course 7", "1042", "ben 19", "course")
Measured = tuple[float, float]  # requests a second, and processor time (µs) of each
FIGURES = {
    "picker_vs_hello": ("ratio", "full picker pages a second over hellos a second"),
    "search_vs_hello": ("ratio", "searches a second over hellos a second"),
    "lobby_vs_hello": ("ratio", "lobby pages a second over hellos a second"),
    "picker_per_s": ("1/s", "full picker pages for a student on 2,000 sections, a second"),
    "search_per_s": ("1/s", "searches among 2,000 sections, a second"),
    "lobby_per_s": ("1/s", "full lobby pages in a term of 2,000 sections, a second"),
    "picker_took_us": ("µs", "processor time of a full picker page in the web processes"),
    "search_took_us": ("µs", "processor time of a search in the web processes"),
    "lobby_took_us": ("µs", "processor time of a lobby page in the web processes"),
}


def figures(run: int = 0, *, quick: bool = False) -> dict[str, float]:
    """Measure hellos, and lobbies, pickers and searches, one after the other."""
    (many, sections), here = ((40, 200) if quick else (600, SECTIONS)), site(quick=quick)
    hello, rates = by_turns(
        run, lambda: hellos(here, 10 * many), lambda: of_portal(here, many, sections)
    )
    found = {f"{name}_vs_hello": rate / hello["hello"][0] for name, (rate, _) in rates.items()}
    found |= {f"{name}_per_s": rate for name, (rate, _) in rates.items()}
    return found | {f"{name}_took_us": took for name, (_, took) in rates.items()}


def hellos(here: Site, many: int) -> dict[str, Measured]:
    """Measure `many` hellos."""
    report, spent = here.hellos(many)
    return {"hello": (report.rate, spent["web"] * 1e6 / many)}


def of_portal(here: Site, many: int, sections: int) -> dict[str, Measured]:
    """Measure `many` requests for each kind of page, by students whom the processes have read."""
    portal_on_trial.enroll(STUDENTS)
    with here.web() as port:
        with portal_on_trial.a_rush(STUDENTS, sections, minutes=60) as term:
            lobby = pages(here, port, [f"/terms/{term}"], many)
        with portal_on_trial.a_rush(STUDENTS, sections) as term:
            picker = pages(here, port, [f"/terms/{term}"], many)
            paths = [f"/terms/{term}?q={each.replace(' ', '+')}" for each in WORDS]
            search = pages(here, port, paths, many, target="results")
    return {"picker": picker, "search": search, "lobby": lobby}


def pages(here: Site, port: int, addresses: list[str], many: int, target: str = "") -> Measured:
    """Measure `many` requests for these addresses, by different students in turn."""
    everyone = portal_on_trial.cookies(here.app, range(STUDENTS))
    requests = [get(*each, target=target) for each in zip(cycle(addresses), everyone, strict=False)]
    load.run(port, requests[:40], CONNECTIONS)  # loads the term into every process
    before = here.spent()["web"]
    found = load.run(port, list(islice(cycle(requests), many)), CONNECTIONS)
    took = (here.spent()["web"] - before) * 1e6 / many
    if set(found.statuses) != {200}:
        raise SystemExit(f"Some pages failed: {dict(found.statuses)}")
    return found.rate, took
