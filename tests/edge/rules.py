"""The table of all routes: what each person of the cast gets there.

The story is `tests/web/everything.py`; where an address names something of somebody's, it names
Ada's: her receipt, her notice, a section that she is in and that Iris teaches.
"""

from typing import NamedTuple

PEOPLE = ("nobody", "ada", "ben", "iris", "otto", "max")


class Rule(NamedTuple):
    """What each gets, in the order of PEOPLE, and what the address and the form need.

    `in`: whatever is there. `login`: the login page, or 401. `no`: 403. `none`: 404.
    `own`: in, to see what is theirs and nothing of hers. `-`: not asked here.
    """

    gets: str
    query: str = ""
    body: dict[str, str] | None = None


ID = "<int(min=1, max=2147483647):{}_id>"
STUDENT_ID, WINDOW_ID = ID.format("student"), ID.format("window")

ANYONE = Rule("in in in in in in")
NOTHING = Rule("none none none none none none")
ASKED_ELSEWHERE = Rule("- - - - - -")
SIGNED_IN = Rule("login in in in in in")
STUDENT = Rule("login in in no no no")
OWN = Rule("login in own no no no")
MEMBER = Rule("login in own own own own")
HERS = Rule("login in none none none none")
RECORDS = Rule("login in none in none in")  # her teacher sees what is of their own classes
TEACHES = Rule("login no no in no in")
ADMIN = Rule("login no no no no in")

RULES = {
    "GET /": SIGNED_IN,
    "GET /login": ANYONE,
    "POST /login": ANYONE,
    "POST /logout": Rule("login login login login login login"),
    "POST /language": ANYONE,
    "GET /static/<path:filename>": ANYONE,
    "GET /style.css": ANYONE,
    "GET /script.js": ANYONE,
    "GET /clock": ANYONE,
    "GET /live": ANYONE,
    "GET /ready": ASKED_ELSEWHERE,  # by anyone; there are no workers here: tests/test_health.py
    "GET /health": ASKED_ELSEWHERE,
    "GET /calendar/<secret>.ics": ANYONE,  # whoever has the secret; tests/web/test_calendar_feed.py
    "GET /live/fragments": MEMBER._replace(query="?term={term_id}&held={section_id}"),
    "GET /live/room": STUDENT._replace(query="?term={term_id}&room={window_id}"),
    "GET /ws": ASKED_ELSEWHERE,  # tests/live/test_doors.py, tests/live/test_topics.py
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
    "POST /terms/<int:term_id>/plan/submit": STUDENT,
    "GET /terms/<int:term_id>/schedule": OWN,
    "GET /terms/<int:term_id>/schedule/feed": OWN,
    "POST /terms/<int:term_id>/schedule/feed": STUDENT,
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
    "GET /admin": ADMIN,
    "GET /admin/receipts": ADMIN,
    "GET /admin/receipts/<code>": ADMIN,
    "GET /admin/terms/<int:term_id>/sections": ADMIN,
    "GET /admin/terms/<int:term_id>/windows/new": ADMIN,
    "POST /admin/terms/<int:term_id>/windows": ADMIN,
    "GET /admin/terms/<int:term_id>/windows/<int:window_id>/"
    "<any(move,cancel,extend,close):action>": ADMIN,
    "POST /admin/terms/<int:term_id>/windows/<int:window_id>/"
    "<any(move,cancel,extend,close):action>": ADMIN,
    "GET /admin/terms/<int:term_id>/windows/<int:window_id>/room": ADMIN,
    "POST /admin/terms/<int:term_id>/windows/<int:window_id>/room": ADMIN,
    "GET /admin/terms/<int:term_id>/windows/<int:window_id>/room/figures": ADMIN,
    "GET /account": MEMBER,
    "GET /account/password": SIGNED_IN,
    "POST /account/password": SIGNED_IN,
    "POST /account/sessions/end": SIGNED_IN,
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
    "GET /login/oidc": NOTHING,  # where no provider is configured: tests/oidc
    "GET /login/oidc/back": NOTHING,
    "GET /login/oidc/end": NOTHING,
    "GET /terms/<int:term_id>/room": OWN,
    "POST /terms/<int:term_id>/room": STUDENT,
    "GET /terms/<int:term_id>/room/leave": OWN,
    "POST /terms/<int:term_id>/room/leave": STUDENT,
    "GET /terms/<int:term_id>/windows/<int:window_id>/order": ANYONE,  # for all to recompute
    "GET /terms/<int:term_id>/windows/<int:window_id>/order.txt": ANYONE,
    "GET /api/docs": ANYONE,
    "GET /api/v1/me": MEMBER,
    "GET /api/v1/openapi.json": ANYONE,
    "GET /api/v1/captcha": SIGNED_IN,
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
