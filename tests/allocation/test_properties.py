"""What holds in every round, drawn by hypothesis and compared with slower ways to compute it."""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portal.allocation import proof, verify
from portal.allocation.mechanisms import allocate, deferred, ticket
from portal.allocation.problem import MECHANISMS, Choice, Problem, Section, clash, make, to_json
from portal.allocation.result import Result, Why, reasons
from tests.allocation.rounds import COHORTS, SEED, a_round, at, ballot, problems, section
from tests.soak import rounds

many = settings(max_examples=rounds(25, soak=2000), deadline=None)
some = settings(max_examples=rounds(12, soak=600), deadline=None)


# Seeds of crowded rounds whose final pass has two steps, goes by priority, and frees a seat that
# another student takes.
FINAL_PASSES = (388, 748, 2336)


def crowded_rounds() -> Sequence[int]:
    """Return the seeds of crowded rounds."""
    return (*range(rounds(60, soak=5000)), *FINAL_PASSES)


def verified(problem: Problem) -> dict[str, Any]:
    """Return the result as the verifier computes it from the published file."""
    data = json.loads(json.dumps([to_json(problem.settings), *map(to_json, problem.ballots)]))
    found: dict[str, Any] = verify.result_of(data[0], data[1:], SEED)
    return found


@given(problems())
@many
def test_the_verifier_computes_the_same_result_in_its_own_way(problem: Problem) -> None:
    assert verified(problem) == allocate(problem, SEED).to_json()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_verifier_computes_the_same_in_crowded_rounds(mechanism: str) -> None:
    for seed in crowded_rounds():
        problem = crowded(seed, mechanism)
        assert verified(problem) == allocate(problem, SEED).to_json()


@given(st.sampled_from(["draft", "serial"]).flatmap(lambda name: problems(mechanism=name)))
@many
def test_only_deferred_acceptance_reads_priorities(problem: Problem) -> None:
    plain = tuple(replace(each, priority=()) for each in problem.settings.sections)
    without = make(replace(problem.settings, sections=plain), problem.ballots)
    assert allocate(problem, SEED).held == allocate(without, SEED).held


@given(problems(), st.randoms(use_true_random=False))
@some
def test_the_order_of_the_ballots_does_not_matter(problem: Problem, chance: random.Random) -> None:
    ballots = chance.sample(problem.ballots, len(problem.ballots))
    assert allocate(make(problem.settings, ballots), SEED).held == allocate(problem, SEED).held


def test_the_same_seed_gives_the_same_result_on_every_machine() -> None:
    sections = [
        section(f"{number:02}", 1 + number % 3, meetings=at(number % 5), priority=("majors",))
        for number in range(12)
    ]
    ballots = [
        ballot(f"s{number:02}", " ".join(f"{number * step % 12:02}" for step in (1, 5, 7, 11)))
        for number in range(1, 40)
        if number % 12
    ]
    found = {
        name: allocate(a_round(sections, ballots, mechanism=name), SEED).to_json()
        for name in MECHANISMS
    }
    assert proof.sha256(proof.canonical(found))[:16] == "f29740d6535a76e4"


def held_sections(result: Result, student: int) -> list[Section]:
    sections = result.table.problem.settings.sections
    return [sections[number] for number in result.sections(student)]


@given(problems())
@many
def test_no_section_reserve_or_pool_has_more_students_than_seats(problem: Problem) -> None:
    result = allocate(problem, SEED)
    taken = [
        (each, who) for who in range(len(problem.ballots)) for each in held_sections(result, who)
    ]
    for section_ in problem.settings.sections:
        students = [problem.ballots[who] for each, who in taken if each is section_]
        assert len(students) <= section_.capacity
        reserved = dict(section_.reserves)
        outside = [each for each in students if not set(each.cohorts) & reserved.keys()]
        assert len(outside) <= section_.capacity - sum(reserved.values())
    pools = Counter(each.pool for each, _ in taken if each.pool)
    assert all(count <= problem.settings.pools[pool] for pool, count in pools.items())


