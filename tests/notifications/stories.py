"""Stories with notifications: a full section, a canceled one, a window that comes."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select, update

from portal.backend import backend
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.notifications.mail import Mail, compose
from portal.notifications.models import Notification, OutboxEntry
from portal.people.models import Account, Student
from portal.recorder.promotion import promote
from portal.recorder.recorder import drain
from portal.windows.warmup import meeting_times, spec
from tests import cast as builders
from tests.cast import Cast
from tests.recorder.rush import Rush, claim, drop


@dataclass(frozen=True)
class Story:
    """One section of one seat in a term with an open window."""

    term: Term
    section: Section
    rush: Rush

    def claim(self, *students: Student) -> None:
        """A seat, or a place in line, for each."""
        for student in students:
            claim(self.rush, student.id, self.section.id)

    def drop(self, student: Student) -> None:
        """The seat of a student is given up."""
        drop(self.rush, student.id, self.section.id)

    def promote(self) -> None:
        """The free seat goes to who waits."""
        promote(self.term.id, "tests")

    def record(self) -> None:
        """Everything is recorded, and the notices that follow are made."""
        drain(self.term.id, seconds=0)

    def hand_over(self, giver: Student, taker: Student) -> None:
        """One drops, the other is promoted, and it is recorded."""
        self.claim(giver, taker)
        self.drop(giver)
        self.promote()
        self.record()


def a_story(cast: Cast, **section: Any) -> Story:
    """Of the cast's students, who can be reached by mail."""
    term = builders.a_term()
    window = builders.an_open_window(term)
    made = builders.a_section(
        builders.a_course(credits=3, title="Data Structures"), term, **{"capacity": 1} | section
    )
    give_addresses()
    students = [student.id for student in (cast.ada, cast.ben, cast.cleo, cast.dan)]
    return Story(term, made, Rush(term.id, [made.id], students, window.id))


def give_addresses() -> None:
    """Everyone's is username@u.example."""
    with transaction() as session:
        session.execute(update(Account).values(email=func.concat(Account.username, "@u.example")))


def set_section(section: Section, **fields: Any) -> None:
    """Change a section in the catalog, and have the ledger told."""
    with transaction() as session:
        newer = {"version": Section.version + 1, **fields}
        session.execute(update(Section).where(Section.id == section.id).values(newer))
        bump = {"catalog_version": Term.catalog_version + 1}
        session.execute(update(Term).where(Term.id == section.term_id).values(bump))
        found = session.scalars(select(Section).where(Section.id == section.id)).one()
        times = meeting_times(session, section.term_id)[section.id]
    backend().ledger.put_section(section.term_id, spec(found, tuple(times)))


def told(student: Student) -> list[str]:
    """The kinds of news that a student has been told, in order."""
    with transaction() as session:
        mine = Notification.account_id == student.account_id
        return list(
            session.scalars(select(Notification.kind).where(mine).order_by(Notification.id))
        )


def notices() -> list[Notification]:
    """All there are, in order."""
    with transaction() as session:
        return list(session.scalars(select(Notification).order_by(Notification.id)))


def outbox() -> list[OutboxEntry]:
    """All there is, in order."""
    with transaction() as session:
        return list(session.scalars(select(OutboxEntry).order_by(OutboxEntry.id)))


def a_letter() -> Mail:
    """The mail that was made last, as it would be sent."""
    with transaction() as session:
        last = session.scalars(select(OutboxEntry).order_by(OutboxEntry.id.desc()).limit(1)).one()
        return compose(session, last)
