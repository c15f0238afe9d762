"""Names of queues and feature flags for admins."""

from portal.core.i18n import _l

QUEUES = {
    "record": _l("Record what is decided"),
    "promote": _l("Promote from waitlists"),
    "maintain": _l("Tell the ledger of sections"),
    "notify": _l("Send notices and mail"),
    "background": _l("Background work: imports and audits"),
}
PARTS = {
    "waiting_room": _l("Waiting rooms"),
    "captcha": _l("Captcha"),
    "captcha_server": _l("Captcha server elsewhere"),
    "captcha_breaker": _l("Breaker of the captcha server"),
    "rate_limits": _l("Rate limits"),
    "live_push": _l("Live push"),
    "mail": _l("Mail"),
    "mail_breaker": _l("Breaker of the mail server"),
    "webhooks": _l("Webhooks"),
    "provider_breaker": _l("Breaker of the login provider"),
    "autoscaling": _l("Autoscaling of workers"),
    "bulkheads": _l("Bulkheads"),
    "caches": _l("Caches"),
}
