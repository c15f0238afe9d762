"""How far PostgreSQL is behind the ledger, by the decisions about students that it has recorded."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.orm import Session

from portal.recorder.fact import IMPORT

LOOKED_AT = 1000  # the latest events of each term
LATELY = "15 minutes"

# By the primary key from its end, so it costs the same however long the log is. Of the events
# those that are `Fact.awaited`.
LAGS = text(f"""
    SELECT count(*) AS events, percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (
        ORDER BY greatest(0, extract(epoch FROM recorded_at - occurred_at))
    ) AS lags
    FROM unnest(CAST(:terms AS integer[])) AS term, LATERAL (
        SELECT occurred_at, recorded_at, student_id, context FROM events
        WHERE term_id = term ORDER BY seq DESC LIMIT {LOOKED_AT}
    ) AS latest
    WHERE occurred_at > now() - interval '{LATELY}' AND student_id IS NOT NULL
      AND NOT starts_with(coalesce(context ->> 'correlation', ''), :imported)
""")  # noqa: S608 - constants


@dataclass(frozen=True)
class Lag:
    """Seconds from a decision about a student until it was recorded, of so many of them."""

    events: int
    p50: float
    p95: float
    p99: float


def lag(session: Session, terms: Sequence[int]) -> Lag | None:
    """The lag of what was decided lately in the terms; None where nothing was.

    By two clocks, the ledger's and PostgreSQL's, so no finer than they agree.
    """
    found = session.execute(LAGS, {"terms": list(terms), "imported": IMPORT}).one()
    return Lag(found.events, *map(float, found.lags)) if found.events else None
