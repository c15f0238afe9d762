"""The blueprints of the portal, one per kind of visitor or purpose."""

from portal.web import (
    admin,
    calendar_feed,
    captcha,
    home,
    live,
    monitoring,
    payments,
    student,
    well_known,
)
from portal.web.account import inbox, language, login, my_account, oidc, recovery, sign_up
from portal.web.instructor import sections as instructor
from portal.web.student import receipts

BLUEPRINTS = (
    login.bp,
    oidc.bp,
    sign_up.bp,
    recovery.bp,
    payments.bp,
    my_account.bp,
    language.bp,
    home.bp,
    captcha.bp,
    student.bp,
    receipts.receipts_bp,
    instructor.bp,
    admin.bp,
    calendar_feed.bp,
    well_known.bp,
    inbox.bp,
    inbox.settings_bp,
    live.bp,
    monitoring.health_bp,
    monitoring.metrics_bp,
)
