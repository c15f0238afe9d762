"""The table of all routes: the response for each person of the cast.

The story is `tests/web/all_pages.py`; where an address names something of somebody's, it names
Ada's: her receipt, her notification, a section that she is in and that Iris teaches.
"""

from typing import NamedTuple

import pytest
from sqlalchemy import select

from portal.catalog.deletion import KINDS as CATALOG_KINDS
from portal.catalog.terms import STATE_CHANGES
from portal.core.db import transaction
from portal.core.flags import NAMES
from portal.core.i18n import LANGUAGES
from portal.core.queue import QUEUES
from portal.notifications.mail_texts import all_kinds
from portal.people.models import Account, Student
from portal.people.roles import ROLES, STAFF_ROLES, Right
from tests.cast import a_department, an_account

PEOPLE = {
    "nobody": "",
    "ada": "student",
    "ben": "student",
    "iris": "instructor",
    "otto": "instructor",
    "max": "admin",
    "audrey": "auditor",
    "helen": "help_desk",
    "sam": "scheduler",
    "vic": "adviser",
}


def a_staff() -> list[str]:
    """Create an account for each role that admins give; return their usernames.

    The scheduler is of the department that all courses of the tests belong to. The adviser is
    Ada's.
    """
    given = {name: role for name, role in PEOPLE.items() if role in STAFF_ROLES}
    for name, role in given.items():
        an_account(name, staff_roles=[role])
    an_account("sam", schedules_for=[a_department().id])
    with transaction() as session:
        vic = session.scalars(select(Account.id).where(Account.username == "vic")).one()
        ada = select(Student).join(Student.account).where(Account.username == "ada")
        session.scalars(ada).one().adviser_id = vic
    return [*given, "sam"]


class Rule(NamedTuple):
    """The responses in the order of PEOPLE, and the values that the address and the form need.

    `in`: whatever is there. `login`: the login page, or 401. `no`: 403. `none`: 404.
    `own`: in, to see what is theirs and nothing of hers. `-`: not asked here.
    Those beyond the end of `gets` get `found` if their role has one of the rights, else `missing`.
    Without rights, they get what the last one does.
    """

    gets: str
    query: str = ""
    body: dict[str, str] | None = None
    rights: tuple[Right, ...] = ()
    found: str = "in"
    missing: str = "no"

    def of(self, person: str) -> str:
        """The response for one person."""
        responses, number = self.gets.split(), list(PEOPLE).index(person)
        if number < len(responses):
            return responses[number]
        if not self.rights:
            return responses[-1]
        return self.found if ROLES[PEOPLE[person]].rights & set(self.rights) else self.missing


def needs(*rights: Right, found: str = "in") -> Rule:
    """The rule of a page for admins: those whose roles have one of the rights are in."""
    return Rule("login", rights=rights, found=found)


ID = "<int(min=1, max=2147483647):{}_id>"
STUDENT_ID, WINDOW_ID = ID.format("student"), ID.format("window")

APPLICATION = "/terms/<int:term_id>/applications/<int:application_id>"
API_APPLICATION = f"/api/v1/applications/{ID.format('application')}"
PAGE = "/admin/applications/<int:application_id>/documents/<int:document_id>/pages/<int:page>.png"
RETRY = "/admin/operations/applications/<any(document,charge):box>/<int:letter>/retry"
FLAG = f"/admin/operations/flags/<any({','.join(NAMES)}):name>"
QUEUE = f"/admin/operations/queues/<any({','.join(QUEUES)}):queue>"
CATALOG = f"/admin/catalog/<any({','.join(CATALOG_KINDS)}):records>"
CATALOG_CHANGE = f"{CATALOG}/<int:number>/<any(delete,restore):act>"
TERM_STATE = f"/admin/terms/<int:term_id>/<any({','.join(STATE_CHANGES)}):state_change>"
DEAD_LETTER = "/admin/operations/jobs/<job>/<any(retry,discard):remedy>"
WEBHOOK = "/admin/webhooks/<int:webhook_id>"
SWITCH = "<any(on,off,secret,delete):what>"
DELIVERY = "deliveries/<which>/<any(retry,discard):remedy>"
MAIL_TEXT = (
    f"/admin/mail-texts/<any({','.join(sorted(all_kinds()))}):mail_kind>"
    f"/<any({','.join(LANGUAGES)}):mail_language>"
)
SUBSCRIPTION = "/admin/report-subscriptions/<int:subscription_id>"
MAIL = "/admin/operations/mails/<which>/<any(retry,discard):remedy>"
ROUND = "/terms/<int:term_id>/rounds/<int:round_id>"
ROUND_STEP = "<any(announce,cancel,publish):round_step>"
STATUS_CHANGE = (
    "/admin/terms/<int:term_id>/sections/<int:section_id>/"
    "<any(publish,unpublish,confirm,reopen,cancel,reoffer,delete,undelete):change>"
)

SECTIONS = (Right.SEE_SECTIONS, Right.SCHEDULE)
SECTION_CHANGES = (Right.CHANGE_SECTIONS, Right.SCHEDULE)

