"""What is wrong with a term, sorted by what mends it, and events brought back from a backup."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import text
from sqlalchemy.orm import Session

from portal.recorder.differences import Difference

AT_ONCE = 1000  # events a statement
OF_LEDGER = ("ledger", "journal")
OF_SEATS = {"ledger roster": "enrollments", "ledger windows": "windows"}

# What of a backup the log does not have, or has otherwise.
UNLIKE = """
    FROM json_populate_recordset(NULL::events, CAST(:rows AS json)) kept
    WHERE kept.term_id = :term
      AND kept.seq <= (SELECT seq FROM checkpoints WHERE term_id = :term)
      AND NOT EXISTS (
        SELECT FROM events known WHERE known.term_id = kept.term_id AND known.seq = kept.seq
        AND (known.name, known.version, known.aggregate, known.payload, known.context)
          = (kept.name, kept.version, kept.aggregate, kept.payload, kept.context)
        AND (known.occurred_at, known.student_id) IS NOT DISTINCT FROM
            (kept.occurred_at, kept.student_id))
"""


@dataclass(frozen=True)
class Cure:
    """What mends the differences of a term: `log` needs a backup, and comes before all else."""

    log: list[Difference] = field(default_factory=list)
    record: list[Difference] = field(default_factory=list)
    ledger: list[Difference] = field(default_factory=list)


def cure(differences: Iterable[Difference]) -> Cure:
    """Sort differences by what mends them.

    Where ledger and read models tell the same against the log, it is the log that was altered: they
    must not be made to follow it.
    """
    found, places = Cure(), {(each["where"], each["what"]) for each in differences}
    for each in differences:
        where, what = each["where"], each["what"]
        both = (OF_SEATS.get(where, ""), what.replace("window ", "id ")) in places
        if where == "event log" or both:
            found.log.append(each)
        elif where.startswith(OF_LEDGER):
            found.ledger.append(each)
        else:
            found.record.append(each)
    return found


def twice(first: Iterable[Difference], again: Iterable[Difference]) -> list[Difference]:
    """What differs both times: what differs but once was caught in the middle of a change."""
    known = set(map(_place, first))
    return [each for each in again if _place(each) in known]


def _place(difference: Difference) -> tuple[str, str]:
    where, what = difference["where"], difference["what"]
    return where, "" if where.startswith("journal") else what  # which tells how far it is by now


def unlike(session: Session, term: int, rows: list[str]) -> list[int]:
    """Which of the events, as lines of JSON, the log does not have or has otherwise."""
    found: list[int] = []
    for lines in _batches(rows):
        asked = {"term": term, "rows": lines}
        found += session.scalars(text(f"SELECT kept.seq {UNLIKE} ORDER BY 1"), asked)
    return found


def bring_back(session: Session, term: int, rows: list[str]) -> None:
    """Put those events into the log as they are told; needs a superuser of PostgreSQL."""
    session.execute(text("SET LOCAL session_replication_role = replica"))  # else it is append-only
    for lines in _batches(rows):
        session.execute(
            text(
                f"INSERT INTO events SELECT kept.* {UNLIKE}"
                " ON CONFLICT (term_id, seq) DO UPDATE SET name = excluded.name,"
                " version = excluded.version, aggregate = excluded.aggregate,"
                " student_id = excluded.student_id, payload = excluded.payload,"
                " context = excluded.context, occurred_at = excluded.occurred_at"
            ),
            {"term": term, "rows": lines},
        )


def _batches(rows: list[str]) -> Iterable[str]:
    for start in range(0, len(rows), AT_ONCE):
        yield f"[{','.join(rows[start : start + AT_ONCE])}]"
