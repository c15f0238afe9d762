"""Which news follows from what the ledger has decided, once for each event."""

import json
from collections.abc import Iterator

import pytest
from redis.client import PubSub
from sqlalchemy import func, select, update

from portal.backend import Backend
from portal.core.db import Sessions, transaction
from portal.ledger.types import Candidate, Reason, SkipRule
from portal.notifications.from_events import notify_of_events
from portal.notifications.models import Notification, NotificationSetting
from portal.people.models import Account
from portal.recorder.event_log import read_events
from tests.cast import Cast
from tests.channels import told as messages
from tests.notifications.stories import Story, a_letter, notices, outbox, set_section, told


@pytest.fixture
def heard(backend: Backend, story: Story) -> Iterator[PubSub]:
    """What the pages of the term's students are told."""
    with backend.redis.pubsub() as channel:
        channel.subscribe(f"{{t:{story.term.id}}}:signal")
        channel.get_message(timeout=30)
        yield channel


def students_told(heard: PubSub) -> set[int]:
    found = set()
    for message in messages(heard):
        note = json.loads(message["data"])
        assert note["signal"] == "notice"
        found.add(note["student"])
    return found


def pass_over(
    backend: Backend,
    story: Story,
    student: int,
    *codes: str | Reason,
    passes: SkipRule | None = None,
) -> None:
    """The head of the list can't have the free seat, and it is recorded."""
    rules = [Reason(code) if isinstance(code, str) else code for code in codes]
    window = story.rush.window
    candidate = Candidate(student=student, windows=(window,), credit_limit=9900, rules=tuple(rules))
    backend.ledger.promote(story.term.id, story.section.id, [candidate], "tests", passes)
    story.record()


def recorded_again(story: Story) -> None:
    """The events of the story are delivered once more."""
    with transaction() as session:
        facts = list(read_events(session, story.term.id, 0, 10_000))
        notify_of_events(session, story.term.id, facts)


def test_who_gets_a_seat_from_the_waitlist_is_notified(story: Story, cast: Cast) -> None:
    story.hand_over(cast.ada, cast.ben)
    (notice,) = notices()
    assert (notice.account_id, notice.kind) == (cast.ben.account_id, "promoted")
    assert notice.data["code"] == "CSC-1100"
    assert notice.section_id == story.section.id


def test_own_adds_and_drops_are_not_notified(story: Story, cast: Cast) -> None:
    story.claim(cast.ada, cast.ben)
    story.drop(cast.ada)
    story.record()
    assert notices() == []


def test_an_event_that_is_delivered_again_tells_nothing_again(story: Story, cast: Cast) -> None:
    story.hand_over(cast.ada, cast.ben)
    set_section(story.section, status="CANCELED")
    story.record()
    before = [(each.id, each.kind) for each in notices()]
    assert len(before) == len(outbox()) == 2
    recorded_again(story)
    assert [(each.id, each.kind) for each in notices()] == before
    assert len(outbox()) == 2


def test_what_is_rolled_back_has_notified_no_one(story: Story, cast: Cast, heard: PubSub) -> None:
    story.hand_over(cast.ada, cast.ben)
    students_told(heard)
    with transaction() as session:
        session.execute(update(Notification).values(seq=-Notification.seq))
    with Sessions() as session:
        notify_of_events(
            session, story.term.id, list(read_events(session, story.term.id, 0, 10_000))
        )
        assert len(session.scalars(select(Notification)).all()) == 2
    assert len(notices()) == 1
    assert students_told(heard) == set()


def test_open_pages_of_those_concerned_get_it(story: Story, cast: Cast, heard: PubSub) -> None:
    story.claim(cast.cleo)
    story.record()
    assert students_told(heard) == set()
    story.drop(cast.cleo)
    story.hand_over(cast.ada, cast.ben)
    assert students_told(heard) == {cast.ben.id}


def test_a_skipped_student_is_notified_why(backend: Backend, story: Story, cast: Cast) -> None:
    story.claim(cast.ada, cast.ben)
    story.drop(cast.ada)
    pass_over(backend, story, cast.ben.id, "hold")
    (notice,) = notices()
    assert (notice.account_id, notice.kind) == (cast.ben.account_id, "passed_over")
    assert [reason["code"] for reason in notice.data["reasons"]] == ["hold"]


def test_no_grade_is_sent_by_mail(backend: Backend, story: Story, cast: Cast) -> None:
    story.claim(cast.ada, cast.ben)
    story.drop(cast.ada)
    low = {"missing": {"course": "MAT-1", "grade": "C"}, "grades": {"MAT-1": "D"}}
    pass_over(backend, story, cast.ben.id, Reason("prerequisite", low))
    mail = a_letter().message.get_content()
    assert "Requires MAT 1 with C or better." in mail
    assert "Your grade" not in mail
    assert "record" not in mail


