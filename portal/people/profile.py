"""What the rules need to know of a student, read at once and kept until it changes."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from sys import intern
from time import monotonic

from sqlalchemy.exc import SQLAlchemyError

from portal.db import transaction
from portal.people import changes
from portal.people.models import Student
from portal.people.profile_query import Facts, facts

BATCH = 500  # students a statement, when many are read
WARM_SECONDS = 5.0


@dataclass(frozen=True)
class HoldView:
    """A hold that has not been lifted."""

    kind: str
    reason: str
    office: str


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

    @property
    def overrides(self) -> Mapping[int, frozenset[str]]:
        """By section, the codes of the reasons that may be passed now."""
        found: dict[int, frozenset[str]] = {}
        for permit in self.permits:
            if permit.until is None or datetime.now(UTC) < permit.until:
                found[permit.section] = found.get(permit.section, frozenset()) | permit.waives
        return found


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


def preload() -> None:
    """Read profiles, as many as fit and can be in a few seconds, so that a rush finds them."""
    ends, last = monotonic() + WARM_SECONDS, 0
    with suppress(SQLAlchemyError):
        changes.look()
        for _ in range(_profiles.size // BATCH):
            batch = _profiles.fill(partial(_batch, last))
            if len(batch) < BATCH or monotonic() > ends:
                return
            last = max(batch)


def _batch(after: int) -> dict[int, Profile]:
    with transaction() as session:
        found = facts(session, Student.id > after, limit=BATCH)
        return {each["student"]: _profile(each) for each in found}


def _profile(found: Facts) -> Profile:
    subjects, permits = found.pop("subjects") or (), found.pop("overrides") or ()
    return Profile(
        **found
        | {
            "completed": frozenset(map(intern, found["completed"] or ())),
            "holds": tuple(HoldView(*hold) for hold in found["holds"] or ()),
        },
        majors=_named(subjects, "major"),
        minors=_named(subjects, "minor"),
        fields=tuple(sorted({name for _, _, name in subjects})),
        permits=tuple(_permit(*permit) for permit in permits),
    )


def _named(subjects: Iterable[list[str]], kind: str) -> frozenset[str]:
    return frozenset(word for each, code, name in subjects if each == kind for word in (code, name))


def _permit(section: int, waives: list[str], until: float | None) -> Permit:
    ends = None if until is None else datetime.fromtimestamp(until, UTC)
    return Permit(section, frozenset(waives), ends)


_profiles = changes.keep("student", read)
