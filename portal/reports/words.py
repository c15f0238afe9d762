"""The names of groups in reports, in the reader's language."""

from portal.catalog import subjects
from portal.core.i18n import _, _l
from portal.people import models
from portal.reports.fairness import LATE

KINDS = {
    "arrival": _l("By arrival"),
    "year": _l("By class year"),
    "level": _l("By level"),
    "major": _l("By major"),
    "screen": _l("By the check for robots"),
    "limits": _l("By limits met"),
}
NAMES = {
    "away": _l("Never in the line"),
    "late:1": _l("In the first minute"),
    "late:5": _l("Until the fifth minute"),
    "late:15": _l("Until the fifteenth minute"),
    "late:60": _l("Within the first hour"),
    "late:more": _l("Later"),
    "work": _l("Proof of work"),
    "code": _l("Code by mail"),
    "remote": _l("Another provider’s check"),
    "none": _l("Not asked, or not known"),
    "limited": _l("Refused by a limit"),
    "free": _l("Never refused by a limit"),
}
ORDER = (*(name for _most, name in LATE), "late:more", "away")


def name(kind: str, group: str) -> str:
    """What a group is called."""
    if group.startswith("early:"):
        tenth = int(group.removeprefix("early:"))
        return _("Before the opening, tenth %(tenth)s of the line", tenth=tenth)
    if kind in {"arrival", "screen", "limits"}:
        return str(NAMES.get(group, group))
    if kind == "major" and group:
        return subjects.labels([group])[0]
    return group or _("None declared")


def place(kind: str, group: str) -> tuple[int, str]:
    """Sorts the groups of a table as one reads them."""
    if kind == "year":
        return models.year_order(group)
    late = kind == "arrival" and group in ORDER
    return (ORDER.index(group) if late else -1), group
