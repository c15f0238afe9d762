"""A claim gives a seat, or every reason against it."""

from portal.ledger.types import Outcome, Reason, SeatCounts
from tests.ledger.requests import TERM, Desk, codes, facts


def test_a_claim_gives_a_seat_with_a_number_and_the_new_counts(desk: Desk) -> None:
    desk.section(12, capacity=2, waitlist=5)
    answer = desk.claim(501, 12)
    assert answer.outcome == Outcome.ENROLLED
    assert answer.registration == answer.seq == 4
    assert answer.seats == SeatCounts(12, 2, 1, 0, 5, "OPEN", answer.seq)
    assert abs(answer.at - desk.ledger.now()) < 2000
    assert desk.roster(12) == [501]


def test_seats_taken_before_an_import_are_not_given_again(desk: Desk) -> None:
    desk.section(12, capacity=3, prior=2)
    assert desk.claim(501, 12).outcome == Outcome.ENROLLED
    assert codes(desk.claim(502, 12, wait=False)) == ["full"]


def test_section_over_capacity_shows_and_gives_no_seat(desk: Desk) -> None:
    desk.section(12, capacity=1, prior=5)
    answer = desk.claim(501, 12, wait=False)
    assert codes(answer) == ["full"]
    seats = desk.ledger.seats(TERM)[12]
    assert (seats.taken, seats.open) == (5, 0)


def test_claim_by_enrolled_student_is_refused_with_one_reason(desk: Desk) -> None:
    desk.section(12)
    desk.claim(501, 12)
    again = desk.claim(501, 12, windows=[], credit_limit=0, rules=[Reason("hold")])
    assert codes(again) == ["already_enrolled"]


def test_claim_by_waiting_student_is_refused_with_the_position(desk: Desk) -> None:
    desk.section(12, capacity=0)
    desk.claim(501, 12)
    desk.claim(502, 12)
    again = desk.claim(502, 12, windows=[])
    assert again.reasons == (Reason("already_waiting", {"position": 2}),)


def test_unknown_section_is_refused_together_with_the_callers_rules(desk: Desk) -> None:
    answer = desk.claim(501, 99, windows=[], rules=[Reason("hold", {"kind": "bursar"})])
    assert codes(answer) == ["window_unscheduled", "section_unknown", "hold"]
    assert answer.seats is None


def test_section_that_is_not_open_is_refused_with_its_status(desk: Desk) -> None:
    for section, status in enumerate(["NEW", "CONFIRMED", "CANCELED"], start=1):
        desk.section(section, status=status)
        assert codes(desk.claim(501, section)) == [f"section_{status.lower()}"]


def test_another_section_of_the_same_course_is_refused(desk: Desk) -> None:
    desk.section(1, course=30)
    desk.section(2, course=30)
    desk.claim(501, 1)
    assert desk.claim(501, 2).reasons == (Reason("same_course", {"section": 1}),)


def test_credits_must_be_within_the_range_of_the_section(desk: Desk) -> None:
    desk.section(12, credits_min=100, credits_max=300)
    for credits in (99, 301):  # noqa: A001
        range_ = facts(desk.claim(501, 12, credits=credits), "credit_range")
        assert range_ == {"min": 100, "max": 300}
    assert desk.claim(501, 12, credits=300).outcome == Outcome.ENROLLED


def test_the_credit_limit_counts_seats_but_not_waitlists(desk: Desk) -> None:
    desk.section(1)
    desk.section(2, capacity=0)
    desk.section(3)
    desk.section(4)
    desk.claim(501, 1)
    desk.claim(501, 2)
    assert desk.claim(501, 3, credit_limit=800).outcome == Outcome.ENROLLED
    refused = desk.claim(501, 4, credit_limit=1199)
    assert facts(refused, "credit_limit") == {"held": 800, "adds": 400, "limit": 1199}


def test_refusal_has_every_reason(desk: Desk) -> None:
    desk.section(1, course=30, times=((1, 600, 660, 0, 99),))
    desk.section(
        2, capacity=0, course=30, status="NEW", credits_min=100, times=((1, 600, 660, 0, 99),)
    )
    desk.claim(501, 1)
    refused = desk.claim(
        501,
        2,
        wait=False,
        windows=[],
        credits=50,
        credit_limit=100,
        corequisites={"course": 77},
        rules=[Reason("hold", {"kind": "bursar"}), Reason("level")],
    )
    assert codes(refused) == [
        "window_unscheduled",
        "section_new",
        "same_course",
        "time_conflict",
        "credit_range",
        "credit_limit",
        "corequisite",
        "hold",
        "level",
        "full",
    ]
    assert facts(refused, "hold") == {"kind": "bursar"}
    assert facts(refused, "level") == {}


def test_refusal_changes_nothing_and_has_a_receipt(desk: Desk) -> None:
    desk.section(12, capacity=1)
    before = desk.ledger.seats(TERM)
    refused = desk.claim(501, 12, windows=[])
    assert desk.ledger.seats(TERM) == before
    receipt = desk.last_event()
    assert (receipt["name"], receipt["seq"], receipt["act"]) == ("refused", refused.seq, "claim")
    assert receipt["reasons"] == [{"code": "window_unscheduled", "facts": {}}]
    assert receipt["seats"]["capacity"] == 1
