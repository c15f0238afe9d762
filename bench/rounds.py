"""Allocation rounds in the portal: seconds of each step after the end, on the servers of a portal.

30,000 students have ballots of 12 choices over 4,500 sections. Freezing reads each student's record
and seats, and stores the problem under its root. Computing stores the result and what each student
reads. Giving sends every seat and waitlist position to the ledger in batches, notes what it did,
and creates the notifications. Recording the events goes on beside it and is not included.
"""

import json
import random
from contextlib import ExitStack
from itertools import accumulate

from sqlalchemy import select, text

from bench import portal_on_trial, stage
from bench.meter import seconds
from portal import backend as connections
from portal import subscribers
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.core.settings import Settings
from portal.rounds import giving, steps
from portal.windows import rounds
from portal.windows.models import Round
from tests import cast
from tests.rounds.builders import a_round, ended, known

STUDENTS, SECTIONS, RANKED, SEATS = 30_000, 4_500, 12, 35
SMALL = 100  # times fewer in a quick run
FIGURES = {
    "round_freeze_s": ("s", "from the end of a round of 30,000 ballots to its root"),
    "round_compute_s": ("s", "from the public value to the stored result"),
    "round_give_s": ("s", "from publishing to the last seat given and notification created"),
    "round_moves": ("", "seats and waitlist positions that were given"),
}
BALLOTS = text("""
    INSERT INTO ballots (round_id, student_id, code, lines, most_courses, most_credits, changes,
                         changed_at)
    SELECT :round, each.key::integer, 'N' || each.key, each.value, 5, 2000, 1, now()
    FROM jsonb_each(CAST(:lines AS jsonb)) AS each
""")
BATCH = 1000


def figures(run: int = 0, *, quick: bool = False) -> dict[str, float]:
    """Return the figures above."""
    part = SMALL if quick else 1
    with ExitStack() as stack:
        stage.servers(stack, quick=quick)
        settings = Settings.read()
        subscribers.connect()
        connections.connect(settings)
        admin = cast.an_account("registrar", is_admin=True).id
        students, sections = STUDENTS // part, SECTIONS // part
        term = stack.enter_context(
            portal_on_trial.a_rush(students, sections, seats=SEATS, minutes=24 * 60)
        )
        found = _round(term, admin)
        _hand_in(found, portal_on_trial.students(students), run)
        ended(found)
        frozen = seconds(lambda: steps.close(found.id))
        known(found)
        steps.enter_value(found.id, rounds.read(found.id).version, "4711", admin, "bench")
        computed = seconds(lambda: steps.compute(found.id))
        steps.publish(found.id, rounds.read(found.id).version, admin, "bench")
        given = seconds(lambda: giving.apply(found.id))
        after = rounds.read(found.id)
    if after.state != "applied":
        raise SystemExit(f"The round is {after.state}.")
    return {
        "round_freeze_s": frozen,
        "round_compute_s": computed,
        "round_give_s": given,
        "round_moves": after.applied,
    }


def _round(term: int, admin: int) -> Round:
    with transaction() as session:
        row = session.get_one(Term, term)
    return a_round(row, admin, most_courses=5)


def _hand_in(found: Round, students: list[int], run: int) -> None:
    """Store a ballot of each student, popular sections more often."""
    chance = random.Random(run)
    with transaction() as session:
        sections = session.scalars(
            select(Section.id).where(Section.term_id == found.term_id).order_by(Section.id)
        ).all()
    weights = list(accumulate(1 / (50 + rank) ** 0.7 for rank in range(len(sections))))
    for start in range(0, len(students), BATCH):
        lines = {}
        for student in students[start : start + BATCH]:
            chosen: dict[int, None] = {}
            while len(chosen) < RANKED:
                chosen.update(dict.fromkeys(chance.choices(sections, cum_weights=weights)))
            lines[student] = [{"options": [[[each]]], "wait": True} for each in chosen]
        with transaction() as session:
            session.execute(BALLOTS, {"round": found.id, "lines": json.dumps(lines)})
