"""The blueprints of the portal, one per kind of visitor or purpose."""

from portal import account, instructor, live, student
from portal.metrics import scrape
from portal.notifications import inbox
from portal.notifications import settings as inbox_settings
from portal.ops import health
from portal.people import home, language, login, oidc
from portal.schedule import feed as calendar
from portal.student import receipts
from portal.web import admin, captcha

BLUEPRINTS = tuple(
    part.bp
    for part in (
        login,
        oidc,
        account,
        language,
        home,
        captcha,
        student,
        receipts,
        instructor,
        admin,
        calendar,
        inbox,
        inbox_settings,
        live,
        health,
        scrape,
    )
)
