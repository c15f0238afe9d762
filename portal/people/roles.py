"""Roles and their rights: the table from which routes, menus, buttons and tests follow.

A view demands a right, never a role. `see_…` opens pages and files and changes nothing, so a
program can tell what an auditor may read; any other right changes something.
"""

from dataclasses import dataclass
from enum import StrEnum

from portal.core.i18n import _l


class Right(StrEnum):
    """A permission of a role."""

    REGISTER = "register"
    APPLY = "apply"
    TEACH = "teach"
    CALL_ADMIN_API = "call_admin_api"
    SCHEDULE = "schedule"
    ADVISE = "advise"
    SUBSCRIBE = "subscribe"

    SEE_TERMS = "see_terms"
    SEE_ROUNDS = "see_rounds"
    SEE_REPORTS = "see_reports"
    SEE_SECTIONS = "see_sections"
    SEE_ROSTERS = "see_rosters"
    SEE_STUDENTS = "see_students"
    SEE_INSTRUCTORS = "see_instructors"
    SEE_STAFF = "see_staff"
    SEE_ACCOUNTS = "see_accounts"
    SEE_REQUESTS = "see_requests"
    SEE_APPLICATIONS = "see_applications"
    SEE_RECEIPTS = "see_receipts"
    SEE_AUDIT_TRAIL = "see_audit_trail"
    SEE_IMPORTS = "see_imports"
    SEE_EXPORTS = "see_exports"
    SEE_OPERATIONS = "see_operations"
    SEE_WEBHOOKS = "see_webhooks"
    SEE_SERVICE_TOKENS = "see_service_tokens"
    SEE_MAIL_TEXTS = "see_mail_texts"

    CHANGE_TERMS = "change_terms"
    CHANGE_WINDOWS = "change_windows"
    CHANGE_ROUNDS = "change_rounds"
    CHANGE_SECTIONS = "change_sections"
    ADJUST = "adjust"
    CHANGE_STUDENTS = "change_students"
    CHANGE_HOLDS = "change_holds"
    VIEW_AS_STUDENT = "view_as_student"
    GRANT_PERMISSIONS = "grant_permissions"
    CHANGE_INSTRUCTORS = "change_instructors"
    CHANGE_ACCOUNTS = "change_accounts"
    GIVE_ROLES = "give_roles"
    DECIDE = "decide"
    EXCHANGE_DATA = "exchange_data"
    OPERATE = "operate"
    CHANGE_WEBHOOKS = "change_webhooks"
    CHANGE_SERVICE_TOKENS = "change_service_tokens"
    CHANGE_MAIL_TEXTS = "change_mail_texts"


# What each right allows, as part of the sentence “You may …”.
RIGHT_TEXTS = {
    Right.REGISTER: _l("register for sections"),
    Right.APPLY: _l("send applications"),
    Right.TEACH: _l("see the rosters of your classes"),
    Right.CALL_ADMIN_API: _l("call the admin API"),
    Right.ADVISE: _l("see the records and plans of advisees, and clear them to register"),
    Right.SCHEDULE: _l("see and change the sections of assigned departments, with their rosters"),
    Right.SUBSCRIBE: _l("get reports by email"),
    Right.SEE_TERMS: _l("see terms, windows and waiting rooms"),
    Right.SEE_ROUNDS: _l(
        "see allocation rounds, and once a result is published all ballots under pseudonyms"
    ),
    Right.SEE_REPORTS: _l("see the reports of windows"),
    Right.SEE_SECTIONS: _l("see all sections and the catalog"),
    Right.SEE_ROSTERS: _l("see the rosters of all sections"),
    Right.SEE_STUDENTS: _l("see students and their records"),
    Right.SEE_INSTRUCTORS: _l("see instructors and their accounts"),
    Right.SEE_STAFF: _l("see who has which role"),
    Right.SEE_ACCOUNTS: _l("see accounts"),
    Right.SEE_REQUESTS: _l("see the requests of instructors"),
    Right.SEE_APPLICATIONS: _l("see applications and their documents"),
    Right.SEE_RECEIPTS: _l("see receipts"),
    Right.SEE_AUDIT_TRAIL: _l("see the audit trail"),
    Right.SEE_IMPORTS: _l("see imports"),
    Right.SEE_EXPORTS: _l("download all students and sections"),
    Right.SEE_OPERATIONS: _l("see the state of the portal"),
    Right.SEE_WEBHOOKS: _l("see webhooks"),
    Right.SEE_SERVICE_TOKENS: _l("see service tokens"),
    Right.SEE_MAIL_TEXTS: _l("see email texts"),
    Right.CHANGE_TERMS: _l("change terms and their rules"),
    Right.CHANGE_WINDOWS: _l("change windows and waiting rooms"),
    Right.CHANGE_ROUNDS: _l("make, announce and publish allocation rounds"),
    Right.CHANGE_SECTIONS: _l("change sections and the catalog"),
    Right.ADJUST: _l("add, drop and move students"),
    Right.CHANGE_STUDENTS: _l("change the records of students"),
    Right.CHANGE_HOLDS: _l("place and lift holds"),
    Right.VIEW_AS_STUDENT: _l("view pages as a student"),
    Right.GRANT_PERMISSIONS: _l("grant and revoke permissions for sections"),
    Right.CHANGE_INSTRUCTORS: _l("change the accounts of instructors"),
    Right.CHANGE_ACCOUNTS: _l(
        "create, edit and deactivate accounts, and help people to log in again"
    ),
    Right.GIVE_ROLES: _l("give and end roles"),
    Right.DECIDE: _l("decide requests and applications"),
    Right.EXCHANGE_DATA: _l("import and export data"),
    Right.OPERATE: _l("operate the portal"),
    Right.CHANGE_WEBHOOKS: _l("change webhooks"),
    Right.CHANGE_SERVICE_TOKENS: _l("create and revoke service tokens"),
    Right.CHANGE_MAIL_TEXTS: _l("change email texts"),
}
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


def rights_of(roles: frozenset[str]) -> frozenset[Right]:
    return frozenset().union(*(ROLES[role].rights for role in roles))


def is_staff(roles: frozenset[str]) -> bool:
    """Return whether these roles open pages for admins."""
    return bool(rights_of(roles) - OWN)
