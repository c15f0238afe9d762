"""What the rules need to know of a student, read at once and kept until it changes."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from sys import intern

from sqlalchemy.orm import Session

from portal.core.db import transaction
from portal.people import changes
from portal.people.models import Student
from portal.people.profile_query import Facts, facts


@dataclass(frozen=True)
class HoldView:
    """A hold that has not been lifted, and from when to when it stands."""

    kind: str
    reason: str
    office: str
    since: datetime | None = None
    until: datetime | None = None

    @property
    def stands(self) -> bool:
        """Whether it bars now."""
        return within(self.since, self.until)

    @property
    def over(self) -> bool:
        """Whether its time has ended."""
        return not within(None, self.until)

    @property
    def facts(self) -> dict[str, str]:
        """What a refusal tells of it."""
        return {"kind": self.kind, "reason": self.reason, "office": self.office}


@dataclass(frozen=True)
class Permit:
    """Codes of the reasons that the student may pass for a section, until a moment if any."""

    section: int
    waives: frozenset[str]
    until: datetime | None = None


@dataclass(frozen=True)
class Profile:
    """A student as the rules see one; `majors` and `minors` have codes and names alike."""

    student: int
    account: int
    name: str
    number: str
    level: str
    year: str
    degree: str
    campus: str
    college: str
    department: str
    majors: frozenset[str] = frozenset()
    minors: frozenset[str] = frozenset()
    fields: tuple[str, ...] = ()  # names of majors and minors, as the student is told of them
    completed: frozenset[str] = frozenset()
    holds: tuple[HoldView, ...] = ()
    credit_limit: Decimal | None = None  # None = the term's limit
    permits: tuple[Permit, ...] = ()
    lists: frozenset[int] = frozenset()  # for windows, by id

    @property
    def overrides(self) -> Mapping[int, frozenset[str]]:
        """By section, the codes of the reasons that may be passed now."""
        found: dict[int, frozenset[str]] = {}
        for permit in self.permits:
            if within(None, permit.until):
                found[permit.section] = found.get(permit.section, frozenset()) | permit.waives
        return found


def within(since: datetime | None, until: datetime | None) -> bool:
    """Whether now is between two moments; None is no limit, the end is excluded."""
    now = datetime.now(UTC)
    return (since is None or since <= now) and (until is None or now < until)


def profile(student_id: int) -> Profile:
    """The student's profile, at most 2 s behind, more only while PostgreSQL is away.

    Raises LookupError where there is no such student.
    """
    changes.look()
    return _profiles.get(student_id)


def read(student_id: int) -> Profile:
    """The student's profile as it is now; raises LookupError where there is none."""
    with transaction() as session:
        found = next(facts(session, Student.id == student_id), None)
    if found is None:
        raise LookupError(f"student {student_id}")
    return _profile(found)


def read_all(session: Session, students: Iterable[int]) -> dict[int, Profile]:
    """The profiles of those students as they are now; who is not there has none."""
    found = facts(session, Student.id.in_(list(students)))
    return {each["student"]: _profile(each) for each in found}


def preload() -> None:
    """Read profiles, so that a rush finds them."""
    changes.preload(_profiles, _batch)


def known() -> int:
    """How many profiles this process holds."""
    return len(_profiles)


def most() -> int:
    """How many profiles a process can hold."""
    return _profiles.size


def _batch(after: int) -> dict[int, Profile]:
    with transaction() as session:
        found = facts(session, Student.id > after, limit=changes.BATCH)
        return {each["student"]: _profile(each) for each in found}


def _profile(found: Facts) -> Profile:
    subjects, permits = found.pop("subjects") or (), found.pop("overrides") or ()
    return Profile(
        **found
        | {
            "completed": frozenset(map(intern, found["completed"] or ())),
            "holds": tuple(_hold(*hold) for hold in found["holds"] or ()),
            "lists": frozenset(found["lists"] or ()),
        },
        majors=_named(subjects, "major"),
        minors=_named(subjects, "minor"),
        fields=tuple(sorted({name for _, _, name in subjects})),
        permits=tuple(_permit(*permit) for permit in permits),
    )


def _named(subjects: Iterable[list[str]], kind: str) -> frozenset[str]:
    return frozenset(word for each, code, name in subjects if each == kind for word in (code, name))


def _hold(
    kind: str, reason: str, office: str, since: float | None, until: float | None
) -> HoldView:
    return HoldView(kind, reason, office, _moment(since), _moment(until))


def _permit(section: int, waives: list[str], until: float | None) -> Permit:
    return Permit(section, frozenset(waives), _moment(until))


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _read_many(students: Collection[int]) -> dict[int, Profile]:
    with transaction() as session:
        return read_all(session, students)


_profiles = changes.keep("student", read, _read_many)