@given(problems())
@many
def test_every_schedule_keeps_the_rules_and_limits_of_its_student(problem: Problem) -> None:
    result = allocate(problem, SEED)
    for student, ballot_ in enumerate(problem.ballots):
        mine = held_sections(result, student)
        given_ = [option for option, _ in result.seatings(student)]
        assert len({option.choice for option in given_}) == len(given_)
        own = {each.id: ballot_.own.get(each.id, {}) for each in mine}
        credits_ = {each.id: own[each.id].get("credits", each.credits) for each in mine}
        assert sum(credits_.values()) <= ballot_.most_credits
        load = [own[each].get("load", amount) for each, amount in credits_.items()]
        assert sum(load) <= ballot_.credit_limit
        courses = {own[each.id].get("course", each.course) for each in mine}
        assert len(courses) <= ballot_.most_courses
        assert not {each.id for each in mine} & set(ballot_.refused)
        timed = [each for each in mine if "meetings" not in own[each.id]]
        assert not any(clash(one, other) for one, other in combinations(timed, 2))


@given(problems())
@many
def test_a_group_gets_its_joint_choice_whole_or_not_at_all(problem: Problem) -> None:
    result = allocate(problem, SEED)
    for members in result.table.groups.values():
        assert len({place in result.held[student] for student, place in members}) == 1


def wasted(result: Result) -> Iterator[tuple[int, int]]:
    """Yield students with an option that they would take, and for which there are seats.

    Would take: even by giving up lower choices that do not go with it.
    """
    table = result.table
    for student, options in enumerate(table.options):
        mine = result.held[student]
        for place in range(len(options)):
            after = table.chosen(student, sorted({*mine, place}))
            if place not in mine and place in after and fit(result, {student: after}):
                yield student, place


def fit(result: Result, changed: Mapping[int, list[int]]) -> bool:
    """Return whether there are seats for everyone, if some held these options."""
    table, ballots = result.table, result.table.problem.ballots
    seated: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    pools: Counter[str] = Counter()
    for student, options in enumerate(table.options):
        for place in changed.get(student, result.held[student]):
            for number in table.bundles[options[place].bundle]:
                seated[number].append(ballots[student].cohorts)
                pools[table.problem.settings.sections[number].pool] += 1
    settings_ = table.problem.settings
    return all(pools[name] <= seats for name, seats in settings_.pools.items()) and not any(
        overfull(settings_.sections[number], cohorts) for number, cohorts in seated.items()
    )


def overfull(section_: Section, cohorts: list[tuple[str, ...]]) -> bool:
    """Return whether students, each in one reserve at most, have no seats together."""
    seats = dict(section_.reserves)
    inside = Counter(each for mine in cohorts for each in mine if each in seats)
    beyond = sum(max(0, count - seats[each]) for each, count in inside.items())
    others = len(cohorts) - inside.total()
    return beyond + others > section_.capacity - sum(seats.values())


def in_one_reserve(problem: Problem) -> Problem:
    ballots = [replace(each, cohorts=each.cohorts[:1]) for each in problem.ballots]
    return make(problem.settings, ballots)


@given(problems(joint=False).map(in_one_reserve))
@many
def test_no_seat_is_left_that_a_student_would_take(problem: Problem) -> None:
    """If each student is in one reserve of a section at most."""
    assert not list(wasted(allocate(problem, SEED)))


def crowded(seed: int, mechanism: str = "deferred") -> Problem:
    """Draw a round in which deferred acceptance often moves students to and fro.

    Sections of two hours clash with two others, and priorities displace students.
    """
    chance, names = random.Random(seed), "ABCDE"
    sections = [
        section(
            name,
            chance.randint(1, 2),
            meetings=sum(map(at, chance.sample(range(4), chance.randint(1, 2))), ()),
            priority=tuple(chance.sample(COHORTS, chance.randint(0, 2))),
        )
        for name in names
    ]
    ballots = [
        ballot(
            f"s{number}",
            " ".join(chance.sample(names, len(names))),
            cohorts=tuple(chance.sample(COHORTS, chance.randint(0, 1))),
        )
        for number in range(5)
    ]
    return a_round(sections, ballots, mechanism=mechanism)


