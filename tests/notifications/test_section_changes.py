"""Students are notified of new times, rooms, instructors and formats of their section."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from portal.catalog import sections
from portal.catalog.sections import named_instructors
from portal.catalog.views import MeetingView
from portal.core.db import transaction
from portal.core.i18n import in_language
from portal.notifications.kinds import text_of
from portal.windows.warmup import send_sections
from tests.cast import Cast
from tests.notifications.stories import Story, a_letter, notices, outbox, set_section, told
from tests.notifications.test_from_events import recorded_again


def edit(story: Story, cast: Cast, **fields: Any) -> None:
    """An admin changes the section; the ledger has not been told yet."""
    with transaction() as session:
        stored = sections.find_section(session, story.term.id, story.section.id)
    assert stored
    seen = sections.SeenSection(story.term.id, story.section.id, stored.version)
    wanted = replace(stored.details, **fields)
    sections.edit_sections([(seen, wanted)], cast.max.id, "as it is")


def changed(story: Story, cast: Cast, **fields: Any) -> None:
    """An admin changes the section, the ledger is told, and it is recorded."""
    edit(story, cast, **fields)
    send_sections(story.term.id, story.section.id)
    story.record()


def meeting(story: Story, room: str, start: int = 600) -> tuple[MeetingView, ...]:
    """On Mondays from `start` on, in minutes since midnight, for an hour."""
    dates = (story.term.starts_on, story.term.ends_on)
    return (MeetingView("LEC", room, True, 1, start, start + 60, *dates, dates),)  # noqa: FBT003


def said(language: str = "en") -> tuple[str, ...]:
    """What the last notice says."""
    last = notices()[-1]
    with in_language(language):
        return text_of(last).text


def test_who_holds_it_and_who_waits_are_notified_and_no_one_else(story: Story, cast: Cast) -> None:
    story.claim(cast.ada, cast.ben)
    changed(story, cast, meetings=meeting(story, "Hall 1"))
    assert [told(each) for each in (cast.ada, cast.ben, cast.cleo)] == [
        ["section_changed"],
        ["section_changed"],
        [],
    ]
    assert [each.data["had"] for each in notices()] == ["seat", "place"]
    assert len(outbox()) == 2


def test_the_difference_can_be_read(story: Story, cast: Cast) -> None:
    story.claim(cast.ada)
    changed(story, cast, meetings=meeting(story, "Hall 1"))
    assert said()[0] == "Meetings: now Lecture, Mon 10:00–11:00 am, Hall 1."
    before, later = "Lecture, Mon 10:00–11:00 am, Hall 1", "Lecture, Mon 11:00 am–12:00 pm, Hall 2"
    with transaction() as session:
        [one, *_] = named_instructors(session)
    changed(
        story, cast, meetings=meeting(story, "Hall 2", 660), instructors=(one,), method="Online"
    )
    assert said() == (
        f"Meetings: now {later}, before {before}.",
        f"Instructors: now {one.name}.",
        "Method: now Online.",
        "You keep your seat. Check that it still fits your schedule.",
    )
    changed(story, cast, method="")
    assert said()[0] == "Method: no longer Online."


def test_it_goes_by_mail_in_the_language_of_its_reader(story: Story, cast: Cast) -> None:
    story.claim(cast.ada)
    changed(story, cast, meetings=meeting(story, "Hall 1"))
    message = a_letter().message
    assert message["Subject"] == "CSC 1100-01 has changed"
    assert "Mon 10:00–11:00 am, Hall 1" in " ".join(message.get_content().split())
    assert "lun 10:00" in said("es")[0]


def test_title_credits_and_rules_are_notified_in_the_language_of_the_reader(
    story: Story, cast: Cast
) -> None:
    story.claim(cast.ada, cast.ben)
    changed(
        story,
        cast,
        title="Honors",
        credits=(Decimal(5), Decimal(5)),
        prerequisites={"course": "MAT-1010"},
        restrictions=(("must_be", "level", "Graduate"),),
        consent=True,
    )
    assert told(cast.ada) == told(cast.ben) == ["section_changed"]
    text = " ".join(said())
    for each in (
        "Title: now Honors, before Data Structures.",
        "Credits: now 5 credits, before 3 credits.",
        "Prerequisites: now MAT 1010.",
        "Restrictions: now ",
        "Instructor’s consent: now Needed.",
    ):
        assert each in text
    assert "5 créditos" in " ".join(said("es"))


def test_what_does_not_concern_them_is_not_notified(story: Story, cast: Cast) -> None:
    story.claim(cast.ada)
    changed(story, cast, capacity=3, waitlist=9, cross_lists=("MTH-1100",))
    set_section(story.section, status="CONFIRMED")
    story.record()
    assert notices() == []


def test_a_draft_is_nobodys(story: Story, cast: Cast) -> None:
    set_section(story.section, status="NEW")
    changed(story, cast, meetings=meeting(story, "Hall 1"))
    set_section(story.section, status="OPEN")
    story.claim(cast.ada)
    story.record()
    assert notices() == []


def test_events_that_come_again_notify_no_one_twice(story: Story, cast: Cast) -> None:
    story.claim(cast.ada)
    changed(story, cast, meetings=meeting(story, "Hall 1"))
    changed(story, cast, capacity=4)
    recorded_again(story)
    assert told(cast.ada) == ["section_changed"]


def test_changes_while_the_ledger_is_away_are_one_notification(story: Story, cast: Cast) -> None:
    story.claim(cast.ada)
    for room, capacity in (("Hall 1", 1), ("Hall 2", 2), ("Hall 3", 2)):
        edit(story, cast, meetings=meeting(story, room), capacity=capacity)
    changed(story, cast, capacity=5)
    assert told(cast.ada) == ["section_changed"]
    assert said()[0] == "Meetings: now Lecture, Mon 10:00–11:00 am, Hall 3."


def test_what_was_undone_meanwhile_says_nothing_of_it(story: Story, cast: Cast) -> None:
    story.claim(cast.ada)
    edit(story, cast, method="Online", note="Bring a laptop")
    changed(story, cast, method="")
    assert said()[0] == "Note: now Bring a laptop."
    assert len(said()) == 2


def test_who_has_left_before_is_not_notified(story: Story, cast: Cast) -> None:
    story.claim(cast.ada)
    story.drop(cast.ada)
    changed(story, cast, method="Online")
    assert notices() == []
