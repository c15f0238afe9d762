"""The table of all routes: the response for each person of the cast.

The story is `tests/web/all_pages.py`; where an address names something of somebody's, it names
Ada's: her receipt, her notification, a section that she is in and that Iris teaches.
"""

from typing import NamedTuple

from portal.catalog.deletion import KINDS as CATALOG_KINDS
from portal.catalog.terms import STATE_CHANGES
from portal.core.flags import NAMES
from portal.core.queue import QUEUES

PEOPLE = ("nobody", "ada", "ben", "iris", "otto", "max")


class Rule(NamedTuple):
    """The responses in the order of PEOPLE, and the values that the address and the form need.

    `in`: whatever is there. `login`: the login page, or 401. `no`: 403. `none`: 404.
    `own`: in, to see what is theirs and nothing of hers. `-`: not asked here.
    """

    gets: str
    query: str = ""
    body: dict[str, str] | None = None


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
MAIL = "/admin/operations/mails/<which>/<any(retry,discard):remedy>"
STATUS_CHANGE = (
    "/admin/terms/<int:term_id>/sections/<int:section_id>/"
    "<any(publish,confirm,reopen,cancel,delete,undelete):change>"
)

ANYONE = Rule("in in in in in in")
NOTHING = Rule("none none none none none none")
ASKED_ELSEWHERE = Rule("- - - - - -")
SIGNED_IN = Rule("login in in in in in")
STUDENT = Rule("login in in no no no")
OWN = Rule("login in own no no no")
MEMBER = Rule("login in own own own own")
HERS = Rule("login in none none none none")
RECORDS = Rule("login in none in none in")  # her instructor sees what is of their own classes
TEACHES = Rule("login no no in no in")
ASKS = Rule("login no no in no no")  # of their own classes
ADMIN = Rule("login no no no no in")
# What waits for the registrar; tests/applications/test_department_deciders.py has the others.
NOT_THEIRS = Rule("login no no none no no")
NOT_YET = Rule("login no no no no none")

SERVICE = Rule("login no no no no no")  # programs alone: tests/web/api/test_admin_*.py

