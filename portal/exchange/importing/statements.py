"""The statements of an import, in `sql/`: what is here, and what makes changes true.

`records/` gives keys and fields of every kind: credits are hundredths, a meeting is a list of kind,
days, times, dates, room and whether it can clash. `puts/` write what the table `these` holds, and
the first statement of each exactly so many rows; `removals/` let go of what `gone` holds.
Fields of a section that stand as they are in a column are filled in from `catalog.section_fields`.
"""

from functools import cache
from pathlib import Path

from portal.catalog.section_fields import PLAIN

SQL = Path(__file__).parent / "sql"
# In this order nothing refers to what is not there yet.
KINDS = (
    *("department", "subject", "course", "term", "account", "student", "teacher"),
    *("pool", "section", "teaching", "enrollment", "source"),
)
# How a plain field of a section is read out of a record.
READ_AS = {
    "text": "coalesce(after ->> '{name}', {default})",
    "int": "coalesce((after ->> '{name}')::int, 0)",
    "jsonb": "nullif(after -> '{name}', 'null')",
}
DEFAULTS = {"number": "'01'", "title": "courses.title"}


@cache
def statements(name: str) -> tuple[str, ...]:
    """The statements of a file such as `puts/section`; none where there is no such file."""
    path = SQL / f"{name}.sql"
    if not path.exists():
        return ()
    text = path.read_text("utf-8")
    for token, written in _plain_fields().items():
        text = text.replace(token, written)
    return tuple(each for each in text.split(";\n") if each.strip())


@cache
def _plain_fields() -> dict[str, str]:
    """Return what the SQL of sections says of plain fields, by the token that stands for it."""
    values = [
        READ_AS[each.stored_as].format(name=each.name, default=DEFAULTS.get(each.name, "''"))
        for each in PLAIN
    ]
    return {
        "{plain_record}": ", ".join(f"'{each.name}', sections.{each.column}" for each in PLAIN),
        "{plain_columns}": ", ".join(each.column for each in PLAIN),
        "{plain_values}": ", ".join(values),
        "{plain_updates}": ", ".join(f"{each.column} = excluded.{each.column}" for each in PLAIN),
    }