def test_no_seat_is_left_after_deferred_acceptance() -> None:
    """In some of these rounds the final pass gives a seat, or none of them shows that it works."""
    results = {seed: allocate(crowded(seed), SEED) for seed in crowded_rounds()}
    assert not [seed for seed, result in results.items() if list(wasted(result))]
    by_turns = {seed: deferred(each.table, each.order)[0] for seed, each in results.items()}
    assert any(by_turns[seed] != each.held for seed, each in results.items())


def test_a_seat_can_be_left_if_reserves_overlap() -> None:
    """The first, in both reserves, takes the seat of the first one, which the second needs."""
    first, second = sorted(("ann", "bob"), key=lambda name: ticket(SEED, name))
    ballots = [ballot(first, "A", cohorts=("R1", "R2")), ballot(second, "A", cohorts=("R1",))]
    sections = [section("A", 2, reserves=(("R1", 1), ("R2", 1)))]
    result = allocate(a_round(sections, ballots), SEED)
    assert sum(map(len, result.held)) == 1


@given(problems())
@many
def test_every_alternative_has_a_reason_that_is_true(problem: Problem) -> None:
    result = allocate(problem, SEED)
    for student, ballot_ in enumerate(problem.ballots):
        found = reasons(result, student)
        assert [len(each) for each in found] == [len(each.alternatives) for each in ballot_.choices]
        got = {(option.choice, option.alternative) for option, _ in result.seatings(student)}
        for choice, each in enumerate(found):
            for rank, reason in enumerate(each):
                assert (reason.why is Why.SEATED) == ((choice, rank) in got)
                if reason.why in {Why.CLASH, Why.SAME_COURSE}:
                    assert reason.other < choice
                    assert reason.other in {at for at, _ in got}
                if reason.why is Why.NOT_NEEDED:
                    assert any((choice, better) in got for better in range(rank))


def blocking_pairs(result: Result) -> Iterator[tuple[int, int]]:
    """Yield students who would take an option, with a seat that is free or has a worse holder."""
    table, sections = result.table, result.table.problem.settings.sections
    position = {student: at for at, student in enumerate(result.order)}

    def key(student: int, number: int) -> tuple[int, int]:
        return table.level(student, number), position[student]

    for student, options in enumerate(table.options):
        for place, option in enumerate(options):
            mine = result.held[student]
            if place in mine or place not in table.chosen(student, sorted({*mine, place})):
                continue
            (number,) = table.bundles[option.bundle]
            holders = [who for who in range(len(table.options)) if number in result.sections(who)]
            worse = any(key(who, number) > key(student, number) for who in holders)
            if worse or len(holders) < sections[number].capacity:
                yield student, place


@st.composite
def matroid_problems(draw: st.DrawFn) -> Problem:
    """Draw a round where a student may take one section an hour, and so many courses in all."""
    problem = draw(problems(mechanism="deferred", bundles=False, joint=False, clashes=False))
    sections = tuple(
        replace(each, reserves=(), pool="", meetings=at(draw(st.integers(0, 2))), credits=1)
        for each in problem.settings.sections
    )
    ballots = [replace(each, most_credits=99) for each in problem.ballots]
    return make(replace(problem.settings, sections=sections), ballots)


@given(matroid_problems())
@many
def test_deferred_acceptance_is_stable_where_constraints_form_a_matroid(problem: Problem) -> None:
    assert not list(blocking_pairs(allocate(problem, SEED)))


