"""What a round gathers and finds: ballots, joint choices, files and trials."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, LargeBinary, String, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from portal.core.db import Base


class BallotRow(Base):
    """A student's ballot: the packed choices of the plan, and limits.

    `most_credits` is in hundredths. `code` finds the ballot in the published file. `refused` has
    the reasons against each alternative, from the freezing. `result` has what came of it, and
    `given` what the ledger did: by choice and alternative, such as "0-1".
    """

    __tablename__ = "ballots"
    __table_args__ = (UniqueConstraint("code"),)

    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), primary_key=True)
    student_id: Mapped[int] = mapped_column(ForeignKey("students.id"), primary_key=True, index=True)
    code: Mapped[str] = mapped_column(String(120))
    lines: Mapped[list[Any]] = mapped_column(JSONB)
    most_courses: Mapped[int]
    most_credits: Mapped[int]
    changes: Mapped[int]
    changed_at: Mapped[datetime]
    refused: Mapped[list[Any] | None] = mapped_column(JSONB(none_as_null=True))
    result: Mapped[list[Any] | None] = mapped_column(JSONB(none_as_null=True))
    given: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    unmet_first: Mapped[bool | None]


class JointChoice(Base):
    """Sections that students rank together: `numbers` are those of all who were named."""

    __tablename__ = "joint_choices"

    id: Mapped[int] = mapped_column(primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), index=True)
    made_by: Mapped[int] = mapped_column(ForeignKey("students.id"))
    sections: Mapped[list[int]] = mapped_column(JSONB)
    numbers: Mapped[list[str]] = mapped_column(JSONB)


class JointMember(Base):
    """A student of a joint choice, and whether they have agreed to it."""

    __tablename__ = "joint_members"

    joint_id: Mapped[int] = mapped_column(ForeignKey("joint_choices.id"), primary_key=True)
    student_id: Mapped[int] = mapped_column(ForeignKey("students.id"), primary_key=True, index=True)
    agreed: Mapped[bool]


class RoundFile(Base):
    """A file of a round, compressed, written once.

    It is the `problem`, the `published` result, or the `reserves` under which seats were given.
    """

    __tablename__ = "round_files"

    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), primary_key=True)
    kind: Mapped[str] = mapped_column(String(12), primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)


class RoundTrial(Base):
    """A comparison of the mechanisms on the ballots at one time; `measures` is None until made."""

    __tablename__ = "round_trials"

    id: Mapped[int] = mapped_column(primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), index=True)
    made_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    ballots: Mapped[int | None]
    measures: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
