"""POST /terms/<t>/sections/<s>/pick of a section that is taken together with another one."""

from dataclasses import dataclass
from typing import Any

import pytest
from flask.testing import FlaskClient

from portal.backend import backend as parts
from portal.core.db import transaction
from portal.people.models import CompletedCourse
from portal.recorder.recorder import drain
from portal.registration import adjustments, limits
from portal.registration.adjustments import Adjustment
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.notifications.stories import set_section
from tests.web.pages import DIALOG, address, held, hidden, press, seat, words
from tests.web.visitors import browser_of

LECTURE = {"corequisites": {"course": "BIO-2"}}
LAB = {"corequisites": {"course": "BIO-1"}}
COREQUISITE = "with-1"  # the field of the only linked course


@dataclass(frozen=True)
class Biology:
    """A lecture, its two labs, and a section at the time of the first lab."""

    lecture: Any  # BIO 1-01
    lab: Any  # BIO 2-02
    evening: Any  # BIO 2-03, with two seats
    rival: Any  # MAT 1-04

    def with_lab(self) -> dict[str, str]:
        return {COREQUISITE: str(self.lab.id)}


@pytest.fixture
def biology(term: Any) -> Biology:
    lecture, lab = builders.a_course("BIO-1"), builders.a_course("BIO-2", credits=1)
    tuesday = (Meets("T", "14:00", "15:50"),)
    return Biology(
        lecture=builders.a_section(lecture, term, capacity=1, **LECTURE),
        lab=builders.a_section(lab, term, capacity=1, meetings=tuesday, **LAB),
        evening=builders.a_section(lab, term, capacity=2, **LAB),
        rival=builders.a_section(builders.a_course("MAT-1"), term, meetings=tuesday),
    )


def waiting(term: Any, student: Any) -> list[int]:
    return [each.section for each in parts().ledger.registrations(term.id, student.id).waiting]


def checked(page: str) -> str:
    """Return the preselected section."""
    before = page[: page.index(" checked")]
    return before[before.rindex('value="') + 7 :].rstrip('"')


def test_form_offers_linked_sections(ada: FlaskClient, biology: Biology) -> None:
    page = ada.get(address(biology.lecture, "pick")).text
    for result in (
        "Add BIO 1-01 with BIO 2?",
        "BIO 2-02 Tue 2:00–3:50 pm",
        "2 of 2 open",
        "You get all of them or none.",
        "Add them together",
    ):
        assert result in words(page)
    assert "reason-step" not in page


@pytest.mark.parametrize("other", ["MAT-1", "MAT-9"], ids=["unlinked", "not offered"])
def test_form_offers_the_linked_one_of_two_that_would_do(
    ada: FlaskClient, term: Any, biology: Biology, cast: Cast, other: str
) -> None:
    either = {"any": [{"course": "BIO-2"}, {"course": other}]}
    set_section(biology.lecture, corequisites=either)
    assert "With another class" in ada.get(f"/terms/{term.id}").text
    assert "Add them together" in ada.get(address(biology.lecture, "pick")).text
    answer = press(ada, biology.lecture, "pick", **biology.with_lab())
    assert answer.status_code == 303
    assert held(term, cast.ada) == [biology.lecture.id, biology.lab.id]


def test_conflicting_linked_section_is_marked_and_not_preselected(
    ada: FlaskClient, biology: Biology
) -> None:
    assert checked(ada.get(address(biology.lecture, "pick")).text) == str(biology.lab.id)
    press(ada, biology.rival, "pick")
    page = ada.get(address(biology.lecture, "pick")).text
    assert "It meets at the same time as your MAT 1-04" in words(page)
    assert checked(page) == str(biology.evening.id)


def test_linked_sections_are_taken_together_without_javascript(
    ada: FlaskClient, term: Any, biology: Biology, cast: Cast
) -> None:
    answer = press(ada, biology.lecture, "pick", **biology.with_lab())
    page = words(ada.get(answer.location).text)
    assert "You added BIO 1-01 and BIO 2-02. 5 credits. Receipt" in page
    assert held(term, cast.ada) == [biology.lecture.id, biology.lab.id]


