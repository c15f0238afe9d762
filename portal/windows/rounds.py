"""Allocation rounds: made, edited, announced and moved by the registrar.

A round is a window without a race. While it takes ballots, no window may be open for its students.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from secrets import token_hex
from typing import Any

from sqlalchemy import exists, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.models import Term
from portal.core.audit_trail import add_audit_entry
from portal.core.db import ChangedMeanwhile, transaction
from portal.core.errors import Refused
from portal.core.i18n import _, _l
from portal.core.moments import milliseconds, moment
from portal.core.queue import enqueue
from portal.people.models import Student
from portal.windows import drand
from portal.windows.cohorts import Cohort, in_cohort_clause, with_student_list
from portal.windows.models import Round

STATES = {
    "draft": _l("Draft"),
    "open": _l("Announced"),
    "closed": _l("Ended, ballots fixed"),
    "computed": _l("Computed"),
    "published": _l("Published, seats are being given"),
    "applied": _l("Published"),
    "canceled": _l("Canceled"),
}
DAY = 24 * 60 * 60 * 1000  # ms
MAJOR = "major"  # the priority of students of the section's subject
MECHANISMS = {
    "draft": _l("In turns"),
    "serial": _l("One student after another"),
    "deferred": _l("By the priorities of sections"),
}


REFUSED = {
    "name_taken": _l("Another round of this term has this name. Choose another name."),
    "ended": _l("The end is in the past."),
    "order": _l("The end must be after the start."),
    "window": _l(
        "A window is open for some of the same students at that time. Choose other times or"
        " students, or move the window."
    ),
    "round": _l(
        "Another round takes ballots of some of the same students at that time. Choose other times"
        " or students."
    ),
    "public": _l(
        "The round must end before the moment from which the public value is known. Otherwise"
        " someone could choose a ballot that suits it."
    ),
    "drand": drand.REFUSED,
    "archived": _l("The term is archived. Bring it back first."),
    "hurry": _l("An earlier end must be at least 24 hours away."),
    "early": _l("The public value can’t be known yet. Enter it from the moment that is shown."),
    "state": _l("You can’t do this any more: the round has moved to its next stage."),
}


class RoundRefused(Refused):
    """A change to a round that is not possible."""

    texts = REFUSED


@dataclass(frozen=True)
class RoundDetails:
    """What the registrar sets; times in ms, credits in hundredths."""

    name: str
    cohort: Cohort
    begins: int
    ends: int
    mechanism: str
    priorities: tuple[str, ...]
    reserves: str
    tickets: int
    most_courses: int
    most_credits: int
    public_source: str
    public_at: int

    @property
    def columns(self) -> dict[str, Any]:
        values = {**vars(self), "priorities": list(self.priorities)}
        begins, ends = values.pop("begins"), values.pop("ends")
        times = {"begins_at": begins, "ends_at": ends, "public_at": self.public_at}
        return {**values, **{name: moment(at) for name, at in times.items()}}


def details(found: Round) -> RoundDetails:
    """Return what the registrar has set."""
    names = ("name", "cohort", "mechanism", "reserves", "tickets", "most_courses", "most_credits")
    return RoundDetails(
        begins=milliseconds(found.begins_at),
        ends=milliseconds(found.ends_at),
        priorities=tuple(found.priorities),
        public_source=found.public_source,
        public_at=milliseconds(found.public_at),
        **{name: getattr(found, name) for name in names},
    )


def priorities(found: Round) -> str:
    """Return the priorities of a round in words, the first one first."""
    return "; ".join(
        _("majors of the section’s subject") if each == MAJOR else each.partition(" ")[2]
        for each in found.priorities
    )


def commitment(found: Round) -> str:
    """Return the SHA-256 of the secret, which is published before the end."""
    return sha256(found.secret.encode()).hexdigest()


def of_term(term: int) -> list[Round]:
    """Return the rounds of a term, by their begin."""
    with transaction() as session:
        query = select(Round).where(Round.term_id == term).order_by(Round.begins_at, Round.id)
        return list(session.scalars(query))


def find(term: int, number: int) -> Round | None:
    with transaction() as session:
        found = session.get(Round, number)
    return found if found and found.term_id == term else None


def read(number: int) -> Round:
    """Return a round as it is now."""
    with transaction() as session:
        return session.get_one(Round, number)


def database_now() -> int:
    """Return PostgreSQL's time (ms), which decides if a ballot or a change comes in time."""
    with transaction() as session:
        return milliseconds(_now(session))


