"""What the files say, put aside in PostgreSQL record by record: no size fills the memory."""

import csv
import io
import json
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from portal.exchange.importing.tables import Row

BATCH = 5000  # records
COPY = (
    "COPY import_rows (import_id, kind, key, fields, removes, file, line)"
    " FROM STDIN WITH (FORMAT csv)"
)
PART = "\t"  # between the parts of a key; no part has one
NOWHERE = Row("", 0, {})  # where a record is from that follows from others


def key_of(*parts: str) -> str:
    """The key of a record that is named by several."""
    return PART.join(parts)


@dataclass
class Stage:
    """Takes the records of one import."""

    session: Session
    import_id: int
    # Kinds of which what the files don't name goes.
    unnamed: set[str] = field(default_factory=set)
    _waiting: list[tuple[object, ...]] = field(default_factory=list)

    def put(self, kind: str, key: str, fields: dict[str, Any], row: Row = NOWHERE) -> None:
        """Such a record is to be there, with these fields; others stay as they are."""
        self._add(kind, key, fields, row, removes=False)

    def remove(self, kind: str, key: str, fields: dict[str, Any], row: Row = NOWHERE) -> None:
        """Such a record is not to be there."""
        self._add(kind, key, fields, row, removes=True)

    def finish(self) -> None:
        """Write what still waits."""
        text = io.StringIO()
        csv.writer(text, quoting=csv.QUOTE_ALL).writerows(self._waiting)
        text.seek(0)
        connection: Any = self.session.connection().connection
        with connection.cursor() as cursor:
            cursor.copy_expert(COPY, text)
        self._waiting.clear()

    def _add(self, kind: str, key: str, fields: dict[str, Any], row: Row, *, removes: bool) -> None:
        told = json.dumps(fields)
        self._waiting.append((self.import_id, kind, key, told, removes, row.file, row.line))
        if len(self._waiting) >= BATCH:
            self.finish()
