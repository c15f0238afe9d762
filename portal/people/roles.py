"""Roles and their rights: the table from which routes, menus, buttons and tests follow.

A view demands a right, never a role. `see_…` opens pages and files and changes nothing, so a
program can tell what an auditor may read; any other right changes something.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from portal.core.i18n import _l


class Right(StrEnum):
    """What a role allows; `text` says it as part of the sentence “You may …”."""

    text: str

    def __new__(cls, name: str, text: str = "") -> Self:
        right = str.__new__(cls, name)
        right._value_, right.text = name, text
        return right

    REGISTER = "register", _l("register for sections")
    APPLY = "apply", _l("send applications")
    TEACH = "teach", _l("see the rosters of your classes")
    CALL_ADMIN_API = "call_admin_api", _l("call the admin API")
    SCHEDULE = (
        "schedule",
        _l("see and change the sections of assigned departments, with their rosters"),
    )
    ADVISE = "advise", _l("see the records and plans of advisees, and clear them to register")
    SUBSCRIBE = "subscribe", _l("get reports by email")

    SEE_TERMS = "see_terms", _l("see terms, windows and waiting rooms")
    SEE_ROUNDS = (
        "see_rounds",
        _l("see allocation rounds, and once a result is published all ballots under pseudonyms"),
    )
    SEE_REPORTS = "see_reports", _l("see the reports of windows")
    SEE_SECTIONS = "see_sections", _l("see all sections and the catalog")
    SEE_ROSTERS = "see_rosters", _l("see the rosters of all sections")
    SEE_STUDENTS = "see_students", _l("see students and their records")
    SEE_INSTRUCTORS = "see_instructors", _l("see instructors and their accounts")
    SEE_STAFF = "see_staff", _l("see who has which role")
    SEE_ACCOUNTS = "see_accounts", _l("see accounts")
    SEE_REQUESTS = "see_requests", _l("see the requests of instructors")
    SEE_APPLICATIONS = "see_applications", _l("see applications and their documents")
    SEE_RECEIPTS = "see_receipts", _l("see receipts")
    SEE_AUDIT_TRAIL = "see_audit_trail", _l("see the audit trail")
    SEE_IMPORTS = "see_imports", _l("see imports")
    SEE_EXPORTS = "see_exports", _l("download all students and sections")
    SEE_OPERATIONS = "see_operations", _l("see the state of the portal")
    SEE_WEBHOOKS = "see_webhooks", _l("see webhooks")
    SEE_SERVICE_TOKENS = "see_service_tokens", _l("see service tokens")
    SEE_MAIL_TEXTS = "see_mail_texts", _l("see email texts")

    CHANGE_TERMS = "change_terms", _l("change terms and their rules")
    CHANGE_WINDOWS = "change_windows", _l("change windows and waiting rooms")
    CHANGE_ROUNDS = "change_rounds", _l("make, announce and publish allocation rounds")
    CHANGE_SECTIONS = "change_sections", _l("change sections and the catalog")
    ADJUST = "adjust", _l("add, drop and move students")
    CHANGE_STUDENTS = "change_students", _l("change the records of students")
    CHANGE_HOLDS = "change_holds", _l("place and lift holds")
    VIEW_AS_STUDENT = "view_as_student", _l("view pages as a student")
    GRANT_PERMISSIONS = "grant_permissions", _l("grant and revoke permissions for sections")
    CHANGE_INSTRUCTORS = "change_instructors", _l("change the accounts of instructors")
    CHANGE_ACCOUNTS = (
        "change_accounts",
        _l("create, edit and deactivate accounts, and help people to log in again"),
    )
    GIVE_ROLES = "give_roles", _l("give and end roles")
    DECIDE = "decide", _l("decide requests and applications")
    EXCHANGE_DATA = "exchange_data", _l("import and export data")
    OPERATE = "operate", _l("operate the portal")
    CHANGE_WEBHOOKS = "change_webhooks", _l("change webhooks")
    CHANGE_SERVICE_TOKENS = "change_service_tokens", _l("create and revoke service tokens")
    CHANGE_MAIL_TEXTS = "change_mail_texts", _l("change email texts")


# Each only about their own.
OWN = frozenset(
    {
        *(Right.REGISTER, Right.APPLY, Right.TEACH, Right.CALL_ADMIN_API),
        *(Right.SCHEDULE, Right.ADVISE),
    }
)
# What SCHEDULE allows for the sections of one's departments.
DEPARTMENTAL = frozenset({Right.SEE_SECTIONS, Right.CHANGE_SECTIONS, Right.SEE_ROSTERS})


SEES = frozenset(right for right in Right if right.startswith("see_"))


@dataclass(frozen=True)
class Role:
    """What people call a role, and its rights."""

    label: str
    rights: frozenset[Right]
    given: bool = False  # by an admin to an account, as a name in `staff_roles`


ROLES = {
    "student": Role(_l("Student"), frozenset({Right.REGISTER, Right.APPLY})),
    "instructor": Role(_l("Instructor"), frozenset({Right.TEACH})),
    "admin": Role(_l("Registrar’s office"), frozenset(Right) - OWN),
    "auditor": Role(_l("Auditor"), SEES | {Right.SUBSCRIBE}, given=True),
    "help_desk": Role(
        _l("Help desk"),
        frozenset(
            {
                Right.SEE_TERMS,
                Right.SEE_SECTIONS,
                Right.SEE_ROSTERS,
                Right.SEE_STUDENTS,
                Right.SEE_INSTRUCTORS,
                Right.SEE_ACCOUNTS,
                Right.SEE_REQUESTS,
                Right.SEE_RECEIPTS,
                Right.SUBSCRIBE,
            }
        ),
        given=True,
    ),
    "adviser": Role(_l("Adviser"), frozenset({Right.SEE_TERMS, Right.ADVISE}), given=True),
    "scheduler": Role(
        _l("Department scheduler"),
        frozenset({Right.SEE_TERMS, Right.SCHEDULE, Right.SUBSCRIBE}),
    ),
    "applicant": Role(_l("Applicant"), frozenset({Right.APPLY})),
    "service": Role(_l("Program"), frozenset({Right.CALL_ADMIN_API})),
}


@dataclass(frozen=True)
class Scope:
    """What a token allows: its label, and the rights that this takes."""

    label: str
    rights: frozenset[Right]


# Of personal tokens. What they read and change follows from the rights of their account.
PERSONAL_SCOPES = {
    "read": Scope(_l("View my classes, waitlist positions and available sections"), frozenset()),
    "register": Scope(
        _l("Register for me: add, drop and swap classes, join and leave waitlists"),
        frozenset({Right.REGISTER}),
    ),
}
# Of service tokens. Each token may also read what needs only a login.
SERVICE_SCOPES = {
    "windows": Scope(
        _l("Create, move, extend, close and cancel selection windows"),
        frozenset({Right.CHANGE_WINDOWS}),
    ),
    "waiting-room": Scope(_l("Control waiting rooms"), frozenset({Right.CHANGE_WINDOWS})),
    "read-models": Scope(_l("Rebuild the read models"), frozenset({Right.OPERATE})),
    "registrations": Scope(
        _l("Register and drop classes in a student’s name"), frozenset({Right.ADJUST})
    ),
}


def service_scopes(rights: frozenset[Right]) -> dict[str, str]:
    """Return the scopes that someone with these rights may give to a program, with their labels."""
    return {name: each.label for name, each in SERVICE_SCOPES.items() if each.rights <= rights}


STAFF_ROLES = tuple(name for name, role in ROLES.items() if role.given)


def in_order(staff_roles: Iterable[str]) -> list[str]:
    """Return roles of STAFF_ROLES in that order; those of a newer version of the portal follow."""
    known = {role: at for at, role in enumerate(STAFF_ROLES)}
    return sorted(staff_roles, key=lambda role: (known.get(role, len(known)), role))


def rights_of(roles: frozenset[str]) -> frozenset[Right]:
    return frozenset().union(*(ROLES[role].rights for role in roles))


def is_staff(roles: frozenset[str]) -> bool:
    """Return whether these roles open pages for admins."""
    return bool(rights_of(roles) - OWN)
