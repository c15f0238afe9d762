"""A made-up student goes the way of real ones: login, captcha, room, form, seat, and back."""

import pytest
from sqlalchemy import func, select

from portal.backend import Backend
from portal.core.db import transaction
from portal.notifications.models import Notice, Outgoing
from portal.notifications.webhooks.models import Delivery, Webhook
from portal.recorder.drain import drain
from portal.recorder.promote import promote
from portal.rehearsal import term as terms
from portal.rehearsal.student import Answer, Student, Unanswered
from portal.rehearsal.term import Practice
from tests.live.nodes import Node

PASSWORD = "let us practise"


@pytest.fixture
def practice(portal: Node, backend: Backend) -> Practice:  # noqa: ARG001
    """A practice term of three whose window is open."""
    made = terms.make(1, 3, PASSWORD)
    now = backend.ledger.now()
    terms.schedule(made, now - 1000, now + 3_600_000)
    return made


class Meet:
    """The students of the term, and what they have heard."""

    def __init__(self, portal: Node, practice: Practice) -> None:
        self.portal, self.practice = portal, practice
        self.heard: list[Answer] = []

    def __call__(self, number: int) -> Student:
        """One who is in."""
        name = self.practice.usernames[number]
        student = Student(self.portal.origin, self.practice.term, name, self.heard.append)
        student.log_in(PASSWORD)
        assert student.come() == "in"
        return student

    def seated(self, number: int, section: int) -> Student:
        """One who has a seat."""
        student = self(number)
        assert student.take(section, waits=False) == "seat"
        return student


@pytest.fixture
def meet(portal: Node, practice: Practice) -> Meet:
    return Meet(portal, practice)


def test_they_take_a_seat_and_give_it_up(meet: Meet, practice: Practice, backend: Backend) -> None:
    [section, *_] = practice.sections
    student = meet(0)
    assert student.take(section, waits=False) == "seat"
    assert backend.ledger.seats(practice.term)[section].taken == 1
    assert student.give_up(section) == "gone"
    assert backend.ledger.seats(practice.term)[section].taken == 0
    assert {each.what for each in meet.heard} >= {"login", "captcha", "room", "claim", "drop"}
    assert all(each.seconds > 0 for each in meet.heard)


@pytest.fixture
def full(practice: Practice, backend: Backend) -> int:
    """A section with the fewest seats, to be filled."""
    seats = backend.ledger.seats(practice.term)
    return next(each for each in seats if seats[each].capacity == terms.FEWEST_SEATS)


def test_where_it_is_full_they_wait_if_they_would(
    meet: Meet, practice: Practice, full: int, backend: Backend
) -> None:
    for number in range(terms.FEWEST_SEATS):
        meet.seated(number, full)
    last = meet(terms.FEWEST_SEATS)
    assert last.take(full, waits=False) == "full"
    assert last.take(full, waits=True) == "place"
    assert last.give_up(full) == "gone"
    assert backend.ledger.seats(practice.term)[full].waiting == 0


def test_what_they_have_already_is_refused(meet: Meet, practice: Practice) -> None:
    [section, *_] = practice.sections
    student = meet(0)
    assert student.take(section, waits=False) == "seat"
    assert student.take(section, waits=False) == "refused"


def test_nobody_is_sent_a_mail_and_no_program_is_told(
    meet: Meet, practice: Practice, full: int
) -> None:
    with transaction() as session:
        session.add(Webhook(url="https://example.org/", names=["promoted"], seed="seed"))
    first, *_ = [meet.seated(number, full) for number in range(terms.FEWEST_SEATS)]
    assert meet(terms.FEWEST_SEATS).take(full, waits=True) == "place"
    first.give_up(full)
    assert promote(practice.term, "tests") == 1
    drain(practice.term)
    with transaction() as session:
        assert session.scalars(select(Notice.kind)).all() == ["promoted"]
        for none in (Outgoing, Delivery):
            assert not session.scalar(select(func.count()).select_from(none))


def test_who_can_not_log_in_is_turned_away(portal: Node, practice: Practice) -> None:
    heard: list[Answer] = []
    student = Student(portal.origin, practice.term, practice.usernames[0], heard.append)
    with pytest.raises(Unanswered):
        student.log_in("not the password")


def test_who_has_no_answer_is_told_so(practice: Practice) -> None:
    heard: list[Answer] = []
    nowhere = Student("http://127.0.0.1:9", practice.term, practice.usernames[0], heard.append)
    with pytest.raises(Unanswered):
        nowhere.look()
    assert [each.status for each in heard] == [0]