def test_htmx_response_updates_both(ada: FlaskClient, biology: Biology) -> None:
    form = hidden(ada.get(address(biology.lab, "pick"), headers=DIALOG).text)
    sent = {**form, COREQUISITE: str(biology.lecture.id)}
    answer = ada.post(address(biology.lab, "pick"), data=sent, headers=DIALOG)
    for section in (biology.lecture, biology.lab):
        for kind in ("act", "seats"):
            assert f'hx-swap-oob="true" id="{kind}-{section.id}"' in answer.text


def test_neither_is_taken_if_one_is_full(
    ada: FlaskClient, term: Any, biology: Biology, cast: Cast
) -> None:
    form = hidden(ada.get(address(biology.lecture, "pick")).text)
    seat(cast.ben, biology.lab)
    sent = {**form, **biology.with_lab()}
    answer = ada.post(address(biology.lecture, "pick"), data=sent)
    assert answer.status_code == 422
    why = "You can’t add BIO 1-01 yet BIO 2-02 BIO 2-02 is full"
    assert why in words(answer.text)
    assert answer.text.count('href="/receipts/') == 2
    assert checked(answer.text) == str(biology.lab.id)  # as she had chosen
    assert "reason-step" not in answer.text
    assert held(term, cast.ada) == []


def test_each_part_shows_its_reasons(
    ada: FlaskClient, term: Any, biology: Biology, cast: Cast
) -> None:
    form = hidden(ada.get(address(biology.lecture, "pick")).text)
    seat(cast.ben, biology.lecture)
    seat(cast.ada, biology.rival)
    answer = ada.post(address(biology.lecture, "pick"), data={**form, **biology.with_lab()})
    text = words(answer.text)
    assert "You can’t add BIO 1-01 yet BIO 1-01 BIO 1-01 is full" in text
    assert "BIO 2-02 It meets at the same time as your MAT 1-04" in text
    assert held(term, cast.ada) == [biology.rival.id]


def test_open_part_is_taken_if_waiting_is_accepted(
    ada: FlaskClient, term: Any, biology: Biology, cast: Cast
) -> None:
    seat(cast.ben, biology.lab)
    answer = press(ada, biology.lecture, "pick", **biology.with_lab(), wait="1")
    page = words(ada.get(answer.location).text)
    assert "You added BIO 1-01. You are on the waitlist for BIO 2-02. Position 1 of 1." in page
    assert held(term, cast.ada) == [biology.lecture.id]
    assert waiting(term, cast.ada) == [biology.lab.id]


def test_full_section_offers_the_linked_one_and_the_waitlist(
    ada: FlaskClient, biology: Biology, cast: Cast
) -> None:
    page = ada.get(address(biology.lecture, "pick")).text
    assert 'name="wait" value="1">' in page
    seat(cast.ben, biology.lecture)
    page = ada.get(address(biology.lecture, "pick")).text
    assert 'name="wait" value="1" checked>' in page


def test_form_says_that_all_linked_sections_are_full(
    ada: FlaskClient, biology: Biology, cast: Cast
) -> None:
    seat(cast.ben, biology.lecture)
    assert "All of these are full" not in ada.get(address(biology.lecture, "pick")).text
    for student in (cast.dan, cast.cleo):
        seat(student, biology.evening)
    seat(cast.ben, biology.lab)
    assert "All of these are full" in ada.get(address(biology.lecture, "pick")).text


def test_held_or_passed_course_needs_no_linked_section(
    ada: FlaskClient, biology: Biology, cast: Cast
) -> None:
    seat(cast.ada, biology.lab)
    text = words(ada.get(address(biology.lecture, "pick")).text)
    assert "Add BIO 1-01?" in text
    with transaction() as session:
        session.add(CompletedCourse(student_id=cast.dan.id, course_code="BIO-2"))
    dan = browser_of(ada.application, "dan")
    assert "Add BIO 1-01?" in words(dan.get(address(biology.lecture, "pick")).text)


def test_claim_without_the_linked_section_is_refused_with_the_choice(
    ada: FlaskClient, term: Any, biology: Biology, cast: Cast
) -> None:
    answer = ada.post(address(biology.lecture, "pick"))
    assert answer.status_code == 422
    assert 'data-reason="corequisite"' in answer.text
    assert "Add them together" in answer.text
    assert held(term, cast.ada) == []


