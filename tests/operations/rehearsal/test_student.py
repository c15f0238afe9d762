"""A made-up student goes the way of real ones: login, captcha, room, form, seat, and back."""

import pytest
from sqlalchemy import func, select

from portal.backend import Backend
from portal.core.db import transaction
from portal.notifications.models import Notification, OutboxEntry
from portal.notifications.webhooks.models import Delivery, Webhook
from portal.operations.rehearsal import practice_term
from portal.operations.rehearsal.practice_term import PracticeTerm
from portal.operations.rehearsal.student import Answer, Student, Unanswered
from portal.recorder.promotion import promote
from portal.recorder.recorder import drain
from tests.live.nodes import Node

PASSWORD = "let us practise"


@pytest.fixture
def practice(portal: Node, backend: Backend) -> PracticeTerm:  # noqa: ARG001
    """A practice term of three whose window is open."""
    made = practice_term.make(3, PASSWORD)
    now = backend.ledger.now()
    practice_term.open_window(made, now - 1000, now + 3_600_000)
    return made


class Meet:
    """The students of the term, and what they have heard."""

    def __init__(self, portal: Node, practice: PracticeTerm) -> None:
        self.portal, self.practice = portal, practice
        self.heard: list[Answer] = []

    def __call__(self, number: int) -> Student:
        """One who is in."""
        name = self.practice.usernames[number]
        student = Student(self.portal.origin, self.practice.id, name, self.heard.append)
        student.log_in(PASSWORD)
        assert student.enter() == "in"
        return student

    def seated(self, number: int, section: int) -> Student:
        """One who has a seat."""
        student = self(number)
        assert student.claim(section, waits=False) == "seat"
        return student


@pytest.fixture
def meet(portal: Node, practice: PracticeTerm) -> Meet:
    return Meet(portal, practice)


def test_they_take_a_seat_and_give_it_up(
    meet: Meet, practice: PracticeTerm, backend: Backend
) -> None:
    [section, *_] = practice.sections
    student = meet(0)
    assert student.claim(section, waits=False) == "seat"
    assert backend.ledger.seats(practice.id)[section].taken == 1
    assert student.drop(section)
    assert backend.ledger.seats(practice.id)[section].taken == 0
    assert len(meet.heard) > 10
    assert all(each.served and each.seconds > 0 for each in meet.heard)


@pytest.fixture
def full(practice: PracticeTerm, backend: Backend) -> int:
    """A section with the fewest seats, to be filled."""
    seats = backend.ledger.seats(practice.id)
    return next(each for each in seats if seats[each].capacity == practice_term.MIN_SEATS)


def test_where_it_is_full_they_wait_if_they_would(
    meet: Meet, practice: PracticeTerm, full: int, backend: Backend
) -> None:
    for number in range(practice_term.MIN_SEATS):
        meet.seated(number, full)
    last = meet(practice_term.MIN_SEATS)
    assert last.claim(full, waits=False) == "full"
    assert last.claim(full, waits=True) == "position"
    assert last.drop(full)
    assert backend.ledger.seats(practice.id)[full].waiting == 0


def test_what_they_have_already_is_refused(meet: Meet, practice: PracticeTerm) -> None:
    [section, *_] = practice.sections
    student = meet(0)
    assert student.claim(section, waits=False) == "seat"
    assert student.claim(section, waits=False) == "refused"


def test_no_one_is_sent_a_mail_and_no_program_a_webhook(
    meet: Meet, practice: PracticeTerm, full: int
) -> None:
    with transaction() as session:
        session.add(Webhook(url="https://example.org/", names=["promoted"], seed="seed"))
    first, *_ = [meet.seated(number, full) for number in range(practice_term.MIN_SEATS)]
    assert meet(practice_term.MIN_SEATS).claim(full, waits=True) == "position"
    first.drop(full)
    assert promote(practice.id, "tests") == 1
    drain(practice.id)
    with transaction() as session:
        assert session.scalars(select(Notification.kind)).all() == ["promoted"]
        for none in (OutboxEntry, Delivery):
            assert not session.scalar(select(func.count()).select_from(none))


def test_who_can_not_log_in_is_turned_away(portal: Node, practice: PracticeTerm) -> None:
    heard: list[Answer] = []
    student = Student(portal.origin, practice.id, practice.usernames[0], heard.append)
    with pytest.raises(Unanswered):
        student.log_in("not the password")


def test_who_has_no_answer_reads_so(practice: PracticeTerm) -> None:
    heard: list[Answer] = []
    nowhere = Student("http://127.0.0.1:9", practice.id, practice.usernames[0], heard.append)
    with pytest.raises(Unanswered):
        nowhere.load_page()
    assert [each.status for each in heard] == [0]
