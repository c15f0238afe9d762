"""A clash that the registrar makes is told by name: what clashes with what, and when."""

from dataclasses import replace
from typing import Any

import pytest

from portal.core.i18n import in_language
from portal.ledger.types import Outcome
from portal.notifications.kinds import text_of
from portal.people.models import Student
from portal.registration import adjustments
from portal.registration.adjustments import Adjustment
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.ledger_claims import claim
from tests.notifications.stories import Story, a_letter, a_story, notices, told
from tests.notifications.test_section_changes import changed, meeting


@pytest.fixture
def story(cast: Cast) -> Story:
    return a_story(cast, capacity=5, waitlist=5)


@pytest.fixture
def physics(story: Story) -> Any:
    """Another section, on Mondays from 11 to 12."""
    return builders.a_section(
        builders.a_course("PHY-2000"), story.term, meetings=(Meets("M", "11:00", "12:00"),)
    )


def said(student: Student, language: str = "en") -> tuple[str, ...]:
    """What the student's last notice says."""
    last = [each for each in notices() if each.account_id == student.account_id][-1]
    with in_language(language):
        found = text_of(last)
    return (found.title, *found.text)


def both(story: Story, section: Any, student: Student) -> None:
    story.claim(student)
    assert claim(student, section, wait=False).outcome == "enrolled"
    story.record()


CLASH = "It meets at the same time as your PHY 2000-02 (Mon 11:00 am–12:00 pm)."


def test_new_times_that_clash_name_the_other_section(
    story: Story, cast: Cast, physics: Any
) -> None:
    both(story, physics, cast.ada)
    story.claim(cast.ben)
    changed(story, cast, meetings=meeting(story, "Hall 1", 660))
    assert said(cast.ada)[:2] == ("CSC 1100-01 has changed and conflicts with PHY 2000-02", CLASH)
    assert "Drop or swap one of them" in said(cast.ada)[-1]
    assert said(cast.ben)[0] == "CSC 1100-01 has changed"


def test_the_clash_is_in_the_mail_too(story: Story, cast: Cast, physics: Any) -> None:
    both(story, physics, cast.ada)
    changed(story, cast, meetings=meeting(story, "Hall 1", 660))
    message = a_letter().message
    assert message["Subject"] == "CSC 1100-01 has changed and conflicts with PHY 2000-02"
    assert CLASH in " ".join(message.get_content().split())


def test_who_only_waits_is_notified_of_the_clash_as_well(
    story: Story, cast: Cast, physics: Any
) -> None:
    both(story, physics, cast.ada)
    other = builders.a_section(builders.a_course("MAT-1000"), story.term, capacity=0)
    assert claim(cast.ada, other, wait=True).outcome == "waitlisted"
    story.record()
    waiting = replace(story, section=other)
    changed(waiting, cast, meetings=meeting(story, "Hall 1", 660))
    assert said(cast.ada)[:2] == ("MAT 1000-03 has changed and conflicts with PHY 2000-02", CLASH)
    assert said(cast.ada)[-1] == (
        "You keep your waitlist position, but you get no seat while the times conflict."
    )


def test_new_times_that_clash_with_nothing_say_nothing_of_it(
    story: Story, cast: Cast, physics: Any
) -> None:
    both(story, physics, cast.ada)
    changed(story, cast, meetings=meeting(story, "Hall 1", 800))
    assert said(cast.ada)[0] == "CSC 1100-01 has changed"
    changed(story, cast, method="Online")
    assert "at the same time" not in " ".join(said(cast.ada))


def test_a_change_of_something_else_does_not_repeat_an_old_clash(
    story: Story, cast: Cast, physics: Any
) -> None:
    both(story, physics, cast.ada)
    changed(story, cast, meetings=meeting(story, "Hall 1", 660))
    changed(story, cast, method="Online")
    assert said(cast.ada)[0] == "CSC 1100-01 has changed"


def test_a_clashing_seat_that_the_registrar_gives_is_named(
    story: Story, cast: Cast, physics: Any
) -> None:
    changed(story, cast, meetings=meeting(story, "Hall 1", 660))
    assert claim(cast.ada, physics, wait=False).outcome == "enrolled"
    story.record()
    change = Adjustment(
        story.term.id, cast.ada.id, add=story.section.id, overrides=("time_conflict",)
    )
    answer = adjustments.adjust(
        change, why="It is agreed.", by=cast.max.id, idempotency_key="0" * 32, correlation=""
    )
    assert answer.outcome == Outcome.ENROLLED
    story.record()
    assert told(cast.ada)[-1] == "by_hand"
    assert said(cast.ada)[:2] == ("The registrar gave you a seat in CSC 1100-01", CLASH)
