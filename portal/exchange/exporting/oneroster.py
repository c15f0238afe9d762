"""Everything as a OneRoster 1.2 zip, which imported again changes nothing."""

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from sqlalchemy import text
from sqlalchemy.orm import Session

from portal.core.db import Sessions, transaction
from portal.exchange.exporting import rows
from portal.exchange.importing.current import name
from portal.exchange.importing.oneroster.columns import COLUMNS, MORE
from portal.exchange.importing.statements import statements
from portal.exchange.importing.work import PATIENCE
from portal.spreadsheets import plain

Cells = dict[str, Any]
FILES: dict[str, Callable[[Session], Iterator[Cells]]] = {
    "orgs": rows.orgs,
    "academicSessions": rows.sessions,
    "courses": rows.courses,
    "classes": rows.classes,
    "users": rows.users,
    "roles": rows.roles,
    "enrollments": rows.enrollments,
}
# As the standard lists them: what is not here is absent.
ABSENT = (
    *("categories", "classResources", "courseResources", "demographics"),
    *("lineItemLearningObjectiveIds", "lineItems", "lineItemScoreScales", "resources"),
    *("resultLearningObjectiveIds", "results", "resultScoreScales", "scoreScales"),
    *("userProfiles", "userResources"),
)


def write_oneroster(out: BinaryIO) -> None:
    """Write the zip, all of it as of one moment."""
    with transaction() as session:  # so that nobody waits for many new names until the zip is made
        _remember(session)
    with transaction() as session:
        session.execute(text("ANALYZE sourced_ids"))
    with Sessions.begin() as session:
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        _remember(session)
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("manifest.csv", _manifest())
            for file, read in FILES.items():
                with packed.open(f"{file}.csv", "w") as entry:
                    _write(entry, [*COLUMNS[file].split(), MORE], read(session))


def _remember(session: Session) -> None:
    """Give a name to everything that has none yet."""
    session.execute(text(PATIENCE))
    name(session)
    session.execute(text("ANALYZE section_keys, teacher_keys"))
    for statement in statements("remember"):
        session.execute(text(statement))


def _write(entry: Any, columns: list[str], cells: Iterator[Cells]) -> None:
    with io.TextIOWrapper(entry, "utf-8", newline="") as written:
        writer = csv.writer(written)
        writer.writerow(columns)
        for each in cells:
            if more := each.get(MORE):
                each[MORE] = json.dumps(more, ensure_ascii=False, sort_keys=True)
            writer.writerow([plain(each.get(column) or "") for column in columns])


def _manifest() -> str:
    told = {"manifest.version": "1.0", "oneroster.version": "1.2"}
    modes = dict.fromkeys(FILES, "bulk") | dict.fromkeys(ABSENT, "absent")
    told |= {f"file.{file}": modes[file] for file in sorted(modes, key=str.lower)}
    told |= {"source.systemName": "Fairseat", "source.systemCode": "fairseat"}
    return "propertyName,value\r\n" + "".join(f"{each},{told[each]}\r\n" for each in told)
