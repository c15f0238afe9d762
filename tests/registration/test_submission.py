"""Several choices are decided in one step, with results in the order of the choices."""

from typing import Any

from portal.backend import backend as parts
from portal.catalog.term_catalog import catalog_of
from portal.core.db import transaction
from portal.ledger.types import Outcome, SubmissionResult
from portal.people.models import Hold
from portal.registration import commands, limits
from portal.registration.requests import Choice, SectionRequest, decision_order
from tests import cast as builders
from tests import register
from tests.cast import Cast


def submit(student: Any, term: Any, *wishes: Choice, key: str = "") -> SubmissionResult:
    return commands.register(register.context(student.id, term.id, key), wishes)


def for_one(*sections: Any, **terms: Any) -> Choice:
    """Return a choice with these sections as alternatives."""
    return Choice(tuple((SectionRequest(section.id),) for section in sections), **terms)


def outcomes(submission: SubmissionResult) -> list[Outcome]:
    return [line.outcome for line in submission.results]


def codes(submission: SubmissionResult, line: int) -> list[str]:
    """Return why the first alternative of a choice was refused."""
    return [reason.code for part in submission.results[line].refused[0] for reason in part.reasons]


def test_corequisite_is_decided_before_the_section_that_needs_it(term: Any, cast: Cast) -> None:
    needs = {"corequisites": {"course": "PHY-2"}}
    lecture = builders.a_section(builders.a_course("PHY-1"), term, **needs)
    lab = builders.a_section(builders.a_course("PHY-2"), term)
    other = builders.a_section(builders.a_course("MAT-1"), term)
    wishes = [for_one(lecture), for_one(other), for_one(lab)]
    assert decision_order(wishes, catalog_of(term.id)) == [1, 2, 0]
    done = submit(cast.ada, term, *wishes)
    assert outcomes(done) == [Outcome.ENROLLED] * 3
    assert [line.taken[0].section for line in done.results] == [lecture.id, other.id, lab.id]


def test_choices_that_need_each_other_keep_their_order(term: Any, cast: Cast) -> None:
    assert cast.ada
    one, two = (
        builders.a_section(builders.a_course(f"PHY-{n}"), term, corequisites={"course": f"PHY-{m}"})
        for n, m in ((1, 2), (2, 1))
    )
    assert decision_order([for_one(one), for_one(two)], catalog_of(term.id)) == [0, 1]


def test_unknown_section_does_not_affect_other_choices(term: Any, cast: Cast) -> None:
    section = builders.a_section(builders.a_course(), term)
    done = submit(cast.ada, term, Choice(((SectionRequest(999_999),),)), for_one(section))
    assert outcomes(done) == [Outcome.REFUSED, Outcome.ENROLLED]
    assert codes(done, 0) == ["section_unknown"]


def test_alternative_is_taken_and_the_first_one_explained(term: Any, cast: Cast) -> None:
    course = builders.a_course()
    full, free = (builders.a_section(course, term, capacity=seats) for seats in (0, 1))
    done = submit(cast.ada, term, for_one(full, free))
    [line] = done.results
    assert (line.outcome, line.rank, line.taken[0].section) == (Outcome.ENROLLED, 2, free.id)
    assert codes(done, 0) == ["full"]


def test_refused_swap_keeps_the_old_seat(term: Any, cast: Cast) -> None:
    course = builders.a_course()
    old, new = builders.a_section(course, term), builders.a_section(course, term, capacity=0)
    submit(cast.ada, term, for_one(old))
    assert outcomes(submit(cast.ada, term, for_one(new, swap_out=old.id))) == [Outcome.REFUSED]
    (held,) = parts().ledger.registrations(term.id, cast.ada.id).enrolled
    assert held.section == old.id


def test_every_part_of_a_refusal_has_its_receipt(term: Any, cast: Cast) -> None:
    with transaction() as session:
        session.add(Hold(student_id=cast.ada.id, kind="fees", reason="Unpaid fees"))
    pair = [builders.a_section(builders.a_course(code), term) for code in ("PHY-1", "PHY-2")]
    done = submit(cast.ada, term, Choice((tuple(SectionRequest(each.id) for each in pair),)))
    receipts = [part.seq for part in done.results[0].refused[0]]
    assert all(receipts)
    assert len(set(receipts)) == 2


def test_the_same_key_gives_the_same_answers(term: Any, cast: Cast) -> None:
    sections = [builders.a_section(builders.a_course(f"PHY-{n}"), term) for n in (1, 2)]
    wishes = [for_one(each) for each in sections]
    first, second = (submit(cast.ada, term, *wishes, key="the-same-key") for _ in range(2))
    assert (second.results, second.replayed) == (first.results, True)


def test_unrelated_seats_dropped_together_count_separately(term: Any, cast: Cast) -> None:
    pair = [builders.a_section(builders.a_course(code), term) for code in ("PHY-1", "PHY-2")]
    submit(cast.ada, term, *map(for_one, pair))
    answer = register.drop(cast.ada.id, term.id, pair[0].id, [pair[1].id])
    assert answer.outcome == Outcome.DROPPED
    assert parts().ledger.registrations(term.id, cast.ada.id).enrolled == ()
    assert limits.drops_left(cast.ada.id, term.id, answer.at) == 1
