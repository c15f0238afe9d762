"""Allocation rounds as a student's pages show them."""

from dataclasses import dataclass

from portal.catalog.local_time import LocalClock, local_clock
from portal.core.cache import AWAY
from portal.core.db import crowded
from portal.core.moments import milliseconds
from portal.core.outage import postgresql
from portal.people.student_profile import StudentProfile, profile
from portal.registration.credits import points
from portal.rounds import ballots, joint
from portal.rounds.ballots import Ballot
from portal.web.http.device_zone import zone_note
from portal.windows.models import Round


@dataclass(frozen=True)
class BallotView:
    """A round on a student's page; `phase` is before, taking, ended, done or canceled."""

    round: Round
    phase: str
    ballot: Ballot | None
    student: int
    times: LocalClock
    now: int

    @property
    def begins(self) -> str:
        """Return when ballots are taken."""
        return self._timed(milliseconds(self.round.begins_at))

    @property
    def ends(self) -> str:
        """Return until when ballots are taken."""
        return self._timed(milliseconds(self.round.ends_at))

    def _timed(self, ms: int) -> str:
        """Return a moment, with the zone if the device has another one."""
        return f"{self.times.moment_at(ms, self.now)} {zone_note(self.times, ms)}".strip()

    @property
    def changed(self) -> str:
        """Return when the ballot last changed, to the second."""
        return self.times.exact(self.ballot.changed_at) if self.ballot else ""

    @property
    def invitations(self) -> int:
        """Return how many joint choices name the student, who has not agreed yet."""
        found = joint.of_student(self.round.id, self.student)
        return sum(not each.agreed for each in found)

    @property
    def credits(self) -> str:
        """Return the chosen or usual limit of credits, as a form sends it."""
        return points((self.ballot or self.round).most_credits)

    @property
    def courses(self) -> int:
        """Return the chosen or usual limit of courses."""
        return (self.ballot or self.round).most_courses


def ballot_views(term_id: int, student: int, now: int) -> list[BallotView]:
    """Return the rounds that a student sees; none while PostgreSQL is away."""
    try:
        return [view_of(each, student, now) for each in _rounds(profile(student), term_id)]
    except AWAY as error:
        postgresql.begin(crowded=crowded(error))
        return []


def still_to_plan(who: StudentProfile, term_id: int, now: int) -> bool:
    """Return whether a round is yet to end for which the student may plan; times in ms."""
    try:
        return any(
            each.state == "open" and now < milliseconds(each.ends_at)
            for each in _rounds(who, term_id)
        )
    except AWAY as error:
        postgresql.begin(crowded=crowded(error))
        return False


def _rounds(who: StudentProfile, term_id: int) -> list[Round]:
    return [] if postgresql.spares() else ballots.rounds_for(who, term_id)


def view_of(found: Round, student: int, now: int) -> BallotView:
    """Return a round as the student sees it at a time (ms)."""
    begins, ends = milliseconds(found.begins_at), milliseconds(found.ends_at)
    phase = "before" if now < begins else "taking"
    if found.state in {"applied", "canceled"}:
        phase = "done" if found.state == "applied" else "canceled"
    elif found.state != "open" or now >= ends:
        phase = "ended"
    ballot = ballots.ballot_of(found.id, student)
    return BallotView(found, phase, ballot, student, local_clock(), now)
