"""How fair a window was: outcomes by cohort, by arrival, and by rate limits and captchas.

For each group: how many asked, got their first choice, and got any seat; how long that took, and
why they were refused.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from babel.numbers import format_percent

from portal.catalog import subjects
from portal.core.i18n import _, _l, current_locale
from portal.people import models
from portal.protection import evidence
from portal.recorder import waiting_rooms
from portal.reports.window_history import Attempts, WindowHistory
from portal.waiting_room import draw

Fairness = dict[str, Any]
Groups = dict[int, Iterable[str]]  # each student's groups

NONE = Attempts()
MINUTE = 60_000
LATE = ((1, "late:1"), (5, "late:5"), (15, "late:15"), (60, "late:60"))  # minutes after opening
TENTHS = 10


@dataclass(frozen=True)
class Arrivals:
    """The waiting room's data: early students in order, late arrivals, captchas and limits."""

    early: list[int]
    late: Mapping[int, int]
    ways: dict[int, str]
    limited: set[int]


def read_arrivals(found: WindowHistory) -> Arrivals:
    """Return the waiting room's data on a window's students.

    It comes from the event log. A room whose record is incomplete is read from the ledger.
    """
    recorded = waiting_rooms.arrivals(found.state, found.window)
    early, late = recorded or draw.arrivals(found.term, found.window)
    return Arrivals(early, late, evidence.proofs(), evidence.met_limits(found.opened))


def fairness(found: WindowHistory, known: Arrivals) -> Fairness:
    """Return the report as stored: a table for each way to divide the students."""
    members = found.members
    kinds: dict[str, Groups] = {
        "year": {student: (each.year,) for student, each in members.items()},
        "level": {student: (each.level,) for student, each in members.items()},
        "major": {student: each.majors or ("",) for student, each in members.items()},
        "arrival": _arrivals(found, known),
        "screen": {s: (known.ways.get(each.account, "none"),) for s, each in members.items()},
        "limits": {
            student: ("limited" if each.account in known.limited else "free",)
            for student, each in members.items()
        },
    }
    tables = {kind: _table(found, groups) for kind, groups in kinds.items()}
    return {
        "all": _row("", found.attempts, list(members)),
        "tables": tables,
        "bands": [
            {"band": band, "promoted": found.promoted[band], "first_come": found.first_come[band]}
            for band in sorted({*found.promoted, *found.first_come})
        ],
    }


def _arrivals(found: WindowHistory, known: Arrivals) -> Groups:
    """Return each student's group: tenth of the early queue, minutes after opening, or none."""
    groups: Groups = dict.fromkeys(found.members, ("away",))
    tenth = max(1, len(known.early)) / TENTHS
    for rank, student in enumerate(known.early):
        groups[student] = (f"early:{int(rank / tenth) + 1:02}",)
    for student, at in known.late.items():
        minutes = (at - found.opened) / MINUTE
        groups[student] = (next((name for most, name in LATE if minutes < most), "late:more"),)
    return {student: group for student, group in groups.items() if student in found.members}


def _table(found: WindowHistory, groups: Groups) -> list[dict[str, Any]]:
    students: dict[str, list[int]] = defaultdict(list)
    for student, names in groups.items():
        for name in names:
            students[name].append(student)
    return [_row(name, found.attempts, students[name]) for name in sorted(students)]


def _row(name: str, attempts: dict[int, Attempts], students: list[int]) -> dict[str, Any]:
    tried = [attempts.get(student, NONE) for student in students]
    first_attempts = [each for each in tried if each.first]
    waits = sorted(each.wait for each in first_attempts if each.wait is not None)
    reasons = Counter(code for each in tried for code in each.refusals)
    return {
        "name": name,
        "students": len(students),
        "asked": len(first_attempts),
        "got": len(waits),
        "seated": sum(1 for each in tried if each.seats),
        "half": _share(waits, 0.5),
        "most": _share(waits, 0.9),
        "reasons": dict(reasons.most_common()),
    }


