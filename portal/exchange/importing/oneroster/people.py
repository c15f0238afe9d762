"""Users as accounts, students and teachers; who teaches or takes what."""

from typing import Any

from portal.core.i18n import _k, stored_message
from portal.exchange.importing.oneroster.roster import ROLES, STUDENT, TEACHER, Roster
from portal.exchange.importing.staging import key_of
from portal.exchange.importing.tables import Row

LONGEST = {"username": 64, "name": 160, "email": 254, "number": 32}


def read_role(roster: Roster, row: Row) -> None:
    """A role of somebody, in 1.2; the portal has students and teachers."""
    role = ROLES.get(row["role"].lower())
    if role is None:
        return roster.report.note("other_role", row, "role")
    known = roster.roles.get(row["userSourcedId"], 0)
    roster.roles[row["userSourcedId"]] = known | role
    return None


def read_user(roster: Roster, row: Row) -> None:
    """An account with its roles; who is not enabled may not log in."""
    username, name = row["username"], _name(row)
    if not username or len(username) > LONGEST["username"] or not username.isprintable():
        return roster.report.note("unreadable", row, "username")
    if not name or not name.isprintable():
        return roster.report.note("unreadable", row, "givenName")
    roles = ROLES.get(row["role"].lower(), 0) | roster.roles.get(row["sourcedId"], 0)
    if row["enabledUser"].lower() == "false":
        roster.stage.remove("account", username, {}, row)
        return roster.name("user", row, username)
    if not roles and roster.all_roles:
        return roster.report.note("other_role", row, "role")
    more = roster.more("user", row)
    if more is None:
        return None
    contact = {"name": name, "email": row["email"][: LONGEST["email"]]}
    roster.put("user", "account", username, contact, row)
    if roles & TEACHER:
        facts = contact | {"account": username} | more.get("teacher", {})
        roster.stage.put("teacher", f"@{username}", facts, row)
    if roles & STUDENT:
        _put_student(roster, row, {"account": username} | more.get("student", {}))
    return None


def _put_student(roster: Roster, row: Row, facts: dict[str, Any]) -> None:
    number = row["identifier"] or row["sourcedId"]
    if len(number) > LONGEST["number"] or not number.isprintable():
        return roster.report.note(
            "unreadable", row, "identifier", stored_message(_k("It is too long for a number."))
        )
    return roster.put("student", "student", number, facts, row)


def _name(row: Row) -> str:
    """The name that somebody wants to be called by."""
    given = row["preferredGivenName"] or row["givenName"]
    family = row["preferredFamilyName"] or row["familyName"]
    return " ".join(f"{given} {family}".split())[: LONGEST["name"]]


def read_enrollment(roster: Roster, row: Row) -> None:
    """Somebody in a class, put aside until all identifiers are known."""
    role = row["role"].lower()
    if role not in ROLES:
        return roster.report.note("other_role", row, "role")
    more = roster.more("enrollment", row)
    if more is None:
        return None
    facts = {"class": row["classSourcedId"], "user": row["userSourcedId"], "role": role}
    roster.seats = roster.seats or role == "student"
    return roster.stage.put("enrolling", key_of(*facts.values()), facts | more, row)
