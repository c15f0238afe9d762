"""Tables of exports, which are kept for a day."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, LargeBinary, func
from sqlalchemy.orm import Mapped, mapped_column

from portal.core.db import Base


class Export(Base):
    """A requested export; `size` is null until it is made."""

    __tablename__ = "exports"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    asked_at: Mapped[datetime] = mapped_column(server_default=func.now(), index=True)
    size: Mapped[int | None] = mapped_column(BigInteger)  # bytes
    failed: Mapped[bool] = mapped_column(default=False)

    @property
    def state(self) -> str:
        """Return whether it is there."""
        if self.size is not None:
            return "done"
        return "failed" if self.failed else "waiting"


class ExportPart(Base):
    """A piece of the file."""

    __tablename__ = "export_parts"

    export_id: Mapped[int] = mapped_column(ForeignKey("exports.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)