def create(term: int, wanted: RoundDetails, key: str, by: int, reason: str) -> int:
    """Store a new draft and return its id; the same key gives the same round.

    Raise RoundRefused.
    """
    _check_source(wanted)
    cohort = with_student_list(wanted.cohort)
    try:
        with transaction() as session:
            secrets = {"secret": token_hex(32), "code_key": token_hex(32)}
            made = Round(term_id=term, state="draft", key=key, **secrets)
            for name, value in (wanted.columns | {"cohort": cohort}).items():
                setattr(made, name, value)
            session.add(made)
            session.flush()
            record(session, "round.create", made, by, reason, None)
            return made.id
    except IntegrityError as error:
        with transaction() as session:
            if same := session.scalar(select(Round.id).where(Round.key == key)):
                return same
        raise RoundRefused("name_taken") from error


def edit(number: int, version: int, wanted: RoundDetails, by: int, reason: str) -> None:
    """Change a draft of that version. Raise RoundRefused or ChangedMeanwhile."""
    _check_source(wanted)
    cohort = with_student_list(wanted.cohort)
    try:
        with transaction() as session:
            found = locked(session, number, version)
            if found.state != "draft":
                raise RoundRefused("state")
            before = facts(found)
            for name, value in (wanted.columns | {"cohort": cohort}).items():
                setattr(found, name, value)
            record(session, "round.edit", found, by, reason, before)
            session.flush()
    except IntegrityError as error:
        raise RoundRefused("name_taken") from error


def announce(number: int, version: int, by: int, reason: str) -> None:
    """Show a draft to its students; its settings are fixed from then on. Raise RoundRefused."""
    with transaction() as session:
        found = locked(session, number, version)
        if found.state != "draft":
            raise RoundRefused("state")
        lock_term(session, found.term_id)
        if session.scalar(select(Term.state).where(Term.id == found.term_id)) == "archived":
            raise RoundRefused("archived")
        _check_times(session, found)
        _check_source(details(found))
        before, found.state, found.announced = facts(found), "open", True
        record(session, "round.announce", found, by, reason, before)
        session.flush()
        _tell_ledger(found)


def move_end(  # noqa: PLR0913, PLR0917  the parts of a change
    number: int,
    version: int,
    ends: int,
    by: int,
    reason: str,
    notify: Callable[[Session, Round], None],
) -> None:
    """Let an announced round that has not ended end at another time (ms), and `notify` of it.

    An earlier end must be a day away, so that students read of it. Raise RoundRefused.
    """
    with transaction() as session:
        found = locked(session, number, version)
        if found.state != "open":
            raise RoundRefused("state")
        if is_over(session, found):
            raise RoundRefused("ended")
        lock_term(session, found.term_id)
        before, found.ends_at = facts(found), moment(ends)
        _check_times(session, found)
        if ends < before["ends"] and ends < milliseconds(_now(session)) + DAY:
            raise RoundRefused("hurry")
        record(session, "round.move", found, by, reason, before)
        notify(session, found)
        session.flush()
        _tell_ledger(found)


def _tell_ledger(found: Round) -> None:
    """Let the ledger hold back the term's seats from the end on, until the sections are known.

    The last step of a transaction, though one that fails does no lasting harm: the ledger holds
    the term back for a quarter of an hour at most.
    """
    change = backend().ledger.put_round_end(found.term_id, found.id, milliseconds(found.ends_at))
    enqueue(found.term_id, change.wake)


def facts(found: Round) -> dict[str, Any]:
    """Return a round as the audit trail stores it; the commitment must never change."""
    known = details(found)
    return {
        **vars(known),
        "opens": known.begins,
        "closes": known.ends,
        "priorities": list(known.priorities),
        "state": found.state,
        "commitment": commitment(found),
    }


