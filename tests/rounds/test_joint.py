"""Joint choices: made, agreed, ended; all get them, or none does."""

from typing import Any

import pytest
from sqlalchemy import update

from portal.backend import backend
from portal.catalog.models import Term
from portal.core.db import transaction
from portal.rounds import ballots, joint, results, steps
from portal.rounds.ballots import BallotRefused
from portal.rounds.models import BallotRow, JointMember
from portal.rounds.problem import build
from portal.windows.models import Round
from tests.cast import Cast, a_course, a_section, a_term, an_open_window
from tests.rounds.builders import a_round, again, choice, claims, ended, published, ranks


@pytest.fixture
def fall(cast: Cast) -> Term:  # noqa: ARG001
    return a_term()


@pytest.fixture
def seminar(fall: Term) -> Any:
    return a_section(a_course("CSC-1"), fall, capacity=2)


def shared(found: Round, section: Any, first: Any, *others: Any) -> int:
    """A joint choice that the others have not agreed to."""
    joint.make(found.id, first.id, [section.id], {each.number for each in others})
    return joint.of_student(found.id, first.id)[-1].id


def refusal(make: Any) -> str:
    with pytest.raises(BallotRefused) as caught:
        make()
    return caught.value.code


def groups(found: Round) -> dict[str, int]:
    """The joint choices of the frozen problem, with how many ballots have each."""
    problem = build(found).problem
    return {name: len(members) for name, members in problem.groups.items()}


def test_joint_choice_counts_once_all_have_agreed_and_rank_it(
    fall: Term, cast: Cast, seminar: Any
) -> None:
    found = a_round(fall)
    ranks(found, cast.ada, seminar)
    number = shared(found, seminar, cast.ada, cast.ben)
    assert groups(found) == {}
    joint.agree(found.id, number, cast.ben.id)
    assert groups(found) == {}
    (mine,) = joint.of_student(found.id, cast.ada.id)
    assert (mine.agreed, mine.ranked, mine.counts) == (True, True, False)
    assert mine.others == ((cast.ben.number, True),)
    ranks(found, cast.ben, seminar)
    assert joint.of_student(found.id, cast.ben.id)[0].counts
    assert groups(found) == {f"joint {number}": 2}
    ranks(found, cast.ben, choice(seminar, a_section(a_course("ART-1"), fall)))
    assert groups(found) == {}


@pytest.mark.parametrize("seats", [1, 2])
def test_all_get_it_or_none_does(fall: Term, cast: Cast, seats: int) -> None:
    one, two = (
        a_section(a_course(code), fall, capacity=size)
        for code, size in (("CSC-1", seats), ("B-1", 9))
    )
    found = a_round(fall)
    for student in (cast.ada, cast.ben):
        ranks(found, student, one, two)
    joint.agree(found.id, shared(found, one, cast.ada, cast.ben), cast.ben.id)
    published(found)
    steps.work(fall.id)
    assert backend().ledger.seats(fall.id)[one.id].taken == (2 if seats == 2 else 0)
    assert backend().ledger.seats(fall.id)[two.id].taken == 2
    first, _second = results.outcomes(again(found.id), cast.ada.id)
    assert first.seated == (seats == 2)
    if seats == 1:
        assert "Not everyone in the group could take it." in first.alternatives[0].texts


def test_choice_that_would_cost_a_joint_choice_says_so(fall: Term, cast: Cast) -> None:
    one, two = (a_section(a_course(code), fall) for code in ("CSC-1", "B-1"))
    found = a_round(fall)
    ranks(found, cast.ada, one, two)
    after = published(found)
    lines = [[["joint", 0, 1]], [["seated", 1, -1]]]
    with transaction() as session:  # by hand: it comes about in the final pass alone
        session.execute(update(BallotRow).values(result=lines))
    first, _second = results.outcomes(after, cast.ada.id)
    assert first.alternatives[0].texts == ("With it, you would have lost your joint choice 2.",)


