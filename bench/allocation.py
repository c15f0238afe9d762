"""Allocation rounds: processor time, memory, and what each mechanism gives on the same ballots.

The semester is simulated: 30,000 students rank 12 choices each over 4,500 sections, popular ones
more often. Every second choice has another section of its course as an alternative. Each student
is a major of one of 30 departments and has priority in its sections. A process of its own computes
each mechanism, from the ballots in memory to the result; its peak memory includes the ballots. The
time is processor time of one core. The tables also show the survey of the University of
Massachusetts, where its data is at hand (FAIRSEAT_DATA), and eight terms with more tickets for
unmet first choices.
"""

import json
import random
import resource
import subprocess
import sys
import time
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from statistics import fmean, pvariance

from bench import real_ballots
from portal.allocation.compact import compact
from portal.allocation.measures import Gain, Measures, gain, measures
from portal.allocation.mechanisms import allocate, run
from portal.allocation.problem import MECHANISMS, Ballot, Choice, Problem, Section, Settings, make

ROOT = Path(__file__).resolve().parent.parent
STUDENTS, SECTIONS, RANKED = 30_000, 4_500, 12
QUICK = 60  # how many times smaller a quick run is
TERMS, TICKETS, SMALL = 8, 4, 20  # eight terms are this many times smaller
DEPARTMENTS = 30
YEARS = ("freshman", "sophomore", "junior", "senior")
TIMES = [
    (days, start, start + 80, 0, 100)
    for days in (0b01001, 0b10010, 0b00101, 0b01010)
    for start in range(480, 1200, 90)
]

FIGURES = {
    "allocation_draft_s": ("s", "processor time of a draft of 30,000 x 12 over 4,500 sections"),
    "allocation_serial_s": ("s", "the same of a serial dictatorship"),
    "allocation_deferred_s": ("s", "the same of deferred acceptance"),
    "allocation_mb": ("MB", "peak memory of the largest of the three, with the ballots"),
    "allocation_draft_first": ("share", "students with their first choice after a draft"),
    "allocation_serial_first": ("share", "the same after a serial dictatorship"),
}


def semester(students: int = STUDENTS, sections: int = SECTIONS, seed: int = 1) -> Problem:
    """Return the round of a simulated semester; the same seed gives the same round."""
    chance, sections = random.Random(seed), sections + sections % 2  # two sections a course
    offered = [
        Section(
            id=f"{number:05}",
            course=f"C{number // 2}",
            capacity=chance.choice([10, 15, 20, 25, 30, 40, 60, 90]),
            credits=400,
            meetings=(chance.choice(TIMES),),
            priority=(f"major {number % DEPARTMENTS}",),
        )
        for number in range(sections)
    ]
    popular = chance.sample(range(sections), sections)
    weights = list(accumulate(1 / (50 + rank) ** 0.7 for rank in range(sections)))
    ballots = [
        Ballot(
            pseudonym=f"{chance.getrandbits(128):032x}",
            choices=tuple(_choices(chance, popular, weights)),
            most_credits=1800,
            most_courses=5,
            cohorts=(chance.choice(YEARS), f"major {chance.randrange(DEPARTMENTS)}"),
        )
        for _ in range(students)
    ]
    return make(Settings(tuple(offered)), ballots)