def _share(waits: list[int], share: float) -> int | None:
    """Return the wait (ms) that this share of the waits does not exceed."""
    return waits[ceil(len(waits) * share) - 1] if waits else None


def promotions_by_band(stored: Fairness) -> list[dict[str, int]]:
    """Return who was promoted, and who would have been first come, first served, by band.

    It is blank if all were in one band, as without bands, and in reports of older versions.
    """
    rows: list[dict[str, int]] = stored.get("bands", [])
    return rows if len(rows) > 1 else []


def hidden_bands(rows: Sequence[Mapping[str, int]]) -> set[int]:
    """Return the bands whose promotions are hidden: both columns have the same sum."""
    columns = [{row["band"]: row[part] for row in rows} for part in ("promoted", "first_come")]
    return {band for column in columns for band in _hide(column, [set(column)])}


# Small groups are hidden: the outcomes of fewer than five students are private.

FEWEST = 5  # students with a request, in a group whose outcome is shown

Row = dict[str, Any]


def hidden_groups(rows: Sequence[Row]) -> set[str]:
    """Return the names of the rows whose outcomes are hidden."""
    requested = {row["name"]: row["asked"] for row in rows}
    return _hide(requested, [set(requested)])


def hidden_cohorts(rows: Sequence[Row]) -> set[tuple[str, str]]:
    """Return the cohorts, as year and level, whose outcomes are hidden.

    The report also shows the sums of each year and each level.
    """
    requested = {(row["year"], row["level"]): row["asked"] for row in rows}
    sums = [
        {each for each in requested if each[part] == name}
        for part in (0, 1)
        for name in {each[part] for each in requested}
    ]
    return _hide(requested, [set(requested), *sums])


def _hide(requested: Mapping[Any, int], sums: Sequence[set[Any]]) -> set[Any]:
    """Return the small groups, and enough others that no hidden outcome can be computed.

    A known sum minus the visible groups gives the total of the hidden ones. So the hidden groups
    together must have enough students, too.
    """
    hidden = {name for name, count in requested.items() if count < FEWEST}
    before = -1
    while len(hidden) > before:
        before = len(hidden)
        for group in sums:
            for name in sorted(group - hidden, key=lambda each: (requested[each], str(each))):
                if 0 < sum(requested[each] for each in group & hidden) < FEWEST:
                    hidden.add(name)
    return hidden


# The names of groups in reports, in the reader's language.

KINDS = {
    "arrival": _l("By arrival time"),
    "year": _l("By class year"),
    "level": _l("By level"),
    "major": _l("By major"),
    "screen": _l("By captcha"),
    "limits": _l("By rate limits"),
}
NAMES = {
    "away": _l("Not in the waiting room"),
    "late:1": _l("First minute"),
    "late:5": _l("Minutes 2 to 5"),
    "late:15": _l("Minutes 6 to 15"),
    "late:60": _l("Minutes 16 to 60"),
    "late:more": _l("After the first hour"),
    "work": _l("Proof of work"),
    "code": _l("Code by email"),
    "remote": _l("External captcha"),
    "none": _l("No captcha or unknown"),
    "limited": _l("Reached a rate limit"),
    "free": _l("Reached no rate limit"),
}
ORDER = (*(group_name for _most, group_name in LATE), "late:more", "away")


def group_name(kind: str, group: str) -> str:
    if group.startswith("early:"):
        tenth = int(group.removeprefix("early:"))
        start, end = (
            format_percent(each / TENTHS, locale=current_locale()) for each in (tenth - 1, tenth)
        )
        return _("Draw: %(start)s to %(end)s", start=start, end=end)
    if kind in {"arrival", "screen", "limits"}:
        return str(NAMES.get(group, group))
    if kind == "major" and group:
        return subjects.labels([group])[0]
    return group or _("No major")


def group_order(kind: str, group: str) -> tuple[int, str]:
    """Return the sort key of a group in its table."""
    if kind == "year":
        return models.year_order(group)
    late = kind == "arrival" and group in ORDER
    return (ORDER.index(group) if late else -1), group
