"""Students of the journal whom PostgreSQL does not know, as after an old copy of it came back."""

from collections.abc import Sequence

from sqlalchemy import select

from portal.core.db import transaction
from portal.people.models import Student
from portal.recorder.fact import Fact
from portal.recorder.project import UnknownEvent

NAMED = 10  # students in a message


class Strangers(UnknownEvent):
    """Events about students whom PostgreSQL does not know: they must not be skipped."""

    def __init__(self, seq: int, students: Sequence[int]) -> None:
        some = ", ".join(str(each) for each in students[:NAMED])
        more = f" and {len(students) - NAMED} more" if len(students) > NAMED else ""
        super().__init__(
            f"from event {seq} on the journal names students whom PostgreSQL does not know"
            f" (ids {some}{more}). Was an older copy of PostgreSQL brought back? Bring a newer one"
            " back, or their rows of the tables accounts and students, with the same ids; then"
            " call it again"
        )


def find(facts: Sequence[Fact]) -> Strangers | None:
    """Those whom the facts name; None where PostgreSQL knows everybody."""
    named = {int(fact.payload["student"]): fact.seq for fact in reversed(facts) if _about(fact)}
    with transaction() as session:
        known = session.scalars(select(Student.id).where(Student.id.in_(named)))
        unknown = {each: named[each] for each in named.keys() - set(known)}
    return Strangers(min(unknown.values()), sorted(unknown)) if unknown else None


def _about(fact: Fact) -> bool:
    return "student" in fact.payload and fact.name != "refused"