def test_deferred_acceptance_need_not_be_stable_with_clashes() -> None:
    """B clashes with A and with C, which do not clash with each other.

    The second student displaces the first from A, is turned away from C, takes B and so gives up A.
    The third student is turned away from B and gets A, though the first would come before.
    """
    first, second, third = sorted(("ann", "bob", "cy"), key=lambda name: ticket(SEED, name))
    sections = [
        section("A", meetings=at(9), priority=("majors",)),
        section("B", meetings=at(9) + at(11), priority=("majors",)),
        section("C", meetings=at(11)),
    ]
    ballots = [
        ballot(first, "C B A"),
        ballot(second, "C B A", cohorts=("majors",)),
        ballot(third, "B C A"),
    ]
    result = allocate(a_round(sections, ballots, mechanism="deferred"), SEED)
    names = [each.pseudonym for each in result.table.problem.ballots]
    assert [(names[student], place) for student, place in blocking_pairs(result)] == [(first, 2)]


def better(mine: set[int], other: set[int]) -> bool:
    """Return whether a schedule is better by its highest choice that the other lacks."""
    differing = mine ^ other
    return bool(differing) and min(differing) in mine


@given(problems(mechanism="serial", joint=False, most=4))
@some
def test_in_a_serial_dictatorship_no_other_ballot_gets_a_better_schedule(problem: Problem) -> None:
    """Each student values a higher choice more than all lower ones together."""
    truth = allocate(problem, SEED)
    for student, ballot_ in enumerate(problem.ballots):
        mine = set(truth.held[student])
        places = {
            (option.choice, option.alternative): place
            for place, option in enumerate(truth.table.options[student])
        }
        numbers = range(len(ballot_.choices))
        for size in range(len(numbers) + 1):
            for order in permutations(numbers, size):
                other = replace(ballot_, choices=tuple(ballot_.choices[at] for at in order))
                ballots = [*problem.ballots[:student], other, *problem.ballots[student + 1 :]]
                found = allocate(make(problem.settings, ballots), SEED)
                got = {
                    places[order[option.choice], option.alternative]
                    for option, _ in found.seatings(student)
                }
                assert not better(got, mine)


def test_in_a_draft_another_ballot_can_get_a_better_schedule() -> None:
    """Ann wants A most, which nobody else wants. By asking for B first she gets both."""
    sections = [section("A"), section("B")]
    rival = ballot("bob", "B")
    honest, clever = ballot("ann", "A B"), ballot("ann", "B A")
    seeds = [f"{number}" for number in range(20)]
    won = {
        name: sum(len(allocate(a_round(sections, [rival, mine]), seed).held[0]) for seed in seeds)
        for name, mine in {"honest": honest, "clever": clever}.items()
    }
    assert won["clever"] > won["honest"] == len(seeds)


@given(problems())
@many
def test_the_result_is_as_if_no_group_that_failed_had_ranked_its_joint_choice(
    problem: Problem,
) -> None:
    result = allocate(problem, SEED)
    groups = result.table.groups
    failed = {
        joint
        for joint, members in groups.items()
        if members[0][1] not in result.held[members[0][0]]
    }
    by_final_pass = any(result.held[who].get(at) == 0 for m in groups.values() for who, at in m)
    if not failed or by_final_pass:  # under deferred acceptance no turn tells these apart
        return
    ballots = [
        replace(each, choices=tuple(c for c in each.choices if c.joint not in failed))
        for each in problem.ballots
    ]
    without = allocate(make(problem.settings, ballots), SEED)
    for student in range(len(ballots)):
        assert held_sections(without, student) == held_sections(result, student)


@given(problems(joint=False))
@some
def test_a_joint_choice_that_fails_costs_its_group_nothing(problem: Problem) -> None:
    """Two students add a joint choice for a section without seats: the result is the same."""
    if len(problem.ballots) < 2:
        return
    before = allocate(problem, SEED).to_json()
    none = Section("none", "none", 0)
    shared = Choice((("none",),), "J")
    ballots = [
        replace(each, choices=(shared, *each.choices)) if number < 2 else each
        for number, each in enumerate(problem.ballots)
    ]
    setting = replace(problem.settings, sections=(*problem.settings.sections, none))
    after = allocate(make(setting, ballots), SEED).to_json()
    for each in problem.ballots[:2]:
        after[each.pseudonym] = [[at - 1, *rest] for at, *rest in after[each.pseudonym]]
    assert after == before
