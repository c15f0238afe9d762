"""The checker of the fault tests finds what was altered in histories and logs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from portal.core.moments import EPOCH
from portal.recorder.events import Event
from tests.faults import history
from tests.faults.checker import Verdict, judge
from tests.faults.history import AWAY, DECIDED, WRONG, Request, Try

ADA, BEN, CLEO = 1, 2, 3
PHYSICS = 7


@dataclass
class Story:
    """One section of one seat: ada has it, ben and cleo wait, ada drops, ben is promoted."""

    requests: list[Request] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    held: set[tuple[int, int]] = field(default_factory=lambda: {(PHYSICS, BEN)})
    waiting: set[tuple[int, int]] = field(default_factory=lambda: {(PHYSICS, CLEO)})

    def happens(self, name: str, student: int, counts: tuple[int, int], key: str = "") -> None:
        seq, (taken, waiting) = len(self.events) + 1, counts
        seats = {"capacity": 1, "taken": taken, "waiting": waiting}
        payload: dict[str, Any] = {"section": PHYSICS, "student": student, "seats": seats}
        at, context = EPOCH + timedelta(seconds=seq), {"request": key}
        self.events.append(Event(seq, at, name, 1, f"section:{PHYSICS}", payload, context))

    def does(self, student: int, act: str, outcome: str, key: str) -> None:
        tries = [Try(1.0, 2.0), Try(2.0, 3.0, DECIDED, "200")]
        self.requests.append(Request(student, act, PHYSICS, key, 0, tries, outcome, "7-1-1"))

    def verdict(self) -> Verdict:
        return judge(self.requests, self.events, self.held, self.waiting)

    def change(self, at: int, **fields: Any) -> None:
        self.events[at] = self.events[at]._replace(**fields)

    def report(self, at: int, **seats: int) -> None:
        payload = self.events[at].payload
        self.change(at, payload=payload | {"seats": payload["seats"] | seats})


@pytest.fixture
def story() -> Story:
    result = Story()
    result.happens("enrolled", ADA, (1, 0), "a")
    result.happens("waitlisted", BEN, (1, 1), "b")
    result.happens("waitlisted", CLEO, (1, 2), "c")
    result.happens("dropped", ADA, (0, 2), "d")
    result.happens("promoted", BEN, (1, 1))
    result.does(ADA, "register", "enrolled", "a")
    result.does(BEN, "register", "waitlisted", "b")
    result.does(CLEO, "register", "waitlisted", "c")
    result.does(ADA, "drop", "dropped", "d")
    return result


def test_story_without_alterations_is_clean(story: Story) -> None:
    assert story.verdict().clean


def test_a_skipped_position_may_be_overtaken(story: Story) -> None:
    story.events.pop()
    story.happens("passed_over", BEN, (0, 2))
    story.happens("promoted", CLEO, (1, 1))
    story.held, story.waiting = {(PHYSICS, CLEO)}, {(PHYSICS, BEN)}
    assert story.verdict().clean


def forgets_an_event(story: Story) -> None:
    del story.events[2]


def forgets_a_seat(story: Story) -> None:
    story.held.clear()


def forgets_a_position(story: Story) -> None:
    story.waiting.clear()


def invents_a_seat(story: Story) -> None:
    story.held.add((PHYSICS, ADA))


def acts_for_who_was_refused(story: Story) -> None:
    story.requests[0].outcome = "refused"


def names_another_section(story: Story) -> None:
    story.requests[0].section += 1


@pytest.mark.parametrize(
    "doctor",
    [
        forgets_an_event,
        forgets_a_seat,
        forgets_a_position,
        invents_a_seat,
        acts_for_who_was_refused,
        names_another_section,
    ],
)
def test_answer_that_is_not_true_is_lost(story: Story, doctor: Callable[[Story], None]) -> None:
    doctor(story)
    assert story.verdict().lost


def test_one_student_more_than_seats_is_oversold(story: Story) -> None:
    del story.events[3]
    assert story.verdict().oversold


@pytest.mark.parametrize("taken", [-1, 2])
def test_counts_that_can_not_be_are_oversold(story: Story, taken: int) -> None:
    story.report(-1, taken=taken)
    assert story.verdict().oversold


def test_student_promoted_before_the_first_of_the_waitlist_is_out_of_order(story: Story) -> None:
    last = story.events[-1].payload
    story.change(-1, payload=last | {"student": CLEO})
    assert story.verdict().order


def test_seat_claimed_although_students_wait_is_out_of_order(story: Story) -> None:
    last = story.events[-1].payload
    story.change(-1, name="enrolled", payload=last | {"student": ADA})
    assert story.verdict().order


def test_key_that_acted_twice_is_found(story: Story) -> None:
    story.happens("waitlisted", CLEO, (1, 2), "c")
    assert story.verdict().twice


def test_key_that_acted_at_two_times_is_found(story: Story) -> None:
    story.happens("left", CLEO, (1, 0), "c")
    assert story.verdict().twice


def test_another_answer_to_the_same_key_is_found(story: Story) -> None:
    story.requests[0].repeated = ["enrolled 7-1-1"]
    assert story.verdict().clean
    story.requests[0].repeated = ["enrolled 7-1-2"]
    assert story.verdict().twice


def test_request_without_an_answer_is_found(story: Story) -> None:
    story.requests[0].outcome = ""
    assert story.verdict().odd


def test_answer_that_no_student_should_get_is_found(story: Story) -> None:
    story.requests[0].tries.insert(0, Try(0.0, 0.5, WRONG, "500"))
    assert story.verdict().odd


def test_clear_message_that_nothing_changed_is_no_wrong_answer(story: Story) -> None:
    story.requests[0].tries.insert(0, Try(0.0, 0.5, AWAY, "503"))
    assert story.verdict().clean


def test_a_history_is_read_as_it_was_written(story: Story, tmp_path: Path) -> None:
    history.write(tmp_path / "history.jsonl", story.requests)
    assert list(history.read(tmp_path / "history.jsonl")) == story.requests


def test_the_longest_silence_and_wait_are_found(story: Story) -> None:
    for request, answered in zip(story.requests, (3.0, 4.0, 9.0, 10.0), strict=True):
        request.tries[-1].answered = answered
    assert history.longest_silence(story.requests, 2.0, 11.0) == 5.0
    assert history.longest_wait(story.requests, 3.5) == 9.0
