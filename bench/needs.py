"""What so many students need of a portal, by the costs in bench/results.json alone."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count

CLAIMS = 7  # of one student: five seats, two places
PAGES = {"lobby": 1, "picker": 4, "search": 5}  # of one student
MINUTES = 10  # over which the waiting room spreads everyone
SPARE = 2  # times the cores that are needed
STEP = 1000  # students
MICRO = 1e-6

Figures = Mapping[str, Mapping[str, object]]


@dataclass(frozen=True)
class Costs:
    """Seconds of a core for one of each, and KB of a page that is open."""

    claim: float
    pages: dict[str, float]
    decision: float  # of the ledger
    listener: float  # of the ledger, for each web process that is told of a claim
    recording: float  # of workers and PostgreSQL
    event: float  # of the one that records a term
    flush: float  # of the append-only file, for all claims that came meanwhile
    socket: float


@dataclass(frozen=True)
class Plan:
    """What one portal needs."""

    students: int
    claims: float  # a second
    pages: float  # a second
    cores: int  # of web nodes, a process each
    paging: float  # the part of their work that is pages
    deciding: float  # of the ledger's time
    telling: float  # of the ledger's time
    recorder: float  # of the time of the one that records a term
    recording: int  # cores of workers and PostgreSQL
    memory: float  # GB, of open pages

    @property
    def ledger(self) -> float:
        """The part of its time that the ledger takes."""
        return self.deciding + self.telling


# What a term has one of, and how busy it is.
ONE: dict[str, Callable[[Plan], float]] = {
    "the ledger": lambda plan: plan.ledger,
    "the ledger, if it decided alone": lambda plan: plan.deciding,
    "the ledger, if it told web processes alone": lambda plan: plan.telling,
    "the recorder": lambda plan: plan.recorder,
}


def costs(found: Figures) -> Costs | None:
    """As measured; None where one of them could not be."""
    told = {name: each["value"] for name, each in found.items()}
    of = {name: value for name, value in told.items() if isinstance(value, int | float)}
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
    """What so many students need, if all come to one opening."""
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
    """The most students, in thousands, whose plan fits."""
    return next(each for each in count(STEP, STEP) if not fits(plan(each + STEP, of)))


def limits(of: Costs) -> dict[str, int]:
    """The most students of a term before each of what it has one of has no time to spare."""

    def fits(busy: Callable[[Plan], float], each: Plan) -> bool:
        return SPARE * busy(each) <= 1

    return {name: most(of, partial(fits, busy)) for name, busy in ONE.items()}
