"""Choices with ranked alternatives: the first possible one is taken in the same step."""

from portal.ledger.types import ChoiceResult, Claim, LedgerChoice, Outcome, Reason, SubmissionResult
from tests.ledger.requests import TERM, Desk, codes


def one_of(*sections: int, wait: bool = True) -> LedgerChoice:
    return LedgerChoice(tuple((Claim(each, 400),) for each in sections), wait)


def line(desk: Desk, student: int, *sections: int, wait: bool = True) -> ChoiceResult:
    [answer] = desk.submit(student, one_of(*sections, wait=wait)).results
    return answer


def test_first_alternative_is_taken_while_it_has_a_seat(desk: Desk) -> None:
    desk.section(1, capacity=1)
    desk.section(2, capacity=1)
    answer = line(desk, 501, 1, 2)
    assert (answer.outcome, answer.rank, answer.refused) == (Outcome.ENROLLED, 1, ())
    assert desk.roster(2) == []


def test_second_alternative_is_taken_if_the_first_is_full(desk: Desk) -> None:
    desk.section(1, capacity=0)
    desk.section(2, capacity=1)
    answer = line(desk, 501, 1, 2)
    assert (answer.outcome, answer.rank) == (Outcome.ENROLLED, 2)
    assert codes(answer.refused[0][0]) == ["full"]
    assert desk.queue(1) == []
    assert desk.last_event()["rank"] == 2


def test_first_alternative_is_waitlisted_only_if_none_has_a_seat(desk: Desk) -> None:
    desk.section(1, capacity=0)
    desk.section(2, capacity=0)
    answer = line(desk, 501, 1, 2)
    assert (answer.outcome, answer.rank) == (Outcome.WAITLISTED, 1)
    assert (desk.queue(1), desk.queue(2)) == ([501], [])


def test_choice_without_waiting_is_refused_with_the_reasons_of_each_alternative(desk: Desk) -> None:
    desk.section(1, capacity=0)
    desk.section(2, status="CONFIRMED")
    answer = line(desk, 501, 1, 2, wait=False)
    assert answer.outcome == Outcome.REFUSED
    assert [codes(each) for [each] in answer.refused] == [["full"], ["section_confirmed"]]


def test_choice_is_fulfilled_by_any_of_its_alternatives(desk: Desk) -> None:
    desk.section(1)
    desk.section(2)
    desk.claim(501, 2)
    answer = line(desk, 501, 1, 2)
    assert [codes(each) for [each] in answer.refused] == [["already_enrolled"]]
    assert desk.roster(1) == []


def test_repeated_choice_gives_no_second_alternative_to_a_waiting_student(desk: Desk) -> None:
    desk.section(1, capacity=0)
    desk.section(2, capacity=0)
    line(desk, 501, 1, 2)
    desk.section(2, capacity=1, version=2)
    answer = line(desk, 501, 1, 2)
    assert [codes(each) for [each] in answer.refused] == [["already_waiting"]]
    assert desk.roster(2) == []


def test_each_choice_is_decided_after_those_before_it(desk: Desk) -> None:
    desk.section(1)
    desk.section(2, course=1)
    desk.section(3)
    answer = desk.submit(501, one_of(1), one_of(2), one_of(9), one_of(3))
    assert outcomes(answer) == ["enrolled", "refused", "refused", "enrolled"]
    assert answer.results[1].refused[0][0].reasons == (Reason("same_course", {"section": 1}),)
    assert codes(answer.results[2].refused[0][0]) == ["section_unknown"]


def test_every_refused_alternative_has_its_own_receipt(desk: Desk) -> None:
    desk.section(1, capacity=0)
    desk.section(2)
    answer = line(desk, 501, 1, 2)
    receipts = {event["seq"]: event for event in desk.events()}
    refused, taken = answer.refused[0][0], answer.taken[0]
    assert (receipts[refused.seq]["name"], receipts[refused.seq]["section"]) == ("refused", 1)
    assert (receipts[taken.seq]["name"], receipts[taken.seq]["section"]) == ("enrolled", 2)


def test_same_key_replays_a_whole_submission(desk: Desk) -> None:
    desk.section(1, capacity=0, waitlist=0)
    desk.section(2)
    first = desk.submit(501, one_of(1), one_of(2), idempotency_key="k")
    events = desk.events()
    again = desk.submit(501, one_of(1), one_of(2), idempotency_key="k")
    assert (again.results, again.at, again.replayed) == (first.results, first.at, True)
    assert desk.events() == events


def test_early_plan_is_refused_and_may_be_sent_under_a_new_key(
    desk: Desk,
) -> None:
    desk.section(1)
    now = desk.ledger.now()
    desk.put_window(5, now + 200, now + 60_000)
    early = desk.submit(501, one_of(1), idempotency_key="k", windows=[5])
    assert codes(early.results[0].refused[0][0]) == ["window_before"]
    while desk.ledger.now() < now + 200:
        pass
    assert outcomes(desk.submit(501, one_of(1), idempotency_key="k", windows=[5])) == ["refused"]
    assert outcomes(desk.submit(501, one_of(1), idempotency_key="l", windows=[5])) == ["enrolled"]
    assert desk.ledger.registrations(TERM, 501).enrolled


def outcomes(result: SubmissionResult) -> list[str]:
    return [line.outcome.value for line in result.results]
