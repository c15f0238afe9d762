"""The checker of the fault suite refuses histories and logs that were doctored."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from portal.core.moments import EPOCH
from portal.recorder.events import Event
from tests.faults import history
from tests.faults.checker import Verdict, judge
from tests.faults.history import AWAY, DECIDED, WRONG, Deed, Try

ADA, BEN, CLEO = 1, 2, 3
PHYSICS = 7


@dataclass
class Story:
    """One section of one seat: ada has it, ben and cleo wait, ada drops, ben comes in."""

    deeds: list[Deed] = field(default_factory=list)
    facts: list[Event] = field(default_factory=list)
    held: set[tuple[int, int]] = field(default_factory=lambda: {(PHYSICS, BEN)})
    waiting: set[tuple[int, int]] = field(default_factory=lambda: {(PHYSICS, CLEO)})

    def happens(self, name: str, student: int, counts: tuple[int, int], key: str = "") -> None:
        seq, (taken, waiting) = len(self.facts) + 1, counts
        seats = {"capacity": 1, "taken": taken, "waiting": waiting}
        payload: dict[str, Any] = {"section": PHYSICS, "student": student, "seats": seats}
        at, context = EPOCH + timedelta(seconds=seq), {"request": key}
        self.facts.append(Event(seq, at, name, 1, f"section:{PHYSICS}", payload, context))

    def does(self, student: int, act: str, outcome: str, key: str) -> None:
        tries = [Try(1.0, 2.0), Try(2.0, 3.0, DECIDED, "200")]
        self.deeds.append(Deed(student, act, PHYSICS, key, 0, tries, outcome, "7-1-1"))

    def verdict(self) -> Verdict:
        return judge(self.deeds, self.facts, self.held, self.waiting)

    def change(self, at: int, **fields: Any) -> None:
        self.facts[at] = replace(self.facts[at], **fields)

    def told(self, at: int, **seats: int) -> None:
        payload = self.facts[at].payload
        self.change(at, payload=payload | {"seats": payload["seats"] | seats})


@pytest.fixture
def story() -> Story:
    told = Story()
    told.happens("enrolled", ADA, (1, 0), "a")
    told.happens("waitlisted", BEN, (1, 1), "b")
    told.happens("waitlisted", CLEO, (1, 2), "c")
    told.happens("dropped", ADA, (0, 2), "d")
    told.happens("promoted", BEN, (1, 1))
    told.does(ADA, "register", "enrolled", "a")
    told.does(BEN, "register", "waitlisted", "b")
    told.does(CLEO, "register", "waitlisted", "c")
    told.does(ADA, "drop", "dropped", "d")
    return told


def test_a_story_in_which_all_holds_is_clean(story: Story) -> None:
    assert story.verdict().clean


def test_a_place_that_was_passed_over_may_be_overtaken(story: Story) -> None:
    story.facts.pop()
    story.happens("passed_over", BEN, (0, 2))
    story.happens("promoted", CLEO, (1, 1))
    story.held, story.waiting = {(PHYSICS, CLEO)}, {(PHYSICS, BEN)}
    assert story.verdict().clean


def forgets_an_event(story: Story) -> None:
    del story.facts[2]


def forgets_a_seat(story: Story) -> None:
    story.held.clear()


def forgets_a_place(story: Story) -> None:
    story.waiting.clear()


def invents_a_seat(story: Story) -> None:
    story.held.add((PHYSICS, ADA))


def acts_for_who_was_refused(story: Story) -> None:
    story.deeds[0].outcome = "refused"


def names_another_section(story: Story) -> None:
    story.deeds[0].section += 1


@pytest.mark.parametrize(
    "doctor",
    [
        forgets_an_event,
        forgets_a_seat,
        forgets_a_place,
        invents_a_seat,
        acts_for_who_was_refused,
        names_another_section,
    ],
)
def test_what_was_told_and_is_not_so_is_lost(story: Story, doctor: Callable[[Story], None]) -> None:
    doctor(story)
    assert story.verdict().lost


def test_one_student_more_than_seats_is_oversold(story: Story) -> None:
    del story.facts[3]
    assert story.verdict().oversold


@pytest.mark.parametrize("taken", [-1, 2])
def test_counts_that_can_not_be_are_oversold(story: Story, taken: int) -> None:
    story.told(-1, taken=taken)
    assert story.verdict().oversold


def test_who_comes_in_before_the_first_in_line_is_out_of_order(story: Story) -> None:
    last = story.facts[-1].payload
    story.change(-1, payload=last | {"student": CLEO})
    assert story.verdict().order


def test_a_seat_claimed_past_those_who_wait_is_out_of_order(story: Story) -> None:
    last = story.facts[-1].payload
    story.change(-1, name="enrolled", payload=last | {"student": ADA})
    assert story.verdict().order


def test_a_key_that_has_acted_twice_is_told(story: Story) -> None:
    story.happens("waitlisted", CLEO, (1, 2), "c")
    assert story.verdict().twice


def test_a_key_that_has_acted_at_two_times_is_told(story: Story) -> None:
    story.happens("left", CLEO, (1, 0), "c")
    assert story.verdict().twice


def test_another_answer_to_the_same_key_is_told(story: Story) -> None:
    story.deeds[0].repeated = ["enrolled 7-1-1"]
    assert story.verdict().clean
    story.deeds[0].repeated = ["enrolled 7-1-2"]
    assert story.verdict().twice


def test_who_was_never_answered_is_told(story: Story) -> None:
    story.deeds[0].outcome = ""
    assert story.verdict().odd


def test_an_answer_that_nobody_should_get_is_told(story: Story) -> None:
    story.deeds[0].tries.insert(0, Try(0.0, 0.5, WRONG, "500"))
    assert story.verdict().odd


def test_a_clear_word_that_nothing_was_changed_is_no_wrong_answer(story: Story) -> None:
    story.deeds[0].tries.insert(0, Try(0.0, 0.5, AWAY, "503"))
    assert story.verdict().clean


def test_a_history_is_read_as_it_was_written(story: Story, tmp_path: Path) -> None:
    history.write(tmp_path / "told.jsonl", story.deeds)
    assert list(history.read(tmp_path / "told.jsonl")) == story.deeds


def test_the_longest_silence_and_wait_are_found(story: Story) -> None:
    for deed, answered in zip(story.deeds, (3.0, 4.0, 9.0, 10.0), strict=True):
        deed.tries[-1].answered = answered
    assert history.longest_silence(story.deeds, 2.0, 11.0) == 5.0
    assert history.longest_wait(story.deeds, 3.5) == 9.0
