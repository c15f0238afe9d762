"""Why an import failed, or stopped before all of it was applied."""

import logging
import re
from typing import Any
from uuid import uuid4

from psycopg2.errors import UniqueViolation
from redis.exceptions import RedisError
from rq.timeouts import BaseTimeoutException
from sqlalchemy.exc import DataError, IntegrityError, InterfaceError, OperationalError

from portal.core.i18n import StoredMessageError, _k
from portal.exchange.importing.findings import RECORD_NAMES
from portal.ledger.errors import LedgerUnavailable


class ImportFailedError(StoredMessageError):
    """Nothing was imported. The message names the file, line and column, if any."""


class ColumnsUnknownError(ImportFailedError):
    """A table has no column for something that it must have, or two for one thing."""


class SeatsLeftError(StoredMessageError):
    """All of an import was applied except enrollments, which need an admin."""


# Errors that pass: the scheduler tries again.
TRANSIENT = (OperationalError, InterfaceError, RedisError, LedgerUnavailable)

# Kinds of records by their tables, where the names differ.
KIND_OF_TABLE = {
    "meetings": "section",
    "restrictions": "section",
    "cross_lists": "section",
    "section_instructors": "teaching",
    "student_subjects": "student",
    "completed_courses": "student",
    "sourced_ids": "source",
}
VALUE = re.compile(r"=\((.*)\) ", re.DOTALL)  # in the detail of a PostgreSQL error
NOT_UNIQUE = _k(
    "%(what)s: “%(value)s” is already used by another record. Read the files again"
    " in case the data has changed, or correct the rows. See the log under"
    " %(code)s."
)
NOT_STORABLE = _k(
    "%(what)s: the database can’t store a value of the files. Look for values that are too"
    " long, too large or impossible. See the log under %(code)s."
)
TOO_MANY_TRIES = _k(
    "Workers started this import %(count)s times and were interrupted each time:"
    " killed, or cut off from PostgreSQL or the ledger. Check the worker logs, fix"
    " the cause and try again."
)

log = logging.getLogger("fairseat.imports")


def failure_of(error: Exception) -> ImportFailedError:
    """Return why an import failed. Technical details are logged under the code that it names."""
    if isinstance(error, ImportFailedError):
        return error
    code = uuid4().hex[:16]
    log.error("an import met something unexpected, %s", code, exc_info=error)
    match error:
        case BaseTimeoutException():
            return ImportFailedError(
                _k("The import took too long. Split the files and import them one by one.")
            )
        case OSError():
            return ImportFailedError(
                _k("The files could not be unpacked: %(why)s."), why=error.strerror or error
            )
        case DataError() | IntegrityError():
            return _refusal(error.orig, code)
    return ImportFailedError(
        _k("An unexpected error stopped the import. See the log under %(code)s."), code=code
    )


def _refusal(error: Any, code: str) -> ImportFailedError:
    """Explain what PostgreSQL refused."""
    table = error.diag.table_name or ""
    what = RECORD_NAMES.get(KIND_OF_TABLE.get(table, table.removesuffix("s")), _k("All files"))
    if isinstance(error, UniqueViolation):
        value = VALUE.search(error.diag.message_detail or "")
        shown = value[1][:80] if value else "?"
        return ImportFailedError(NOT_UNIQUE, what=what, value=shown, code=code)
    return ImportFailedError(NOT_STORABLE, what=what, code=code)