def _choices(chance: random.Random, popular: list[int], weights: list[float]) -> list[Choice]:
    courses: dict[int, int] = {}
    while len(courses) < RANKED:
        (number,) = chance.choices(popular, cum_weights=weights)
        courses.setdefault(number // 2, number)
    return [
        Choice(((f"{number:05}",), (f"{number ^ 1:05}",)) if at % 2 else ((f"{number:05}",),))
        for at, number in enumerate(courses.values())
    ]


def figures(run_number: int, *, quick: bool = False) -> dict[str, float]:
    """Return the figures above; the first run also prints the tables."""
    smaller = QUICK if quick else 1
    cost = {name: _alone(name, smaller) for name in MECHANISMS}
    problem = semester(STUDENTS // smaller, SECTIONS // smaller)
    found = comparison(problem, str(run_number), sample=500)
    if not run_number:
        tables(found, smaller)
    return {f"allocation_{name}_s": seconds for name, (seconds, _) in cost.items()} | {
        "allocation_mb": max(memory for _, memory in cost.values()),
        "allocation_draft_first": found["draft"].first_choice,
        "allocation_serial_first": found["serial"].first_choice,
    }


def comparison(problem: Problem, seed: str, sample: int = 2000) -> dict[str, Measures]:
    """Return the measures of each mechanism on the same ballots and seed."""
    table = compact(problem)
    return {name: measures(run(table, seed, name), sample) for name in MECHANISMS}


def tables(found: dict[str, Measures], smaller: int) -> None:
    """Print the comparison on the simulated semester, on real ballots, and over eight terms."""
    print("Simulated semester")
    say(found)
    if smaller > 1:
        return
    small = semester(300, 46)
    print("Gain by another ballot, simulated, 300 students")
    say({name: gain(small, name, [str(at) for at in range(4)], 15) for name in MECHANISMS})
    if real_ballots.FOLDER.is_dir():
        for seats in (1.0, 0.5):
            problem = real_ballots.problem(seats=seats)
            print(f"University of Massachusetts, {seats:.0%} of the seats")
            say(comparison(problem, "1"))
            print("Gain by another ballot")
            say({each: gain(problem, each, ["1", "2", "3"], 10) for each in MECHANISMS})
    else:
        print(f"The survey is not at {real_ballots.FOLDER}.")
    print("Eight terms: first choices of a student in all, mean and variance, by most tickets")
    for tickets in (1, TICKETS):
        mean, variance = eight_terms(tickets, STUDENTS // SMALL)
        print(f"  {tickets} tickets: mean {mean:.2f}, variance {variance:.3f}")


def say(found: dict[str, Measures] | dict[str, Gain]) -> None:
    """Print measures, a column for each mechanism."""
    print(f"  {'':16}" + "".join(f"{name:>10}" for name in found))
    for field in next(iter(found.values())).__slots__:
        values = [getattr(each, field) for each in found.values()]
        print(
            f"  {field:16}"
            + "".join(f"{value:10,.3f}".rstrip("0").rstrip(".").rjust(10) for value in values)
        )


def eight_terms(tickets: int, students: int, mechanism: str = "serial") -> tuple[float, float]:
    """Return mean and variance of the first choices that a student gets in eight terms."""
    unmet, got = [0] * students, [0] * students
    for term in range(TERMS):
        drawn = semester(students, SECTIONS // SMALL, seed=term)
        ballots = [
            replace(each, pseudonym=f"s{at:05}", unmet=unmet[at])
            for at, each in enumerate(drawn.ballots)
        ]
        setting = replace(drawn.settings, tickets=tickets, mechanism=mechanism)
        result = allocate(make(setting, ballots), str(term))
        for at in range(students):
            first = any(option.choice == 0 for option, _ in result.seatings(at))
            got[at] += first
            unmet[at] = 0 if first else unmet[at] + 1
    return fmean(got), pvariance(got)


def _alone(mechanism: str, smaller: int) -> tuple[float, float]:
    """Return seconds and MB of a mechanism, in a process of its own."""
    command = [sys.executable, "-m", "bench.allocation", mechanism, str(smaller)]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    seconds, memory = json.loads(told.stdout)
    return seconds, memory


def main(mechanism: str, smaller: str) -> None:
    """Compute one round and print its processor time and peak memory."""
    problem = semester(STUDENTS // int(smaller), SECTIONS // int(smaller))
    began = time.process_time()
    run(compact(problem), "1", mechanism)
    seconds = time.process_time() - began
    print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


if __name__ == "__main__":
    main(*sys.argv[1:])