def test_form_sent_twice_has_one_effect(
    ada: FlaskClient, term: Any, biology: Biology, cast: Cast
) -> None:
    form = {**hidden(ada.get(address(biology.lecture, "pick")).text), **biology.with_lab()}
    for _ in range(2):
        answer = ada.post(address(biology.lecture, "pick"), data=form)
        assert "You added" in words(ada.get(answer.location).text)
    assert held(term, cast.ada) == [biology.lecture.id, biology.lab.id]


@pytest.mark.parametrize("corequisite", ["x", "-1", "1e9", "9" * 12])
def test_invalid_linked_section_is_refused(
    ada: FlaskClient, biology: Biology, corequisite: str
) -> None:
    answer = ada.post(address(biology.lecture, "pick"), data={COREQUISITE: corequisite})
    assert answer.status_code == 400


def test_unknown_linked_section_is_refused(
    ada: FlaskClient, term: Any, biology: Biology, cast: Cast
) -> None:
    answer = press(ada, biology.lecture, "pick", **{COREQUISITE: "999999"})
    assert answer.status_code == 422
    assert 'data-reason="section_unknown"' in answer.text
    assert held(term, cast.ada) == []


def test_section_is_swapped_with_its_linked_one(
    ada: FlaskClient, term: Any, biology: Biology, cast: Cast
) -> None:
    seat(cast.ada, biology.rival)
    where = f"swap?swap_out={biology.rival.id}"
    answer = press(ada, biology.lecture, where, **biology.with_lab())
    page = words(ada.get(answer.location).text)
    assert "Swapped: you now have BIO 1-01 and BIO 2-02." in page
    assert held(term, cast.ada) == [biology.lecture.id, biology.lab.id]


def half_waiting(ada: FlaskClient, term: Any, biology: Biology, cast: Cast) -> None:
    """Enroll Ada in the lecture; she waits for its lab."""
    seat(cast.ben, biology.lab)
    press(ada, biology.lecture, "pick", **biology.with_lab(), wait="1")
    assert held(term, cast.ada) == [biology.lecture.id]
    assert waiting(term, cast.ada) == [biology.lab.id]


def test_needed_waitlist_is_left_only_with_the_seat(
    ada: FlaskClient, term: Any, biology: Biology, cast: Cast
) -> None:
    half_waiting(ada, term, biology, cast)
    both = f"drop?along={biology.lab.id}"
    for page in (
        ada.get(address(biology.lab, "leave")),
        ada.post(address(biology.lab, "leave"), data={"request": "leave-it"}),
    ):
        assert 'data-reason="needed_by"' in page.text
        assert "To leave the waitlist, you must drop BIO 1-01 too." in words(page.text)
        assert f'href="{address(biology.lecture, both)}"' in page.text
    assert waiting(term, cast.ada) == [biology.lab.id]
    form = words(ada.get(address(biology.lecture, both)).text)
    assert "Drop BIO 1-01 and leave the waitlist for BIO 2-02?" in form
    page = words(ada.get(press(ada, biology.lecture, both).location).text)
    assert "You dropped BIO 1-01. You left the waitlist for BIO 2-02." in page
    assert held(term, cast.ada) == waiting(term, cast.ada) == []
    assert list(parts().ledger.drops(term.id, cast.ada.id).values()) == [1]


def left_alone(ada: FlaskClient, biology: Biology) -> list[str]:
    """What is said of leaving the lab's waitlist, before and after it is tried, without a way."""
    pages = (
        ada.get(address(biology.lab, "leave")),
        ada.post(address(biology.lab, "leave"), data={"request": "leave-it"}),
    )
    for page in pages:
        assert 'data-reason="needed_by"' in page.text
        assert "/drop?" not in page.text
    return [words(page.text) for page in pages]


def test_no_drop_is_offered_for_a_needed_waitlist_after_the_window(
    ada: FlaskClient, term: Any, biology: Biology, cast: Cast
) -> None:
    half_waiting(ada, term, biology, cast)
    for window in parts().ledger.windows(term.id):
        parts().ledger.close_window(term.id, window.id, "tests")
    limits.forget_windows()
    for page in left_alone(ada, biology):
        assert "Registration ended at" in page