ANYONE = Rule("in in in in in in")
NOTHING = Rule("none none none none none none")
ASKED_ELSEWHERE = Rule("- - - - - -")
SIGNED_IN = Rule("login in in in in in")
STUDENT = Rule("login in in no no no")
OWN = Rule("login in own no no no")
MEMBER = Rule("login in own own own own")
HERS = Rule("login in none none none none")
# Her instructor sees what is of their own classes.
RECORDS = Rule("login in none in none", rights=(Right.SEE_STUDENTS, Right.ADVISE), missing="none")
TEACHES = Rule("login no no in no", rights=(Right.SEE_ROSTERS, Right.SCHEDULE))
ASKS = Rule("login no no in no no")  # of their own classes
# What waits for the registrar; tests/applications/test_department_deciders.py has the others.
NOT_THEIRS = Rule("login no no none no no")

# A subscription of the admin's.
MAXS = Rule("login no no no no in", rights=(Right.SUBSCRIBE,), found="none")

SERVICE = Rule("login no no no no no")  # programs alone: tests/web/api/test_admin_*.py

API_TERM = f"/api/v1/admin/semesters/{ID.format('semester')}"
API_WINDOW = f"{API_TERM}/windows/{WINDOW_ID}"
API_ROOM = f"{API_WINDOW}/waiting-room"
ROOM_STUDENTS = tuple(
    f"{method} /admin/terms/<int:term_id>/windows/<int:window_id>/room/{view}"
    for view in ("admit", "expire", "empty")
    for method in ("GET", "POST")
)
DRAW = tuple(
    f"{method} /admin/terms/<int:term_id>/windows/<int:window_id>/room/{view}"
    for view in ("draw", "draw/value")
    for method in ("GET", "POST")
)
ADMIN_API = (
    "POST /api/v1/token",
    f"POST {API_TERM}/windows",
    *(f"POST {API_WINDOW}/{each}" for each in ("move", "extend", "close", "cancel")),
    f"GET {API_ROOM}",
    *(
        f"POST {API_ROOM}/{each}"
        for each in ("limits", "pause", "resume", "admit", "expire", "reset")
    ),
    f"POST {API_TERM}/registrations",
    f"POST {API_TERM}/registrations/drop",
    f"GET {API_TERM}/read-models",
    f"POST {API_TERM}/read-models/rebuild",
)

HER_APPLICATION = Rule("login in none no no no")

