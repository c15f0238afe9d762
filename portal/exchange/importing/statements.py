"""The statements of an import, in `sql/`: what is here, and what makes changes true.

`records/` gives keys and fields of every kind: credits are hundredths, a meeting is a list of kind,
days, times, dates, room and whether it can clash. `puts/` write what the table `these` holds, and
the first statement of each exactly so many rows; `removals/` let go of what `gone` holds.
"""

from functools import cache
from pathlib import Path

SQL = Path(__file__).parent / "sql"
# In this order nothing refers to what is not there yet.
KINDS = (
    *("department", "subject", "course", "term", "account", "student", "teacher"),
    *("pool", "section", "teaching", "enrollment", "source"),
)


@cache
def statements(name: str) -> tuple[str, ...]:
    """The statements of a file such as `puts/section`; none where there is no such file."""
    path = SQL / f"{name}.sql"
    if not path.exists():
        return ()
    return tuple(each for each in path.read_text("utf-8").split(";\n") if each.strip())