API_TERM = f"/api/v1/admin/semesters/{ID.format('semester')}"
API_WINDOW = f"{API_TERM}/windows/{WINDOW_ID}"
API_ROOM = f"{API_WINDOW}/waiting-room"
ROOM_STUDENTS = tuple(
    f"{method} /admin/terms/<int:term_id>/windows/<int:window_id>/room/{view}"
    for view in ("admit", "expire", "empty")
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
    "GET /receipts/<code>": Rule("login in none no no in"),  # an admin is led to the registrar's
    "GET /terms/<int:term_id>": Rule("login in own no no in"),  # an admin is led to the sections
    "GET /terms/<int:term_id>/stage": OWN,
    "GET /terms/<int:term_id>/mine": OWN,
    "GET /terms/<int:term_id>/history": OWN,
    "GET /terms/<int:term_id>/plan": OWN,
    "GET /terms/<int:term_id>/plan/panel": OWN,
    "POST /terms/<int:term_id>/plan/change": STUDENT,
    "POST /terms/<int:term_id>/plan/toggle": STUDENT,
    "POST /terms/<int:term_id>/plan/submit": STUDENT,
    "POST /terms/<int:term_id>/rows": STUDENT,
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
    "GET /admin": ADMIN,
    "GET /teaching/sections/<int:section_id>/requests/seats": ASKS,
    "POST /teaching/sections/<int:section_id>/requests/seats": ASKS,
    "GET /teaching/sections/<int:section_id>/requests/override": ASKS,
    "POST /teaching/sections/<int:section_id>/requests/override": ASKS,
    "GET /teaching/requests": Rule("login no no in own no"),
    "POST /teaching/requests/<int:instructor_request_id>/withdraw": Rule("login no no in none no"),
    "GET /teaching/applications": Rule("login no no in no no"),  # Iris decides for a department
    "GET /teaching/applications/all.csv": Rule("login no no in no no"),
    "GET /teaching/applications/<int:application_id>": NOT_THEIRS,
    "POST /teaching/applications/<int:application_id>": Rule("login no no own no no"),  # the queue
    "GET /teaching/applications/<int:application_id>/documents/<int:document_id>": NOT_THEIRS,
    f"GET {PAGE.replace('admin', 'teaching')}": NOT_THEIRS,
    "GET /admin/applications": ADMIN,
    "GET /admin/applications/all.csv": ADMIN,
    "GET /admin/applications/<int:application_id>": ADMIN,
    "GET /admin/applications/<int:application_id>/documents/<int:document_id>": ADMIN,
    "POST /admin/applications/<int:application_id>/documents/check": ADMIN,
    f"GET {PAGE}": ADMIN,
    "GET /admin/applications/<int:application_id>/refund": ADMIN,
    "POST /admin/applications/<int:application_id>/refund": ADMIN,
    "GET /admin/applications/retention": ADMIN,
    "POST /admin/applications/retention": ADMIN,
    f"GET {RETRY}": ADMIN,
    f"POST {RETRY}": ADMIN,
    "POST /admin/applications/<int:application_id>": ADMIN._replace(
        body={"decision": "decline", "note": "No.", "version": "1"}
    ),
    "GET /admin/audit": ADMIN,
    "GET /admin/audit/<int:entry_id>": ADMIN,
    "GET /admin/audit.csv": ADMIN,
    "GET /admin/instructors": ADMIN,
    "GET /admin/instructors/<int:instructor_id>": ADMIN,
    "GET /admin/instructors/<int:instructor_id>/link": ADMIN._replace(query="?account=iris"),
    "POST /admin/instructors/<int:instructor_id>/link": ADMIN,
    "GET /admin/instructors/<int:instructor_id>/unlink": ADMIN,
    "POST /admin/instructors/<int:instructor_id>/unlink": ADMIN,
    "GET /admin/instructors/<int:instructor_id>/decider": ADMIN,
    "POST /admin/instructors/<int:instructor_id>/decider": ADMIN,
    "GET /admin/requests": ADMIN,
    "GET /admin/requests/<int:instructor_request_id>": ADMIN,
    "POST /admin/requests/<int:instructor_request_id>": ADMIN,
    "GET /admin/imports": ADMIN,
    "POST /admin/imports": ADMIN,
    "GET /admin/imports/<int:import_id>": ADMIN,
    "GET /admin/imports/<int:import_id>/progress": ADMIN,
    "GET /admin/imports/<int:import_id>/report.csv": ADMIN,
    "POST /admin/imports/<int:import_id>"
    "/<any(apply,rest,past,overwrite,discard,again,enroll,resume):step>": ADMIN,
    "GET /admin/imports/<int:import_id>/columns": ADMIN,
    "POST /admin/imports/<int:import_id>/columns": ADMIN,
    "GET /admin/imports/columns/<int:mapping_id>/delete": ADMIN,
    "POST /admin/imports/columns/<int:mapping_id>/delete": ADMIN,
    "GET /admin/imports/<int:import_id>/end": ADMIN,
    "POST /admin/imports/<int:import_id>/end": ADMIN,
    "POST /admin/exports": ADMIN,
    "GET /admin/exports/<int:export_id>": ADMIN,
    "GET /admin/exports/<int:export_id>/oneroster.zip": ADMIN,
    "GET /admin/terms/<int:term_id>/rosters.csv": ADMIN,
    "GET /admin/terms/<int:term_id>/semester.<any(zip,xlsx):suffix>": ADMIN,
    "GET /admin/terms/<int:term_id>/sections/<int:section_id>/roster.csv": ADMIN,
    "GET /admin/now": ADMIN,
    "GET /admin/sections": ADMIN,
    "GET /admin/receipts": ADMIN,
    "GET /admin/receipts/<code>": ADMIN,
    "GET /admin/students/<int:student_id>/privacy": ADMIN,
    "POST /admin/students/<int:student_id>/privacy": ADMIN._replace(
        body={"private": "yes", "reason": "asked for it"}
    ),
    "GET /admin/terms/<int:term_id>/sections": ADMIN,
    "GET /admin/terms/<int:term_id>/sections/new": ADMIN,
    "POST /admin/terms/<int:term_id>/sections/new": ADMIN,
    "GET /admin/terms/<int:term_id>/sections/deleted": ADMIN,
    "GET /admin/terms/<int:term_id>/sections/<int:section_id>": ADMIN,
    "GET /admin/terms/<int:term_id>/sections/<int:section_id>/edit": ADMIN,
    "POST /admin/terms/<int:term_id>/sections/<int:section_id>/edit": ADMIN,
    "GET /admin/terms/<int:term_id>/sections/<int:section_id>/share": ADMIN,
    "POST /admin/terms/<int:term_id>/sections/<int:section_id>/share": ADMIN,
    f"GET {STATUS_CHANGE}": ADMIN,
    f"POST {STATUS_CHANGE}": ADMIN,
    "GET /admin/terms/<int:term_id>/sections/<int:section_id>/results": ADMIN,
    "GET /admin/terms/<int:term_id>/adjust": ADMIN,
    "POST /admin/terms/<int:term_id>/adjust": ADMIN,
    "GET /admin/search": ADMIN,
    "GET /admin/terms/<int:term_id>/sections/several": ADMIN,
    "POST /admin/terms/<int:term_id>/sections/several": ADMIN,
    "GET /admin/terms/<int:term_id>/rooms": ADMIN,
    "GET /admin/terms/<int:term_id>/rooms/<int:room_id>": ADMIN,
    "GET /admin/terms/<int:term_id>/rooms/<int:room_id>/seats": ADMIN,
    "POST /admin/terms/<int:term_id>/rooms/<int:room_id>/seats": ADMIN,
    "GET /admin/terms/<int:term_id>/underfilled": ADMIN,
    "POST /admin/terms/<int:term_id>/underfilled": ADMIN,
    "GET /admin/students": ADMIN,
    "GET /admin/students/<int:student_id>": ADMIN,
    "GET /admin/students/<int:student_id>/completed": ADMIN,
    "POST /admin/students/<int:student_id>/completed": ADMIN,
    "GET /admin/students/<int:student_id>/holds/new": ADMIN,
    "POST /admin/students/<int:student_id>/holds/new": ADMIN,
    "GET /admin/students/<int:student_id>/holds/<int:hold_id>/lift": ADMIN,
    "POST /admin/students/<int:student_id>/holds/<int:hold_id>/lift": ADMIN,
    "GET /admin/students/<int:student_id>/overrides/new": ADMIN,
    "POST /admin/students/<int:student_id>/overrides/new": ADMIN,
    "GET /admin/students/<int:student_id>/overrides/<int:override_id>/revoke": ADMIN,
    "POST /admin/students/<int:student_id>/overrides/<int:override_id>/revoke": ADMIN,
    "GET /admin/terms/<int:term_id>/windows/new": ADMIN,
    "POST /admin/terms/<int:term_id>/windows": ADMIN,
    "GET /admin/terms/<int:term_id>/windows/drafts/<int:draft>": ADMIN,
    "POST /admin/terms/<int:term_id>/windows/drafts/<int:draft>": ADMIN,
    "GET /admin/terms/<int:term_id>/windows/<int:window_id>/"
    "<any(move,cancel,extend,close):action>": ADMIN,
    "POST /admin/terms/<int:term_id>/windows/<int:window_id>/"
    "<any(move,cancel,extend,close):action>": ADMIN,
    "GET /admin/terms/<int:term_id>/windows/<int:window_id>/room": ADMIN,
    "POST /admin/terms/<int:term_id>/windows/<int:window_id>/room": ADMIN,
    "GET /admin/terms/<int:term_id>/windows/<int:window_id>/room/figures": ADMIN,
    **dict.fromkeys(ROOM_STUDENTS, ADMIN),
    "GET /admin/terms/<int:term_id>/windows/<int:window_id>/room/"
    "<any(pause,resume,off,on):control>": ADMIN,
    "POST /admin/terms/<int:term_id>/windows/<int:window_id>/room/"
    "<any(pause,resume,off,on):control>": ADMIN,
    "GET /admin/webhooks": ADMIN,
    "POST /admin/webhooks": ADMIN,
    "GET /admin/service-tokens": ADMIN,
    "POST /admin/service-tokens": ADMIN,
    "GET /admin/service-tokens/<int:token>/revoke": NOT_YET,
    "POST /admin/service-tokens/<int:token>/revoke": NOT_YET,
    "GET /.well-known/jwks.json": ANYONE,
    f"GET {WEBHOOK}": ADMIN,
    f"GET {WEBHOOK}/edit": ADMIN,
    f"POST {WEBHOOK}/edit": ADMIN,
    f"POST {WEBHOOK}/test": ADMIN,
    f"GET {WEBHOOK}/{SWITCH}": ADMIN,
    f"POST {WEBHOOK}/{SWITCH}": ADMIN,
    f"GET {WEBHOOK}/{DELIVERY}": ADMIN,
    f"POST {WEBHOOK}/{DELIVERY}": ADMIN,
    "GET /admin/operations": ADMIN,
    f"GET {FLAG}": ADMIN,
    f"POST {FLAG}": ADMIN,
    f"GET {QUEUE}": ADMIN,
    f"POST {QUEUE}": ADMIN,
    "GET /admin/operations/lag": ADMIN,
    f"GET {CATALOG}": ADMIN,
    f"GET {CATALOG_CHANGE}": ADMIN,
    f"POST {CATALOG_CHANGE}": ADMIN,
    f"GET {DEAD_LETTER}": ADMIN,
    f"POST {DEAD_LETTER}": ADMIN,
    f"GET {MAIL}": ADMIN,
    f"POST {MAIL}": ADMIN,
    "GET /admin/operations/audits/<int:term_id>": ADMIN,
    "POST /admin/operations/audits/<int:term_id>": ADMIN,
    "GET /admin/operations/audits/<int:term_id>/run": ADMIN,
    "GET /admin/terms/<int:term_id>/windows/<int:window_id>/report": ADMIN,
    # The story's window is open, so it has no file yet: tests/web/admin/windows/test_reports.py
    "GET /admin/terms/<int:term_id>/windows/<int:window_id>/report.csv": NOT_YET,
    "GET /admin/terms/<int:term_id>/windows/<int:window_id>/fairness": ADMIN,
    "GET /admin/terms/<int:term_id>/windows/<int:window_id>/fairness.csv": NOT_YET,
    "GET /admin/terms/new": ADMIN,
    "POST /admin/terms/new": ADMIN,
    "GET /admin/terms/<int:term_id>": ADMIN,
    "GET /admin/terms/<int:term_id>/edit": ADMIN,
    "POST /admin/terms/<int:term_id>/edit": ADMIN,
    f"GET {TERM_STATE}": ADMIN,
    f"POST {TERM_STATE}": ADMIN,
    "GET /admin/terms/<int:term_id>/windows/copy": ADMIN,
    "POST /admin/terms/<int:term_id>/windows/copy": ADMIN,
    "GET /admin/terms/<int:term_id>/rules": ADMIN,
    "POST /admin/terms/<int:term_id>/rules": ADMIN,
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
    "GET /api/v1/metrics/lag": ADMIN,
    "GET /api/v1/metrics/lag/stages": ADMIN,
    "GET /api/v1/projections/health": ADMIN,
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