def test_no_drop_is_offered_for_a_needed_waitlist_without_drops_left(
    ada: FlaskClient, term: Any, biology: Biology, cast: Cast
) -> None:
    others = [builders.a_section(builders.a_course(f"ART-{number}"), term) for number in range(3)]
    half_waiting(ada, term, biology, cast)
    for other in others:
        seat(cast.ada, other)
        assert press(ada, other, "drop").status_code == 303
    for page in left_alone(ada, biology):
        assert "You have used your 3 drops for today. You can drop again from" in page


def test_last_drop_of_the_day_can_leave_a_waitlist_with_its_seat(
    ada: FlaskClient, term: Any, biology: Biology, cast: Cast
) -> None:
    others = [builders.a_section(builders.a_course(f"ART-{number}"), term) for number in range(2)]
    half_waiting(ada, term, biology, cast)
    for other in others:
        seat(cast.ada, other)
        assert press(ada, other, "drop").status_code == 303
    page = ada.get(address(biology.lab, "leave")).text
    assert f'href="{address(biology.lecture, f"drop?along={biology.lab.id}")}"' in page


def test_pages_say_that_the_waitlist_cannot_be_left_alone(
    ada: FlaskClient, term: Any, biology: Biology, cast: Cast
) -> None:
    assert (
        "If you leave the waitlist, you lose both" in ada.get(address(biology.lecture, "pick")).text
    )
    half_waiting(ada, term, biology, cast)
    page = words(ada.get(f"/terms/{term.id}/mine").text)
    assert "Requires BIO 2, and you are on its waitlist." in page


def test_one_sided_corequisite_cannot_be_waitlisted(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    lecture = builders.a_section(builders.a_course("PHY-1"), term, capacity=1)
    lab = builders.a_section(builders.a_course("PHY-2"), term, corequisites={"course": "PHY-1"})
    seat(cast.ben, lecture)
    form = {"request": "lab-and-lecture", COREQUISITE: str(lecture.id), "wait": "1"}
    answer = ada.post(address(lab, "pick"), data=form)
    assert answer.status_code == 422
    assert "Requires a seat in PHY 1. A waitlist position is not enough." in words(answer.text)
    assert held(term, cast.ada) == waiting(term, cast.ada) == []


@pytest.mark.parametrize("wait", ["", "1"])
def test_unrelated_section_is_not_linked(
    ada: FlaskClient, term: Any, biology: Biology, cast: Cast, wait: str
) -> None:
    maths = builders.a_section(builders.a_course("MAT-9"), term)
    form = {"request": "maths-with-it", COREQUISITE: str(biology.rival.id), "wait": wait}
    answer = ada.post(address(maths, "pick"), data=form)
    assert answer.status_code == 422
    assert 'data-reason="not_partner"' in answer.text
    assert held(term, cast.ada) == []


def test_removed_corequisite_is_reported_beside_the_seat(
    ada: FlaskClient, term: Any, biology: Biology, cast: Cast
) -> None:
    press(ada, biology.lecture, "pick", **biology.with_lab())
    adjust(cast.ada, biology.lab)
    page = words(ada.get(f"/terms/{term.id}/mine").text)
    assert "Requires BIO 2, which you don’t have now." in page
    drain(term.id)
    assert "BIO 1-01 requires it." in words(ada.get("/inbox").text)


def test_seat_canceled_with_its_corequisite_is_not_mentioned(
    ada: FlaskClient, term: Any, biology: Biology
) -> None:
    press(ada, biology.lecture, "pick", **biology.with_lab())
    for section in (biology.lab, biology.lecture):
        set_section(section, status="CANCELED")
    drain(term.id)
    page = words(ada.get("/inbox").text)
    assert "BIO 1-01 has been canceled" in page
    assert "You keep your seat there for now" not in page


def test_student_waiting_for_a_canceled_corequisite_is_informed(
    ada: FlaskClient, term: Any, biology: Biology, cast: Cast
) -> None:
    half_waiting(ada, term, biology, cast)
    set_section(biology.lab, status="CANCELED")
    drain(term.id)
    inbox = words(ada.get("/inbox").text)
    assert "You no longer have BIO 2-02, which another class requires" in inbox
    assert "BIO 1-01 requires it." in inbox


def adjust(student: Any, section: Any) -> None:
    """Drop a student as an admin, with every override."""
    change = Adjustment(section.term_id, student.id, drop=section.id, overrides=("needed_by",))
    done = adjustments.adjust(change, why="tests", by=1, idempotency_key=None, correlation="tests")
    assert done.outcome == "dropped"