def lock_term(session: Session, term: int) -> None:
    """Wait for others who schedule windows or rounds of the term, until the transaction ends."""
    session.execute(select(Term.id).where(Term.id == term).with_for_update(key_share=True))


def in_the_way(  # noqa: PLR0913, PLR0917  what is compared
    session: Session, term: int, opens: int, closes: int, cohort: Cohort, but: int = 0
) -> bool:
    """Return whether a round of the term, `but` for one, takes ballots of the same students then.

    Times are in ms.
    """
    rounds = session.scalars(
        select(Round).where(
            Round.term_id == term,
            Round.id != but,
            Round.state == "open",
            Round.begins_at < moment(closes),
            Round.ends_at > moment(opens),
        )
    ).all()
    return any(_share_students(session, each.cohort, cohort) for each in rounds)


def _check_times(session: Session, found: Round) -> None:
    """Raise RoundRefused if the round has ended, or a window is open for its students then."""
    if is_over(session, found):
        raise RoundRefused("ended")
    begins, ends = milliseconds(found.begins_at), milliseconds(found.ends_at)
    if ends <= begins:
        raise RoundRefused("order")
    _check_public(ends, milliseconds(found.public_at))
    if in_the_way(session, found.term_id, begins, ends, found.cohort, but=found.id):
        raise RoundRefused("round")
    now = backend().ledger.now()
    for window in backend().ledger.windows(found.term_id):
        overlaps = max(begins, window.opens, now) < min(ends, window.closes)
        live = window.state == "scheduled"
        if live and overlaps and _share_students(session, window.cohort, found.cohort):
            raise RoundRefused("window")


def _check_public(ends: int, public_at: int) -> None:
    """Raise RoundRefused if the public value may be known before the ballots are fixed."""
    if ends >= public_at:
        raise RoundRefused("public")


def _check_source(wanted: RoundDetails) -> None:
    """Raise RoundRefused if the source is known too early, as far as the portal can tell."""
    _check_public(wanted.ends, wanted.public_at)
    if not drand.suits(wanted.public_source, wanted.public_at):
        raise RoundRefused("drand")


def may_be_known(session: Session, public_at: datetime) -> bool:
    """Return whether a public value may be known by now, by PostgreSQL's clock."""
    return _now(session) >= public_at


def normal_value(text: str) -> str:
    """Return a public value in the one spelling that is stored."""
    return " ".join(text.split()).lower()


def stuck(session: Session, terms: Sequence[int]) -> list[Round]:
    """Return the ended rounds of these terms that hold seats back and can't go on by themselves.

    Their ballots were not fixed in time, or are not those that were fixed (`altered`).
    """
    late = Round.root.is_(None) & (Round.public_at <= func.clock_timestamp())
    query = select(Round).where(Round.term_id.in_(terms), Round.state == "closed")
    return list(session.scalars(query.where(late | Round.altered).order_by(Round.id)))


def is_over(session: Session, found: Round) -> bool:
    """Return whether the end of a round has passed, by PostgreSQL's clock."""
    return _now(session) >= found.ends_at


def _now(session: Session) -> datetime:
    found: datetime = session.scalars(select(func.clock_timestamp())).one()
    return found


def _share_students(session: Session, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    query = exists().where(
        Student.deleted_at.is_(None), in_cohort_clause(dict(one)), in_cohort_clause(dict(other))
    )
    return bool(session.scalar(select(query)))


def locked(session: Session, number: int, version: int | None = None) -> Round:
    """Return the round, locked until the transaction ends.

    For a change of a version that someone saw: raise ChangedMeanwhile if it is another by now.
    """
    found = session.get_one(Round, number, with_for_update=True)
    if version is not None:
        if found.version != version:
            raise ChangedMeanwhile
        found.version += 1
    return found


def record(  # noqa: PLR0913, PLR0917  the parts of an entry
    session: Session,
    action: str,
    found: Round,
    by: int | None,
    reason: str,
    before: dict[str, Any] | None,
    **more: str | int,
) -> None:
    """Add an audit entry about a round."""
    add_audit_entry(
        session,
        action,
        f"term:{found.term_id} round:{found.id}",
        by=by,
        before=before,
        after=facts(found) | more,
        reason=reason,
    )