def test_the_same_reason_is_notified_again_only_after_it_was_read(
    backend: Backend, story: Story, cast: Cast
) -> None:
    story.claim(cast.ada, cast.ben)
    story.drop(cast.ada)

    def again(*codes: str) -> None:
        backend.ledger.reconsider(story.term.id, story.section.id)
        pass_over(backend, story, cast.ben.id, *codes)

    pass_over(backend, story, cast.ben.id, "hold")
    again("hold")
    assert told(cast.ben) == ["passed_over"]
    again("prerequisite")
    assert told(cast.ben) == ["passed_over"] * 2
    with transaction() as session:
        session.execute(update(Notification).values(read_at=Notification.made_at))
    again("prerequisite")
    assert told(cast.ben) == ["passed_over"] * 3


def test_a_canceled_section_tells_who_had_a_seat_and_who_waited(story: Story, cast: Cast) -> None:
    story.claim(cast.dan)
    story.drop(cast.dan)
    story.claim(cast.ada, cast.ben)
    story.record()
    set_section(story.section, status="CANCELED")
    story.record()
    had = {each.account_id: each.data["had"] for each in notices()}
    assert had == {cast.ada.account_id: "seat", cast.ben.account_id: "place"}


def test_it_tells_them_as_they_stood_when_it_was_canceled(story: Story, cast: Cast) -> None:
    story.claim(cast.ada, cast.ben)
    set_section(story.section, status="CANCELED")
    story.drop(cast.ada)
    story.record()  # all of it in one batch
    assert (told(cast.ada), told(cast.ben)) == (["section_canceled"], ["section_canceled"])


def test_a_section_canceled_twice_tells_once(story: Story, cast: Cast) -> None:
    story.claim(cast.ada)
    for capacity in (1, 2, 3):
        set_section(story.section, status="CANCELED", capacity=capacity)
    story.record()
    set_section(story.section, status="CANCELED", capacity=4)
    story.record()
    assert told(cast.ada) == ["section_canceled"]


def test_one_that_was_offered_again_in_between_tells_again(story: Story, cast: Cast) -> None:
    story.claim(cast.ada)
    set_section(story.section, status="CANCELED")
    story.record()
    set_section(story.section, status="OPEN")
    story.claim(cast.ada)
    set_section(story.section, status="CANCELED")
    story.record()
    assert told(cast.ada) == ["section_canceled"] * 2


def test_mail_goes_to_those_who_have_an_address(story: Story, cast: Cast) -> None:
    with transaction() as session:
        session.execute(update(Account).values(email=""))
    story.hand_over(cast.ada, cast.ben)
    assert told(cast.ben) == ["promoted"]
    assert outbox() == []


def test_mail_goes_to_those_who_want_it(story: Story, cast: Cast) -> None:
    story.claim(cast.ada, cast.ben)
    with transaction() as session:
        no = {"account_id": cast.ada.account_id, "by_mail": False}
        session.add(NotificationSetting(kind="section_canceled", **no))
        session.add(
            NotificationSetting(kind="promoted", account_id=cast.ben.account_id, by_mail=False)
        )
    set_section(story.section, status="CANCELED")
    story.record()
    (mail,) = outbox()
    to = {each.id: each.account_id for each in notices()}[mail.notification_id]
    assert to == cast.ben.account_id
    assert len(notices()) == 2


def test_no_mail_goes_to_a_deleted_account(story: Story, cast: Cast) -> None:
    story.claim(cast.ada, cast.ben)
    with transaction() as session:
        gone = update(Account).where(Account.id == cast.ada.account_id)
        session.execute(gone.values(deleted_at=func.now()))
    set_section(story.section, status="CANCELED")
    story.record()
    to = {each.id: each.account_id for each in notices()}
    assert [to[mail.notification_id] for mail in outbox()] == [cast.ben.account_id]


def test_a_lost_position_is_notified_though_the_same_reason_is_unread(
    backend: Backend, story: Story, cast: Cast
) -> None:
    story.claim(cast.ada, cast.ben)
    story.drop(cast.ada)
    pass_over(backend, story, cast.ben.id, "hold")
    backend.ledger.reconsider(story.term.id, story.section.id)
    pass_over(backend, story, cast.ben.id, "hold", passes=SkipRule(1))
    assert [each.data.get("lost", False) for each in notices()] == [False, True]
    assert told(cast.ben) == ["passed_over"] * 2
