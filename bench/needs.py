"""Sizing of a portal for a number of students, from the costs in bench/results.json."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count

CLAIMS = 7  # per student: five seats, two waitlist positions
PAGES = {"lobby": 1, "picker": 4, "search": 5}  # per student
MINUTES = 10  # the waiting room admits everyone over this time
SPARE = 2  # headroom: twice the capacity that is needed
STEP = 1000  # students
MICRO = 1e-6

Figures = Mapping[str, Mapping[str, object]]


@dataclass(frozen=True)
class Costs:
    """Core seconds of one unit of each kind of work; `socket` is KB of an open page."""

    claim: float
    pages: dict[str, float]
    decision: float  # of the ledger
    listener: float  # of the ledger, per web process that gets a live update about a claim
    recording: float  # of workers and PostgreSQL
    event: float  # of the term's recorder
    flush: float  # of the append-only file, for all claims that came meanwhile
    socket: float


@dataclass(frozen=True)
class Plan:
    """Resources that one portal needs."""

    students: int
    claims: float  # per second
    pages: float  # per second
    cores: int  # of the web nodes, with one process per core
    paging: float  # share of the web cores' work that is pages
    deciding: float  # share of the ledger's time that is decisions
    telling: float  # share of the ledger's time that is live updates
    recorder: float  # share of the recorder's time
    recording: int  # cores of workers and PostgreSQL
    memory: float  # GB, of open pages

    @property
    def ledger(self) -> float:
        """Return the share of time in which the ledger is busy."""
        return self.deciding + self.telling


# The parts that a term has only one of, and the share of time in which each is busy.
ONE: dict[str, Callable[[Plan], float]] = {
    "the ledger": lambda plan: plan.ledger,
    "the ledger, if it only decided claims": lambda plan: plan.deciding,
    "the ledger, if it only sent live updates": lambda plan: plan.telling,
    "the recorder": lambda plan: plan.recorder,
}


def costs(found: Figures) -> Costs | None:
    """Return the measured costs; None if one of them is missing."""
    figures = {name: each["value"] for name, each in found.items()}
    of = {name: value for name, value in figures.items() if isinstance(value, int | float)}
    try:
        return Costs(
            claim=of["claim_took_web_us"] * MICRO,
            pages={name: of[f"{name}_took_us"] * MICRO for name in PAGES},
            decision=of["scale_claim"] / of["ledger_claims_per_s"],
            listener=of["claim_listener_us"] * MICRO,
            recording=(of["claim_took_workers_us"] + of["claim_took_postgres_us"]) * MICRO,
            event=1 / of["record_per_s"],
            flush=of["flush_us"] * MICRO,
            socket=of["socket_page_kb"],
        )
    except KeyError:
        return None


def plan(students: int, of: Costs) -> Plan:
    """Return what a portal needs if all these students come to one opening."""
    each_second = students / (MINUTES * 60)
    claims = each_second * CLAIMS
    paging = each_second * sum(PAGES[name] * took for name, took in of.pages.items())
    cores = math.ceil(SPARE * (claims * of.claim + paging))
    return Plan(
        students=students,
        claims=claims,
        pages=each_second * sum(PAGES.values()),
        cores=cores,
        paging=paging / (claims * of.claim + paging),
        deciding=claims * of.decision,
        telling=claims * cores * of.listener,
        recorder=claims * of.event,
        recording=math.ceil(SPARE * claims * of.recording),
        memory=students * of.socket / 2**20,
    )


def most(of: Costs, fits: Callable[[Plan], bool]) -> int:
    """Return the highest multiple of STEP students whose plan fits."""
    return next(each for each in count(STEP, STEP) if not fits(plan(each + STEP, of)))


def limits(of: Costs) -> dict[str, int]:
    """Return, for each part of ONE, the most students of a term that leave it its headroom."""

    def fits(busy: Callable[[Plan], float], each: Plan) -> bool:
        return SPARE * busy(each) <= 1

    return {name: most(of, partial(fits, busy)) for name, busy in ONE.items()}
