"""Why nothing came of an import, or not all of it."""

import logging
import re
from typing import Any
from uuid import uuid4

from redis.exceptions import RedisError
from rq.timeouts import BaseTimeoutException
from sqlalchemy.exc import DataError, IntegrityError, InterfaceError, OperationalError

from portal.core.i18n import StoredMessageError, _k
from portal.exchange.importing.findings import RECORD_NAMES
from portal.ledger.errors import LedgerUnavailable


class ImportFailedError(StoredMessageError):
    """Nothing was imported; the message names file, line and column where there are any."""


class SeatsLeftError(StoredMessageError):
    """All of an import was applied but seats of students, which an admin must see to."""


# What stopped a worker amid an import that no check foresaw, as a reason to tell.

# What passes by itself: the clock calls a worker again.
TRANSIENT = (OperationalError, InterfaceError, RedisError, LedgerUnavailable)

# The kinds of records that fill a table of another name than theirs.
KIND_OF_TABLE = {
    "meetings": "section",
    "restrictions": "section",
    "cross_lists": "section",
    "section_teachers": "teaching",
    "student_subjects": "student",
    "completed_courses": "student",
    "sourced_ids": "source",
}
VALUE = re.compile(r"=\((.*)\) ", re.DOTALL)  # in what PostgreSQL says of a key
ADVICE = {
    "23503": _k(
        "%(what)s: something in the files refers to what is not there. Add that, or take the row"
        " away. The log has more under %(code)s."
    ),
    "23502": _k(
        "%(what)s: something in the files lacks what it can't be without. Look for blank fields."
        " The log has more under %(code)s."
    ),
    "23505": _k(
        "%(what)s: only one may have “%(value)s”, and the files give it to another. Was somebody"
        " else quicker? Then reading the files again helps; if not, mend the rows with it. The log"
        " has more under %(code)s."
    ),
}
OTHER_ADVICE = _k(
    "%(what)s: the database has no place for something in the files. Look for what is too long,"
    " too large or impossible there. The log has more under %(code)s."
)
ALL_FILES = _k("All files")
TOO_MANY_TRIES = _k(
    "%(count)s times a worker has begun with it, and was cut off each time: killed, or without"
    " PostgreSQL or the ledger. The logs of the workers say more. Mend that, and try again."
)

log = logging.getLogger("fairseat.imports")


def failure_of(error: Exception) -> ImportFailedError:
    """Why nothing came of the import; what is technical is logged under the code that it names."""
    if isinstance(error, ImportFailedError):
        return error
    code = uuid4().hex[:16]
    log.error("an import met something unexpected, %s", code, exc_info=error)
    match error:
        case BaseTimeoutException():
            return ImportFailedError(
                _k("It took too long: split the files, and import one by one.")
            )
        case OSError():
            return ImportFailedError(
                _k("The files could not be unpacked: %(why)s."), why=error.strerror or error
            )
    if isinstance(error, DataError | IntegrityError):
        return _clash(error.orig, code)
    return ImportFailedError(
        _k("Something unexpected stopped it. It is kept in the log under %(code)s."), code=code
    )


def _clash(refusal: Any, code: str) -> ImportFailedError:
    """What PostgreSQL refused, in the words of the page."""
    table = refusal.diag.table_name or ""
    what = RECORD_NAMES.get(KIND_OF_TABLE.get(table, table.removesuffix("s")), ALL_FILES)
    value = VALUE.search(refusal.diag.message_detail or "")
    text = ADVICE.get(refusal.pgcode, OTHER_ADVICE)
    return ImportFailedError(text, what=what, value=value[1][:80] if value else "?", code=code)
