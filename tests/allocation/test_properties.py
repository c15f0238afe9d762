"""What holds in every round, drawn by hypothesis and compared with slower ways to compute it."""

import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from portal.allocation import verify
from portal.allocation.mechanisms import allocate
from portal.allocation.problem import Problem, make, to_json
from tests.allocation.rounds import SEED, problems

many = settings(max_examples=300, deadline=None)


@given(problems())
@many
def test_the_verifier_computes_the_same_result_in_its_own_way(problem: Problem) -> None:
    data = json.loads(json.dumps([to_json(problem.settings), *map(to_json, problem.ballots)]))
    assert verify.result_of(data[0], data[1:], SEED) == allocate(problem, SEED).to_json()


@given(problems(), st.randoms(use_true_random=False))
@many
def test_the_order_of_ballots_and_sections_in_the_file_does_not_matter(
    problem: Problem, chance: random.Random
) -> None:
    ballots = chance.sample(problem.ballots, len(problem.ballots))
    assert allocate(make(problem.settings, ballots), SEED).held == allocate(problem, SEED).held
