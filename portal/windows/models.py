"""Selection windows as last recorded, where the ledger decides; and allocation rounds."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Sequence, String, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from portal.core.db import Base

window_ids = Sequence("window_ids", metadata=Base.metadata)


class Window(Base):
    """A window, written by the recorder alone; `state`: scheduled, canceled or closed (early)."""

    __tablename__ = "windows"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), index=True)
    name: Mapped[str] = mapped_column(String(120))
    opens_at: Mapped[datetime]
    closes_at: Mapped[datetime]
    state: Mapped[str] = mapped_column(String(12))
    # Empty = everyone; otherwise a student must match every entry.
    cohort: Mapped[dict[str, Any]]
    seq: Mapped[int] = mapped_column(BigInteger)


class Round(Base):
    """An allocation round; `state` is one of `rounds.STATES`.

    `priorities` are cohorts, the first one first: `major` (of the section's subject), or a year or
    level such as `year Senior`. `most_credits` is in hundredths. `reserves` says what becomes of
    reserved seats: `given` in the round, or `kept` for later. `key` is that of the form that made
    the round. `root` and `ballots` are set when the ballots are frozen. Students see a round once
    it is `announced`, also if it is canceled later. From `public_at` on, the public value may be
    known. Ballot codes are made with `code_key`, which is never published. `altered` says that the
    stored ballots, settings or secret are not those that were fixed. The ballots and the file with
    the result are deleted at `erased_at`.
    """

    __tablename__ = "rounds"
    __table_args__ = (UniqueConstraint("term_id", "name"), UniqueConstraint("key"))

    id: Mapped[int] = mapped_column(primary_key=True)
    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"))
    name: Mapped[str] = mapped_column(String(120))
    cohort: Mapped[dict[str, Any]]
    begins_at: Mapped[datetime]
    ends_at: Mapped[datetime]
    mechanism: Mapped[str] = mapped_column(String(12))
    priorities: Mapped[list[str]] = mapped_column(JSONB)
    reserves: Mapped[str] = mapped_column(String(8))
    tickets: Mapped[int]
    most_courses: Mapped[int]
    most_credits: Mapped[int]
    public_source: Mapped[str] = mapped_column(String(300))
    public_at: Mapped[datetime]
    state: Mapped[str] = mapped_column(String(12))
    announced: Mapped[bool] = mapped_column(default=False)
    version: Mapped[int] = mapped_column(default=1)
    key: Mapped[str] = mapped_column(String(64))
    secret: Mapped[str] = mapped_column(String(64))
    code_key: Mapped[str] = mapped_column(String(64))
    root: Mapped[str | None] = mapped_column(String(64))
    ballots: Mapped[int | None]
    public_value: Mapped[str | None] = mapped_column(String(300))
    applied: Mapped[int] = mapped_column(default=0)  # moves that the ledger has done
    # Whether it is the round of the term that holds seats back, and whether the ledger knows which.
    held: Mapped[bool] = mapped_column(default=False)
    hold_stored: Mapped[bool] = mapped_column(default=False)
    altered: Mapped[bool] = mapped_column(default=False)
    erased_at: Mapped[datetime | None]
