"""The commands collect what the ledger needs, and return its decision."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import update

from portal.backend import backend as parts
from portal.core.db import transaction
from portal.ledger.errors import KeyReused
from portal.ledger.types import Outcome
from portal.people.models import CompletedCourse, Hold, Student
from portal.people.student_profile import profile
from portal.registration import limits
from tests import cast as builders
from tests import register
from tests.cast import Cast, Meets

NEW_YORK = ZoneInfo("America/New_York")


def claim(student: Any, section: Any, **choice: Any) -> Any:
    return register.claim(student.id, section.term_id, section.id, **choice)


def reasons(answer: Any) -> list[str]:
    return [reason.code for reason in answer.reasons]


def test_a_student_gets_a_seat(term: Any, cast: Cast) -> None:
    section = builders.a_section(builders.a_course(), term)
    assert claim(cast.ada, section).outcome == Outcome.ENROLLED
    (held,) = parts().ledger.registrations(term.id, cast.ada.id).enrolled
    assert (held.section, held.credits) == (section.id, 400)


def test_decision_enqueues_the_recorder(term: Any, cast: Cast) -> None:
    section = builders.a_section(builders.a_course(), term)
    parts().ledger.clear_woken(term.id, "record")
    claim(cast.ada, section)
    assert parts().redis.llen("rq:queue:record") == 1


def test_refusal_combines_reasons_of_postgresql_and_the_ledger(term: Any, cast: Cast) -> None:
    with transaction() as session:
        session.add(Hold(student_id=cast.ada.id, kind="fees", reason="Unpaid fees"))
    needs = {"prerequisites": {"course": "MAT-1010"}}
    section = builders.a_section(builders.a_course(), term, capacity=0, **needs)
    assert reasons(claim(cast.ada, section)) == ["hold", "prerequisite", "full"]


def test_passed_prerequisite_allows_the_claim(term: Any, cast: Cast) -> None:
    with transaction() as session:
        session.add(CompletedCourse(student_id=cast.ada.id, course_code="MAT-1010"))
    needs = {"prerequisites": {"course": "MAT-1010"}}
    section = builders.a_section(builders.a_course(), term, **needs)
    assert claim(cast.ada, section).outcome == Outcome.ENROLLED


def test_student_can_have_an_own_credit_limit(term: Any, cast: Cast) -> None:
    with transaction() as session:
        mine = update(Student).where(Student.id == cast.ada.id).values(credit_limit=3)
        session.execute(mine)
    (reason,) = claim(cast.ada, builders.a_section(builders.a_course(), term)).reasons
    assert reason.facts == {"held": 0, "adds": 400, "limit": 300}


def test_student_chooses_credits_within_a_range(term: Any, cast: Cast) -> None:
    section = builders.a_section(builders.a_course(), term, credits_min=1, credits_max=4)
    claim(cast.ada, section, credit=Decimal("2.5"))
    assert parts().ledger.registrations(term.id, cast.ada.id).enrolled[0].credits == 250


def test_a_corequisite_must_be_held_first(term: Any, cast: Cast) -> None:
    lab = builders.a_section(builders.a_course("PHY-2"), term)
    needs = {"corequisites": {"course": "PHY-2"}}
    lecture = builders.a_section(builders.a_course("PHY-1"), term, **needs)
    assert reasons(claim(cast.ada, lecture)) == ["corequisite"]
    claim(cast.ada, lab)
    assert claim(cast.ada, lecture).outcome == Outcome.ENROLLED


def test_corequisite_that_is_not_offered_is_reported_once(term: Any, cast: Cast) -> None:
    needs = {"corequisites": {"course": "PHY-9"}}
    section = builders.a_section(builders.a_course("PHY-1"), term, **needs)
    assert reasons(claim(cast.ada, section)) == ["corequisite_not_offered"]


def test_window_of_another_cohort_does_not_count(cast: Cast) -> None:
    term = builders.a_term()
    builders.an_open_window(term, cohort={"years": ["Senior"]})
    section = builders.a_section(builders.a_course(), term)
    assert reasons(claim(cast.ada, section)) == ["window_unscheduled"]


def test_section_that_is_not_offered_is_refused(term: Any, cast: Cast) -> None:
    answer = register.claim(cast.ada.id, term.id, 999_999)
    assert reasons(answer) == ["section_unknown"]


def test_the_same_key_gives_the_same_answer(term: Any, cast: Cast) -> None:
    section = builders.a_section(builders.a_course(), term)
    first, second = (claim(cast.ada, section, key="the-same-key") for _ in range(2))
    assert (second.seq, second.replayed) == (first.seq, True)


def test_key_is_for_one_request(term: Any, cast: Cast) -> None:
    course = builders.a_course()
    one, other = (builders.a_section(course, term) for _ in range(2))
    claim(cast.ada, one, key="the-same-key")
    with pytest.raises(KeyReused):
        claim(cast.ada, other, key="the-same-key")


def test_three_seats_a_day_can_be_dropped(term: Any, cast: Cast) -> None:
    sections = [builders.a_section(builders.a_course(f"CSC-{n}"), term) for n in range(4)]
    for section in sections:
        claim(cast.ada, section)
    answers = [register.drop(cast.ada.id, term.id, section.id) for section in sections]
    assert [each.outcome for each in answers[:3]] == [Outcome.DROPPED] * 3
    assert reasons(answers[3]) == ["drop_limit"]
    assert limits.drops_left(cast.ada.id, term.id, answers[3].at) == 0


def test_day_of_a_drop_follows_the_ledgers_clock(term: Any, cast: Cast) -> None:
    section = builders.a_section(builders.a_course(), term)
    claim(cast.ada, section)
    at = register.drop(cast.ada.id, term.id, section.id).at
    assert list(parts().ledger.drops(term.id, cast.ada.id).values()) == [1]
    day = 24 * 60 * 60 * 1000
    left = [limits.drops_left(cast.ada.id, term.id, at + days * day) for days in (-1, 0, 1)]
    assert left == [3, 2, 3]


def test_waitlist_can_be_left(term: Any, cast: Cast) -> None:
    section = builders.a_section(builders.a_course(), term, capacity=0)
    assert claim(cast.ada, section, wait=True).position == 1
    assert register.leave(cast.ada.id, term.id, section.id).outcome == Outcome.LEFT


def test_ledger_finds_a_time_conflict(term: Any, cast: Cast) -> None:
    one, other = (
        builders.a_section(builders.a_course(code), term, meetings=(Meets(),))
        for code in ("CSC-1", "MAT-1")
    )
    claim(cast.ada, one)
    assert reasons(claim(cast.ada, other)) == ["time_conflict"]


def test_profile_has_everything_that_the_rules_need(cast: Cast) -> None:  # noqa: ARG001
    student = builders.a_student("eve", majors=("CSC",), year="Senior", campus="Troy")
    found = profile(student.id)
    assert (found.name, found.year, found.campus) == ("Eve", "Senior", "Troy")
    assert found.majors == {"CSC", "Field of CSC"}
    assert (found.minors, found.completed, found.holds) == (frozenset(), {}, ())


def test_unknown_student_has_no_profile(cast: Cast) -> None:  # noqa: ARG001
    with pytest.raises(LookupError):
        profile(999_999)


@pytest.mark.parametrize(
    ("now", "names"),
    [
        ("2030-11-02T23:59:59", ["2030-11-02", "2030-11-03", "2030-11-04"]),
        ("2030-11-03T00:00:01", ["2030-11-02", "2030-11-03", "2030-11-04"]),
    ],
)
def test_days_around_midnight_fit_both_clocks(now: str, names: list[str]) -> None:
    at = datetime.fromisoformat(now).replace(tzinfo=NEW_YORK)
    assert [name for _, name in limits.days_around(at, NEW_YORK)] == names


def test_day_of_a_clock_change_has_its_real_length() -> None:
    hour = 3_600_000
    for day, hours in (("2030-03-10", 23), ("2030-11-03", 25), ("2030-06-01", 24)):
        noon = datetime.fromisoformat(f"{day}T13:00:00").replace(tzinfo=NEW_YORK)
        (start, name), (end, _), _ = limits.days_around(noon.astimezone(UTC), NEW_YORK)
        assert name == day
        assert end - start == hours * hour


def test_skipped_midnight_begins_after_the_clock_change() -> None:
    beirut = ZoneInfo("Asia/Beirut")  # 2022-03-27: from 00:00 straight to 01:00
    noon = datetime(2022, 3, 27, 13, tzinfo=beirut)
    start = limits.days_around(noon, beirut)[0][0]
    assert datetime.fromtimestamp(start / 1000, beirut).isoformat() == "2022-03-27T01:00:00+03:00"
