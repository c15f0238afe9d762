"""Tables of imports: files, rows, changes and notes, and the options of an import."""

from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Identity, Index, LargeBinary, String, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from portal.core.db import Base

BUSY = ("waiting", "reading", "approved", "applying", "enrolling")


class Import(Base):
    """One import.

    `state`: waiting, reading, columns (an admin must say what they mean), ready (for review),
    approved, applying, enrolling (only enrollments are left); done, failed, discarded.
    """

    __tablename__ = "imports"

    id: Mapped[int] = mapped_column(primary_key=True)
    # Null = begun at the command line.
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    name: Mapped[str] = mapped_column(String(200))
    sha256: Mapped[str] = mapped_column(String(64))
    options: Mapped[dict[str, Any]]
    state: Mapped[str] = mapped_column(String(12))
    # True in a state of BUSY, else null. Two imports at once would compare with each other.
    busy: Mapped[bool | None] = mapped_column(unique=True)
    error: Mapped[str] = mapped_column(default="")
    # Attempts by workers since the last progress.
    tries: Mapped[int] = mapped_column(default=0, server_default="0")
    # By kind of record: how many are added, restored, changed, removed and unchanged.
    counts: Mapped[dict[str, dict[str, int]]] = mapped_column(JSONB, default=dict)
    notes: Mapped[dict[str, int]] = mapped_column(JSONB, default=dict)  # by kind: how many
    digest: Mapped[str] = mapped_column(String(32), default="")  # of all changes
    made_at: Mapped[datetime] = mapped_column(server_default=func.now())
    moved_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime]


class ImportPart(Base):
    """A piece of a sent file."""

    __tablename__ = "import_parts"

    import_id: Mapped[int] = mapped_column(ForeignKey("imports.id"), primary_key=True)
    name: Mapped[str] = mapped_column(String(200), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)


class ImportTable(Base):
    """A table of the files as it was found: what its columns hold, to choose what they mean."""

    __tablename__ = "import_tables"

    import_id: Mapped[int] = mapped_column(ForeignKey("imports.id"), primary_key=True)
    file: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]  # a key of HEADINGS
    headings: Mapped[list[str]] = mapped_column(JSONB)
    samples: Mapped[list[list[str]]] = mapped_column(JSONB)  # by column, the first values
    needed: Mapped[list[str]] = mapped_column(JSONB)  # columns that it must have


# By table, each heading with the column that it means; blank if the column is left out.
Meanings = dict[str, list[list[str]]]


class ColumnMapping(Base):
    """What the columns of files mean, saved under a name for files with the same headings."""

    __tablename__ = "column_mappings"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(60), unique=True)
    meanings: Mapped[Meanings] = mapped_column(JSONB)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    saved_at: Mapped[datetime] = mapped_column(server_default=func.now())


class ImportRow(Base):
    """A record as the files have it: its key and the fields that they know."""

    __tablename__ = "import_rows"
    __table_args__ = (Index("ix_import_rows_key", "import_id", "kind", "key"),)

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    import_id: Mapped[int] = mapped_column(ForeignKey("imports.id"))
    kind: Mapped[str] = mapped_column(String(12))
    key: Mapped[str]
    fields: Mapped[dict[str, Any]]
    removes: Mapped[bool]
    exported: Mapped[bool] = mapped_column(server_default="false")  # by the portal
    file: Mapped[str]
    line: Mapped[int]  # 0 = derived from other rows
    # Of the addition and the removal of a move: the id of the other row.
    pair: Mapped[int | None] = mapped_column(BigInteger)


class ImportChange(Base):
    """A change that an import would make: added, restored, changed or removed."""

    __tablename__ = "import_changes"

    import_id: Mapped[int] = mapped_column(ForeignKey("imports.id"), primary_key=True)
    kind: Mapped[str] = mapped_column(String(12), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    change: Mapped[str] = mapped_column(String(8))
    before: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    after: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))


class ImportNote(Base):
    """A line of an import's report: see report.Note."""

    __tablename__ = "import_notes"

    import_id: Mapped[int] = mapped_column(ForeignKey("imports.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(24))
    file: Mapped[str]
    line: Mapped[int]
    key: Mapped[str]
    column: Mapped[str]
    value: Mapped[str]
    detail: Mapped[str]


class SourcedId(Base):
    """The ID of a record in OneRoster files; `key` names the record.

    Those of kind `term` are codes of terms in the files of semesters.
    """

    __tablename__ = "sourced_ids"
    __table_args__ = (Index("ix_sourced_ids_key", "kind", "key"),)

    kind: Mapped[str] = mapped_column(String(12), primary_key=True)
    sourced_id: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str]
    modified: Mapped[str | None]  # as in the file


class ImportedRecord(Base):
    """The fields of a section or course as an import last wrote them; of a teaching, none."""

    __tablename__ = "imported_records"

    kind: Mapped[str] = mapped_column(String(12), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    fields: Mapped[dict[str, Any]]
    copied: Mapped[bool] = mapped_column(server_default="false")  # and named by no file


class SectionImport(Base):
    """What an import changed in a section: by field, the values before and after."""

    __tablename__ = "section_imports"

    section_id: Mapped[int] = mapped_column(ForeignKey("sections.id"), primary_key=True)
    import_id: Mapped[int] = mapped_column(ForeignKey("imports.id"), primary_key=True)
    change: Mapped[str] = mapped_column(String(8))
    fields: Mapped[dict[str, Any]]
    at: Mapped[datetime] = mapped_column(server_default=func.now())


LAYOUTS = ("semester", "oneroster")


@dataclass(frozen=True)
class Options:
    layout: str = "semester"
    term: str = ""  # of a semester: its name
    update: bool = False  # whether the term may exist already
    past: bool = False  # enroll students past all rules and capacity
    leave_out: bool = False  # apply the rest if enrollments are refused
    remove: bool = False  # remove records that are missing from the files
    overwrite: bool = False  # replace what admins edited since the last import
    cancels: bool = False  # whether an admin has confirmed that sections are canceled
    erase: bool = False  # blank cells and missing rows erase what the portal has
    waitlist: int = 10  # length if the files give none
    credit_limit: int = 21  # of a new term
    starts: date | None = None  # dates of the term, if meetings have none
    ends: date | None = None
    mapping: str = ""  # the name of the saved column mapping that `columns` is from
    columns: Meanings = field(default_factory=dict)  # of files with unknown headings

    @property
    def people(self) -> bool:
        """Return whether the files have accounts and students, and IDs for them."""
        return self.layout != "semester"

    def as_json(self) -> dict[str, Any]:
        return {
            name: value.isoformat() if isinstance(value, date) else value
            for name, value in asdict(self).items()
        }

    @classmethod
    def read(cls, stored: dict[str, Any]) -> "Options":
        days = {
            name: stored[name] and date.fromisoformat(stored[name]) for name in ("starts", "ends")
        }
        return cls(**(stored | days))