RULES = {
    "GET /": SIGNED_IN,
    "GET /login": ANYONE,
    "POST /login": ANYONE,
    "GET /visiting": ANYONE,
    "GET /sign-up": ANYONE,
    "POST /sign-up": ANYONE,
    "GET /sign-up/<link>": ANYONE,  # whoever has the link: tests/applications/test_visiting.py
    "POST /sign-up/<link>": ANYONE,
    "GET /recovery": ANYONE,
    "POST /recovery": ANYONE,
    "GET /recovery/<link>": ANYONE,
    "POST /recovery/<link>": ANYONE,
    "POST /payments/stripe": NOTHING,  # not set up here: tests/applications/test_fees.py
    "GET /payments/test/<int:charge_id>": Rule("login none none no no no"),
    "POST /payments/test/<int:charge_id>": Rule("login none none no no no"),
    "POST /logout": Rule("login login login login login login"),
    "POST /language": ANYONE,
    "GET /static/<path:filename>": ANYONE,
    "GET /clock": ANYONE,
    "GET /live": ANYONE,
    "GET /ready": ASKED_ELSEWHERE,  # by anyone, without workers: tests/operations/test_health.py
    "GET /health": ASKED_ELSEWHERE,
    "GET /metrics": ANYONE,  # on this machine: tests/operations/metrics/test_scrape.py
    "GET /calendar/<secret>.ics": ANYONE,  # whoever has the secret; tests/web/test_calendar_feed.py
    "GET /live/fragments": MEMBER._replace(query="?term={term_id}&held={section_id}"),
    "GET /live/room": STUDENT._replace(query="?term={term_id}&room={window_id}"),
    "GET /ws": ASKED_ELSEWHERE,  # tests/live/test_sockets.py, tests/live/test_topics.py
    "GET /inbox": MEMBER,
    "GET /inbox/<int:notice>": HERS,
    "POST /inbox/<int:notice>/read": HERS,
    "GET /inbox/count": MEMBER,
    "POST /inbox/read": SIGNED_IN,
    "GET /inbox/settings": MEMBER,
    "POST /inbox/settings": SIGNED_IN,
    # Staff are led to the pages for admins.
    "GET /receipts/<code>": Rule("login in none no no", rights=(Right.SEE_RECEIPTS,)),
    "GET /terms/<int:term_id>": Rule("login in own no no", rights=SECTIONS),
    "GET /terms/<int:term_id>/stage": OWN,
    "GET /terms/<int:term_id>/mine": OWN,
    "GET /terms/<int:term_id>/history": OWN,
    "GET /terms/<int:term_id>/plan": OWN,
    "GET /terms/<int:term_id>/plan/panel": OWN,
    "POST /terms/<int:term_id>/plan/change": STUDENT,
    "POST /terms/<int:term_id>/plan/toggle": STUDENT,
    "POST /terms/<int:term_id>/plan/submit": STUDENT,
    "POST /terms/<int:term_id>/rows": STUDENT,
    f"GET {ROUND}": OWN,
    f"POST {ROUND}/ballot": STUDENT,
    f"POST {ROUND}/ballot/withdraw": STUDENT,
    f"POST {ROUND}/joint": STUDENT,
    # The story's round has not ended: tests/web/admin/rounds/test_result.py
    **dict.fromkeys(
        (f"GET {ROUND}/published.json", f"GET {ROUND}/verify.py"),
        Rule("login none none no no none none no no"),
    ),
    f"GET {ROUND}/proof.json": Rule("login none none no no no"),
    "GET /terms/<int:term_id>/applications": OWN,
    "GET /terms/<int:term_id>/applications/new/<kind>": OWN,
    "POST /terms/<int:term_id>/applications/new/<kind>": STUDENT,
    f"GET {APPLICATION}": HER_APPLICATION,
    f"GET {APPLICATION}/steps/<part>": HER_APPLICATION,
    f"POST {APPLICATION}/steps/<part>": HER_APPLICATION,
    f"GET {APPLICATION}/review": HER_APPLICATION,
    f"POST {APPLICATION}/review": HER_APPLICATION,
    f"GET {APPLICATION}/documents": HER_APPLICATION,
    f"POST {APPLICATION}/documents": Rule("- - none no no no"),  # tests/applications
    f"POST {APPLICATION}/uploads": Rule("- - none no no no"),  # tests/applications
    f"PUT {APPLICATION}/uploads/<int:upload_id>": Rule("login none none no no no"),
    f"GET {APPLICATION}/copy.zip": HER_APPLICATION,
    f"GET {APPLICATION}/erase": HER_APPLICATION,
    f"POST {APPLICATION}/erase": HER_APPLICATION,
    f"GET {APPLICATION}/documents/<int:document_id>": HER_APPLICATION,
    f"POST {APPLICATION}/documents/<int:document_id>/remove": Rule("- - none no no no"),
    f"GET {APPLICATION}/fee": HER_APPLICATION,
    f"POST {APPLICATION}/fee": HER_APPLICATION,
    f"GET {APPLICATION}/fee/back": HER_APPLICATION,
    f"GET {APPLICATION}/receipt": Rule("login none none no no no"),  # she has paid nothing
    f"GET {APPLICATION}/withdraw": HER_APPLICATION,
    f"POST {APPLICATION}/withdraw": HER_APPLICATION,
    "GET /terms/<int:term_id>/schedule": OWN,
    "GET /terms/<int:term_id>/schedule/feed": OWN,
    "POST /terms/<int:term_id>/schedule/feed": STUDENT,
    "GET /terms/<int:term_id>/sections/<int:section_id>": OWN,
    "GET /terms/<int:term_id>/sections/<int:section_id>/pick": OWN,
    "POST /terms/<int:term_id>/sections/<int:section_id>/pick": STUDENT,
    "GET /terms/<int:term_id>/sections/<int:section_id>/plan": OWN,
    "POST /terms/<int:term_id>/sections/<int:section_id>/plan": STUDENT,
    "GET /terms/<int:term_id>/sections/<int:section_id>/drop": OWN,
    "POST /terms/<int:term_id>/sections/<int:section_id>/drop": STUDENT,
    "GET /terms/<int:term_id>/sections/<int:section_id>/leave": OWN,
    "POST /terms/<int:term_id>/sections/<int:section_id>/leave": STUDENT,
    "GET /terms/<int:term_id>/sections/<int:section_id>/swap": STUDENT,
    "POST /terms/<int:term_id>/sections/<int:section_id>/swap": STUDENT,
    "GET /terms/<int:term_id>/sections/<int:section_id>/swaps": OWN,
    "GET /teaching": Rule("login no no in own no"),
    "GET /teaching/sections/<int:section_id>": TEACHES,
    "GET /teaching/sections/<int:section_id>/roster": TEACHES,
    "GET /teaching/sections/<int:section_id>/roster.csv": TEACHES,
    "GET /teaching/sections/<int:section_id>/emails": TEACHES,
    "GET /admin": needs(Right.SEE_TERMS),
    "GET /teaching/sections/<int:section_id>/requests/seats": ASKS,
    "POST /teaching/sections/<int:section_id>/requests/seats": ASKS,
    "GET /teaching/sections/<int:section_id>/requests/override": ASKS,
    "POST /teaching/sections/<int:section_id>/requests/override": ASKS,
    **{
        f"{method} /teaching/sections/<int:section_id>/consents/<int:override_id>/end": ASKS
        for method in ("GET", "POST")
    },
    "GET /teaching/requests": Rule("login no no in own no"),
    "POST /teaching/requests/<int:instructor_request_id>/withdraw": Rule("login no no in none no"),
    "GET /teaching/applications": Rule("login no no in no no"),  # Iris decides for a department
    "GET /teaching/applications/all.csv": Rule("login no no in no no"),
    "GET /teaching/applications/<int:application_id>": NOT_THEIRS,
    "POST /teaching/applications/<int:application_id>": Rule("login no no own no no"),  # the queue
    "GET /teaching/applications/<int:application_id>/documents/<int:document_id>": NOT_THEIRS,
    f"GET {PAGE.replace('admin', 'teaching')}": NOT_THEIRS,
    "GET /admin/applications": needs(Right.SEE_APPLICATIONS),
    "GET /admin/applications/all.csv": needs(Right.SEE_APPLICATIONS),
    "GET /admin/applications/<int:application_id>": needs(Right.SEE_APPLICATIONS),
    "GET /admin/applications/<int:application_id>/documents/<int:document_id>": needs(
        Right.SEE_APPLICATIONS
    ),
    "POST /admin/applications/<int:application_id>/documents/check": needs(Right.DECIDE),
    f"GET {PAGE}": needs(Right.SEE_APPLICATIONS),
    "GET /admin/applications/<int:application_id>/refund": needs(Right.DECIDE),
    "POST /admin/applications/<int:application_id>/refund": needs(Right.DECIDE),
    "GET /admin/applications/retention": needs(Right.DECIDE),
    "POST /admin/applications/retention": needs(Right.DECIDE),
    f"GET {RETRY}": needs(Right.OPERATE),
    f"POST {RETRY}": needs(Right.OPERATE),
    "POST /admin/applications/<int:application_id>": needs(Right.DECIDE)._replace(
        body={"decision": "decline", "note": "No.", "version": "1"}
    ),
    "GET /admin/audit": needs(Right.SEE_AUDIT_TRAIL),
    "GET /admin/audit/<int:entry_id>": needs(Right.SEE_AUDIT_TRAIL),
    "GET /admin/audit.csv": needs(Right.SEE_AUDIT_TRAIL),
    "GET /admin/instructors": needs(Right.SEE_INSTRUCTORS),
    "GET /admin/instructors/<int:instructor_id>": needs(Right.SEE_INSTRUCTORS),
    "GET /admin/instructors/new": needs(Right.CHANGE_INSTRUCTORS),
    "POST /admin/instructors/new": needs(Right.CHANGE_INSTRUCTORS),
    "GET /admin/instructors/<int:instructor_id>/edit": needs(Right.CHANGE_INSTRUCTORS),
    "POST /admin/instructors/<int:instructor_id>/edit": needs(Right.CHANGE_INSTRUCTORS),
    "GET /admin/instructors/<int:instructor_id>/delete": needs(Right.CHANGE_INSTRUCTORS),
    "POST /admin/instructors/<int:instructor_id>/delete": needs(Right.CHANGE_INSTRUCTORS),
    "GET /admin/instructors/<int:instructor_id>/link": needs(Right.CHANGE_INSTRUCTORS)._replace(
        query="?account=iris"
    ),
    "POST /admin/instructors/<int:instructor_id>/link": needs(Right.CHANGE_INSTRUCTORS),
    "GET /admin/instructors/<int:instructor_id>/unlink": needs(Right.CHANGE_INSTRUCTORS),
    "POST /admin/instructors/<int:instructor_id>/unlink": needs(Right.CHANGE_INSTRUCTORS),
    "GET /admin/instructors/<int:instructor_id>/decider": needs(Right.CHANGE_INSTRUCTORS),
    "POST /admin/instructors/<int:instructor_id>/decider": needs(Right.CHANGE_INSTRUCTORS),
    "GET /admin/accounts": needs(Right.SEE_ACCOUNTS),
    "GET /admin/accounts/<int:account_id>": needs(Right.SEE_ACCOUNTS),
    **{
        f"{method} /admin/accounts/<int:account_id>/{act}": needs(Right.CHANGE_ACCOUNTS)
        for act in ("<any(deactivate,activate):wanted>", "recovery", "unlock", "edit")
        for method in ("GET", "POST")
    },
    "GET /admin/accounts/new": needs(Right.CHANGE_ACCOUNTS),
    "POST /admin/accounts/new": needs(Right.CHANGE_ACCOUNTS),
    "GET /admin/staff": needs(Right.SEE_STAFF),
    "GET /admin/staff/<int:account_id>": needs(Right.GIVE_ROLES),
    "POST /admin/staff/<int:account_id>": needs(Right.GIVE_ROLES),
    "GET /admin/requests": needs(Right.SEE_REQUESTS),
    "GET /admin/requests/<int:instructor_request_id>": needs(Right.SEE_REQUESTS),
    "POST /admin/requests/<int:instructor_request_id>": needs(Right.DECIDE),
    "GET /admin/imports": needs(Right.SEE_IMPORTS),
    "POST /admin/imports": needs(Right.EXCHANGE_DATA),
    "GET /admin/imports/<int:import_id>": needs(Right.SEE_IMPORTS),
    "GET /admin/imports/<int:import_id>/progress": needs(Right.SEE_IMPORTS),
    "GET /admin/imports/<int:import_id>/report.csv": needs(Right.SEE_IMPORTS),
    "POST /admin/imports/<int:import_id>"
    "/<any(apply,rest,past,overwrite,discard,again,enroll,resume):step>": needs(
        Right.EXCHANGE_DATA
    ),
    "GET /admin/imports/<int:import_id>/columns": needs(Right.EXCHANGE_DATA),
    "POST /admin/imports/<int:import_id>/columns": needs(Right.EXCHANGE_DATA),
    "GET /admin/imports/columns/<int:mapping_id>/delete": needs(Right.EXCHANGE_DATA),
    "POST /admin/imports/columns/<int:mapping_id>/delete": needs(Right.EXCHANGE_DATA),
    "GET /admin/imports/<int:import_id>/end": needs(Right.EXCHANGE_DATA),
    "POST /admin/imports/<int:import_id>/end": needs(Right.EXCHANGE_DATA),
    "POST /admin/exports": needs(Right.EXCHANGE_DATA),
    "GET /admin/exports/<int:export_id>": needs(Right.EXCHANGE_DATA),
    "GET /admin/exports/<int:export_id>/oneroster.zip": needs(Right.EXCHANGE_DATA),
    "GET /admin/terms/<int:term_id>/rosters.csv": needs(Right.SEE_EXPORTS),
    "GET /admin/terms/<int:term_id>/semester.<any(zip,xlsx):suffix>": needs(Right.SEE_EXPORTS),
    "GET /admin/terms/<int:term_id>/sections/<int:section_id>/roster.csv": needs(
        Right.SEE_STUDENTS
    ),
    "GET /admin/now": needs(Right.SEE_TERMS),
    "GET /admin/sections": needs(*SECTIONS),
    "GET /admin/receipts": needs(Right.SEE_RECEIPTS),
    "GET /admin/receipts/<code>": needs(Right.SEE_RECEIPTS),
    "GET /admin/students/<int:student_id>/privacy": needs(Right.CHANGE_STUDENTS),
    "POST /admin/students/<int:student_id>/privacy": needs(Right.CHANGE_STUDENTS)._replace(
        body={"private": "yes", "reason": "asked for it"}
    ),
    "GET /admin/terms/<int:term_id>/sections": needs(*SECTIONS),
    "GET /admin/terms/<int:term_id>/sections/new": needs(*SECTION_CHANGES),
    "POST /admin/terms/<int:term_id>/sections/new": needs(*SECTION_CHANGES),
    "GET /admin/terms/<int:term_id>/sections/deleted": needs(*SECTIONS),
    "GET /admin/terms/<int:term_id>/sections/<int:section_id>": needs(*SECTIONS),
    "GET /admin/terms/<int:term_id>/sections/<int:section_id>/edit": needs(*SECTION_CHANGES),
    "POST /admin/terms/<int:term_id>/sections/<int:section_id>/edit": needs(*SECTION_CHANGES),
    "GET /admin/terms/<int:term_id>/sections/<int:section_id>/share": needs(*SECTION_CHANGES),
    "POST /admin/terms/<int:term_id>/sections/<int:section_id>/share": needs(*SECTION_CHANGES),
    f"GET {STATUS_CHANGE}": needs(*SECTION_CHANGES),
    f"POST {STATUS_CHANGE}": needs(*SECTION_CHANGES),
    "GET /admin/terms/<int:term_id>/sections/<int:section_id>/results": needs(
        Right.SEE_ROSTERS, Right.SCHEDULE
    ),
    "GET /admin/terms/<int:term_id>/adjust": needs(Right.ADJUST),
    "POST /admin/terms/<int:term_id>/adjust": needs(Right.ADJUST),
    "GET /admin/search": needs(Right.SEE_STUDENTS, Right.SCHEDULE, Right.ADVISE),
    "GET /admin/terms/<int:term_id>/sections/several": needs(*SECTION_CHANGES),
    "POST /admin/terms/<int:term_id>/sections/several": needs(*SECTION_CHANGES),
    "GET /admin/terms/<int:term_id>/rooms": needs(*SECTIONS),
    "GET /admin/terms/<int:term_id>/rooms/<int:room_id>": needs(*SECTIONS),
    "GET /admin/terms/<int:term_id>/rooms/<int:room_id>/seats": needs(Right.CHANGE_SECTIONS),
    "POST /admin/terms/<int:term_id>/rooms/<int:room_id>/seats": needs(Right.CHANGE_SECTIONS),
    "GET /admin/terms/<int:term_id>/underfilled": needs(*SECTIONS),
    "POST /admin/terms/<int:term_id>/underfilled": needs(*SECTION_CHANGES),
    "GET /admin/students": needs(Right.SEE_STUDENTS, Right.ADVISE),
    "GET /admin/students/<int:student_id>": needs(Right.SEE_STUDENTS, Right.ADVISE),
    "GET /admin/students/<int:student_id>/adviser": needs(Right.CHANGE_STUDENTS),
    "POST /admin/students/<int:student_id>/adviser": needs(Right.CHANGE_STUDENTS),
    "GET /admin/students/<int:student_id>/view": needs(Right.VIEW_AS_STUDENT),
    "POST /admin/students/<int:student_id>/view": needs(Right.VIEW_AS_STUDENT),
    "POST /admin/viewing/stop": SIGNED_IN,
    "GET /admin/students/new": needs(Right.CHANGE_STUDENTS),
    "POST /admin/students/new": needs(Right.CHANGE_STUDENTS),
    "GET /admin/students/<int:student_id>/edit": needs(Right.CHANGE_STUDENTS),
    "POST /admin/students/<int:student_id>/edit": needs(Right.CHANGE_STUDENTS),
    "GET /admin/students/<int:student_id>/completed": needs(Right.CHANGE_STUDENTS),
    "POST /admin/students/<int:student_id>/completed": needs(Right.CHANGE_STUDENTS),
    "GET /admin/students/<int:student_id>/holds/new": needs(Right.CHANGE_HOLDS),
    "POST /admin/students/<int:student_id>/holds/new": needs(Right.CHANGE_HOLDS),
    "GET /admin/students/<int:student_id>/holds/<int:hold_id>/lift": needs(
        Right.CHANGE_HOLDS, Right.ADVISE
    ),
    "POST /admin/students/<int:student_id>/holds/<int:hold_id>/lift": needs(
        Right.CHANGE_HOLDS, Right.ADVISE
    ),
    "GET /admin/students/<int:student_id>/holds/<int:hold_id>/take-back": needs(
        Right.CHANGE_HOLDS, Right.ADVISE
    ),
    "POST /admin/students/<int:student_id>/holds/<int:hold_id>/take-back": needs(
        Right.CHANGE_HOLDS, Right.ADVISE
    ),
    "GET /admin/students/<int:student_id>/overrides/new": needs(Right.GRANT_PERMISSIONS),
    "POST /admin/students/<int:student_id>/overrides/new": needs(Right.GRANT_PERMISSIONS),
    "GET /admin/students/<int:student_id>/overrides/<int:override_id>/revoke": needs(
        Right.GRANT_PERMISSIONS
    ),
    "POST /admin/students/<int:student_id>/overrides/<int:override_id>/revoke": needs(
        Right.GRANT_PERMISSIONS
    ),
    "GET /admin/terms/<int:term_id>/windows/new": needs(Right.CHANGE_WINDOWS),
    "GET /admin/terms/<int:term_id>/windows": needs(Right.SEE_TERMS),
    "POST /admin/terms/<int:term_id>/windows": needs(Right.CHANGE_WINDOWS),
    "GET /admin/terms/<int:term_id>/windows/drafts/<int:draft>": needs(Right.CHANGE_WINDOWS),
    "POST /admin/terms/<int:term_id>/windows/drafts/<int:draft>": needs(Right.CHANGE_WINDOWS),
    "GET /admin/terms/<int:term_id>/windows/<int:window_id>/"
    "<any(move,cancel,extend,close):action>": needs(Right.CHANGE_WINDOWS),
    "POST /admin/terms/<int:term_id>/windows/<int:window_id>/"
    "<any(move,cancel,extend,close):action>": needs(Right.CHANGE_WINDOWS),
    "GET /admin/terms/<int:term_id>/windows/<int:window_id>/room": needs(Right.SEE_TERMS),
    "POST /admin/terms/<int:term_id>/windows/<int:window_id>/room": needs(Right.CHANGE_WINDOWS),
    "GET /admin/terms/<int:term_id>/windows/<int:window_id>/room/figures": needs(Right.SEE_TERMS),
    **dict.fromkeys(ROOM_STUDENTS, needs(Right.CHANGE_WINDOWS)),
    "GET /admin/terms/<int:term_id>/windows/<int:window_id>/room/"
    "<any(pause,resume,off,on,advice,back):control>": needs(Right.CHANGE_WINDOWS),
    "POST /admin/terms/<int:term_id>/windows/<int:window_id>/room/"
    "<any(pause,resume,off,on,advice,back):control>": needs(Right.CHANGE_WINDOWS),
    **dict.fromkeys(DRAW, needs(Right.CHANGE_WINDOWS)),
    "GET /admin/terms/<int:term_id>/rounds": needs(Right.SEE_ROUNDS),
    "GET /admin/terms/<int:term_id>/rounds/new": needs(Right.CHANGE_ROUNDS),
    "POST /admin/terms/<int:term_id>/rounds/new": needs(Right.CHANGE_ROUNDS),
    f"GET /admin{ROUND}": needs(Right.SEE_ROUNDS),
    f"GET /admin{ROUND}/compare": needs(Right.SEE_ROUNDS),
    f"GET /admin{ROUND}/now": needs(Right.SEE_ROUNDS),
    f"POST /admin{ROUND}/trial": needs(Right.CHANGE_ROUNDS),
    **{
        f"{method} /admin{ROUND}/{page}": needs(Right.CHANGE_ROUNDS)
        for page in ("edit", "end", "value", ROUND_STEP)
        for method in ("GET", "POST")
    },
    "GET /admin/webhooks": needs(Right.SEE_WEBHOOKS),
    "POST /admin/webhooks": needs(Right.CHANGE_WEBHOOKS),
    "GET /admin/mail-texts": needs(Right.SEE_MAIL_TEXTS),
    f"GET {MAIL_TEXT}": needs(Right.SEE_MAIL_TEXTS),
    f"POST {MAIL_TEXT}": needs(Right.CHANGE_MAIL_TEXTS),
    f"GET {MAIL_TEXT}/standard": needs(Right.CHANGE_MAIL_TEXTS),
    f"POST {MAIL_TEXT}/standard": needs(Right.CHANGE_MAIL_TEXTS),
    "GET /admin/report-subscriptions": needs(Right.SUBSCRIBE),
    "POST /admin/report-subscriptions": needs(Right.SUBSCRIBE),
    # The story's is an admin's; others: tests/notifications/test_report_mails.py
    f"GET {SUBSCRIPTION}/edit": MAXS,
    f"POST {SUBSCRIPTION}/edit": MAXS,
    f"GET {SUBSCRIPTION}/end": MAXS,
    f"POST {SUBSCRIPTION}/end": needs(Right.SUBSCRIBE),
    f"POST {SUBSCRIPTION}/send": needs(Right.SUBSCRIBE, found="none"),  # it was just ended
    "GET /admin/service-tokens": needs(Right.SEE_SERVICE_TOKENS),
    "POST /admin/service-tokens": needs(Right.CHANGE_SERVICE_TOKENS),
    "GET /admin/service-tokens/<int:token>/revoke": needs(
        Right.CHANGE_SERVICE_TOKENS, found="none"
    ),
    "POST /admin/service-tokens/<int:token>/revoke": needs(
        Right.CHANGE_SERVICE_TOKENS, found="none"
    ),
    "GET /.well-known/jwks.json": ANYONE,
    f"GET {WEBHOOK}": needs(Right.SEE_WEBHOOKS),
    f"GET {WEBHOOK}/edit": needs(Right.CHANGE_WEBHOOKS),
    f"POST {WEBHOOK}/edit": needs(Right.CHANGE_WEBHOOKS),
    f"POST {WEBHOOK}/test": needs(Right.CHANGE_WEBHOOKS),
    f"GET {WEBHOOK}/{SWITCH}": needs(Right.CHANGE_WEBHOOKS),
    f"POST {WEBHOOK}/{SWITCH}": needs(Right.CHANGE_WEBHOOKS),
    f"GET {WEBHOOK}/{DELIVERY}": needs(Right.CHANGE_WEBHOOKS),
    f"POST {WEBHOOK}/{DELIVERY}": needs(Right.CHANGE_WEBHOOKS),
    "GET /admin/operations": needs(Right.SEE_OPERATIONS),
    f"GET {FLAG}": needs(Right.OPERATE),
    f"POST {FLAG}": needs(Right.OPERATE),
    f"GET {QUEUE}": needs(Right.OPERATE),
    f"POST {QUEUE}": needs(Right.OPERATE),
    "GET /admin/operations/lag": needs(Right.SEE_OPERATIONS),
    "GET /admin/operations/opening": needs(Right.SEE_TERMS),
    f"GET {CATALOG}": needs(Right.SEE_SECTIONS),
    f"GET {CATALOG_CHANGE}": needs(Right.CHANGE_SECTIONS),
    f"POST {CATALOG_CHANGE}": needs(Right.CHANGE_SECTIONS),
    "GET /admin/courses/<int:course_id>": needs(Right.SEE_SECTIONS),
    "GET /admin/courses/new": needs(Right.CHANGE_SECTIONS),
    "POST /admin/courses/new": needs(Right.CHANGE_SECTIONS),
    "GET /admin/courses/<int:course_id>/edit": needs(Right.CHANGE_SECTIONS),
    "POST /admin/courses/<int:course_id>/edit": needs(Right.CHANGE_SECTIONS),
    f"GET {DEAD_LETTER}": needs(Right.OPERATE),
    f"POST {DEAD_LETTER}": needs(Right.OPERATE),
    f"GET {MAIL}": needs(Right.OPERATE),
    f"POST {MAIL}": needs(Right.OPERATE),
    "GET /admin/operations/audits/<int:term_id>": needs(Right.SEE_OPERATIONS),
    "POST /admin/operations/audits/<int:term_id>": needs(Right.OPERATE),
    "GET /admin/operations/audits/<int:term_id>/run": needs(Right.SEE_OPERATIONS),
    "GET /admin/terms/<int:term_id>/windows/<int:window_id>/report": needs(Right.SEE_REPORTS),
    # The story's window is open, so it has no file yet: tests/web/admin/windows/test_reports.py
    "GET /admin/terms/<int:term_id>/windows/<int:window_id>/report.csv": needs(
        Right.SEE_REPORTS, found="none"
    ),
    "GET /admin/terms/<int:term_id>/windows/<int:window_id>/fairness": needs(Right.SEE_REPORTS),
    "GET /admin/terms/<int:term_id>/windows/<int:window_id>/fairness.csv": needs(
        Right.SEE_REPORTS, found="none"
    ),
    "GET /admin/terms/new": needs(Right.CHANGE_TERMS),
    "POST /admin/terms/new": needs(Right.CHANGE_TERMS),
    "GET /admin/terms/<int:term_id>": needs(Right.SEE_TERMS),
    "GET /admin/terms/<int:term_id>/edit": needs(Right.CHANGE_TERMS),
    "POST /admin/terms/<int:term_id>/edit": needs(Right.CHANGE_TERMS),
    f"GET {TERM_STATE}": needs(Right.CHANGE_TERMS),
    f"POST {TERM_STATE}": needs(Right.CHANGE_TERMS),
    "GET /admin/terms/<int:term_id>/windows/copy": needs(Right.CHANGE_WINDOWS),
    "POST /admin/terms/<int:term_id>/windows/copy": needs(Right.CHANGE_WINDOWS),
    "GET /admin/terms/<int:term_id>/rules": needs(Right.CHANGE_TERMS),
    "POST /admin/terms/<int:term_id>/rules": needs(Right.CHANGE_TERMS),
    "GET /admin/terms/<int:term_id>/rules/bands": needs(Right.CHANGE_TERMS),
    "POST /admin/terms/<int:term_id>/rules/bands": needs(Right.CHANGE_TERMS),
    "GET /account": MEMBER,
    "POST /account/privacy": STUDENT._replace(body={"private": "yes"}),
    "GET /account/password": SIGNED_IN,
    "POST /account/password": SIGNED_IN,
    "POST /account/sessions/end": Rule("login login login login login login"),
    "GET /account/tokens": MEMBER,
    "POST /account/tokens": SIGNED_IN,
    "GET /account/tokens/<int:token>/revoke": HERS,
    "POST /account/tokens/<int:token>/revoke": HERS,
    "GET /captcha": SIGNED_IN,
    "POST /captcha": SIGNED_IN,
    "GET /captcha/challenge": SIGNED_IN,
    "GET /captcha/code": SIGNED_IN,
    "POST /captcha/code": SIGNED_IN,
    "POST /captcha/code/mail": SIGNED_IN,
    "GET /login/challenge": ANYONE,
    "POST /login/challenge": ANYONE,
    "GET /login/oidc": NOTHING,  # where no provider is configured: tests/web/account/oidc
    "GET /login/oidc/back": NOTHING,
    "GET /login/oidc/end": NOTHING,
    "GET /terms/<int:term_id>/room": OWN,
    "POST /terms/<int:term_id>/room": STUDENT,
    "GET /terms/<int:term_id>/room/leave": OWN,
    "POST /terms/<int:term_id>/room/leave": STUDENT,
    "GET /terms/<int:term_id>/windows/<int:window_id>/order": ANYONE,  # for all to recompute
    "GET /terms/<int:term_id>/windows/<int:window_id>/order.txt": ANYONE,
    # The story's draw has no public value: tests/waiting_room/test_draw_codes.py
    "GET /terms/<int:term_id>/windows/<int:window_id>/draw.json": NOTHING,
    "GET /terms/<int:term_id>/verify_root.py": ANYONE,
    **dict.fromkeys(ADMIN_API, SERVICE),
    "GET /api/docs": ANYONE,
    "GET /api/v1/applications": OWN,
    "GET /api/v1/applications/kinds": OWN._replace(query="?semester_id={term_id}"),
    "POST /api/v1/applications": STUDENT,
    f"GET {API_APPLICATION}": HER_APPLICATION,
    f"POST {API_APPLICATION}/answers": Rule("login in in no no no"),  # 422: no body
    f"POST {API_APPLICATION}/documents": Rule("- - - no no no"),  # tests/applications
    f"DELETE {API_APPLICATION}/documents/{ID.format('document')}": HER_APPLICATION,
    f"POST {API_APPLICATION}/submit": HER_APPLICATION,
    "GET /api/v1/me": MEMBER,
    "GET /api/v1/openapi.json": ANYONE,
    "GET /api/v1/captcha": SIGNED_IN,
    "GET /api/v1/metrics/lag": needs(Right.SEE_OPERATIONS),
    "GET /api/v1/metrics/lag/stages": needs(Right.SEE_OPERATIONS),
    "GET /api/v1/projections/health": needs(Right.SEE_OPERATIONS),
    "GET /api/v1/semesters": SIGNED_IN,
    "GET /api/v1/windows": MEMBER._replace(query="?semester_id={term_id}"),
    "GET /api/v1/sections/available": SIGNED_IN,
    f"GET /api/v1/students/{STUDENT_ID}/registrations": RECORDS,
    f"GET /api/v1/students/{STUDENT_ID}/waitlist": RECORDS,
    "POST /api/v1/register": STUDENT,
    "POST /api/v1/register/drop": STUDENT,
    "POST /api/v1/register/leave": STUDENT,
    f"POST /api/v1/waiting-room/{WINDOW_ID}/requests": STUDENT,
    f"GET /api/v1/waiting-room/{WINDOW_ID}/requests/<string(length=32):request_id>": Rule(
        "login in none no no no"
    ),
}


def rule_for(route: str) -> Rule:
    """Return the rule of a route, such as `GET /login`."""
    if route not in RULES:
        pytest.fail(
            f"Add a rule for {route} to RULES in tests/web/http/route_rules.py.", pytrace=False
        )
    return RULES[route]