def test_none_gets_it_if_one_has_it_already(fall: Term, cast: Cast, seminar: Any) -> None:
    window = an_open_window(fall, cohort={"students": [cast.ada.number]})
    claims(fall, seminar, cast.ada, window.id)
    backend().ledger.close_window(fall.id, window.id, "tests")
    found = a_round(fall)
    for student in (cast.ada, cast.ben):
        ranks(found, student, seminar)
    joint.agree(found.id, shared(found, seminar, cast.ada, cast.ben), cast.ben.id)
    published(found)
    steps.work(fall.id)
    assert backend().ledger.seats(fall.id)[seminar.id].taken == 1


def test_unknown_number_looks_like_any_other(fall: Term, cast: Cast, seminar: Any) -> None:
    found = a_round(fall)
    for student in (cast.ada, cast.ben):
        ranks(found, student, seminar)
    joint.make(found.id, cast.ada.id, [seminar.id], {cast.ben.number, "000"})
    (mine,) = joint.of_student(found.id, cast.ada.id)
    assert sorted(mine.others) == sorted([("000", False), (cast.ben.number, False)])
    joint.agree(found.id, mine.id, cast.ben.id)
    assert groups(found) == {}


def test_what_can_not_be_shared_is_refused(fall: Term, cast: Cast, seminar: Any) -> None:
    found, art = a_round(fall), a_section(a_course("ART-1"), fall)
    names = {cast.ben.number}

    def make(*sections: Any, others: Any = names) -> str:
        wanted = [each.id for each in sections]
        return refusal(lambda: joint.make(found.id, cast.ada.id, wanted, others))

    assert make(seminar) == "no_ballot"
    ranks(found, cast.ada, seminar, art)
    assert make(seminar, others=set()) == "others"
    assert make(seminar, others={cast.ada.number}) == "others"
    assert make(seminar, others={"1", "2", "3", "4"}) == "others"
    assert make(seminar, art) == "sections"
    shared(found, seminar, cast.ada, cast.ben)
    assert make(seminar) == "twice"


def test_only_those_named_agree_or_end_it(fall: Term, cast: Cast, seminar: Any) -> None:
    found = a_round(fall)
    ranks(found, cast.ada, seminar)
    number = shared(found, seminar, cast.ada, cast.ben)
    for act in (joint.agree, joint.leave):
        assert refusal(lambda act=act: act(found.id, number, cast.cleo.id)) == "gone"
    assert joint.of_student(found.id, cast.cleo.id) == []
    joint.leave(found.id, number, cast.ben.id)
    assert joint.of_student(found.id, cast.ada.id) == []
    assert refusal(lambda: joint.agree(found.id, number, cast.ben.id)) == "gone"


def test_no_one_agrees_to_two_joint_choices_of_the_same_sections(
    fall: Term, cast: Cast, seminar: Any
) -> None:
    found = a_round(fall)
    for student in (cast.ada, cast.cleo):
        ranks(found, student, seminar)
    first, second = (shared(found, seminar, each, cast.ben) for each in (cast.ada, cast.cleo))
    joint.agree(found.id, first, cast.ben.id)
    assert refusal(lambda: joint.agree(found.id, second, cast.ben.id)) == "twice"


def test_choice_is_part_of_one_joint_choice_at_most(fall: Term, cast: Cast, seminar: Any) -> None:
    """Two requests at the same moment may both have been accepted."""
    found = a_round(fall)
    for student in (cast.ada, cast.ben, cast.cleo):
        ranks(found, student, seminar)
    first, second = (shared(found, seminar, each, cast.ben) for each in (cast.ada, cast.cleo))
    with transaction() as session:
        session.execute(update(JointMember).values(agreed=True))
    assert groups(found) == {f"joint {first}": 2}
    assert second > first


def test_nothing_changes_after_the_end(fall: Term, cast: Cast, seminar: Any) -> None:
    found = a_round(fall)
    ranks(found, cast.ada, seminar)
    number = shared(found, seminar, cast.ada, cast.ben)
    ended(found)
    ballots.forget()
    assert refusal(lambda: joint.agree(found.id, number, cast.ben.id)) == "late"
    assert refusal(lambda: joint.leave(found.id, number, cast.ada.id)) == "late"
    assert refusal(lambda: joint.make(found.id, cast.ada.id, [seminar.id], {"1"})) == "late"
