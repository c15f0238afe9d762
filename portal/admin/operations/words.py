"""What the operations page calls things, in few words."""

from portal.core.i18n import _, _l
from portal.notifications.kinds import KINDS

STATES = {"idle": _l("idle"), "busy": _l("at work"), "silent": _l("silent")}
MEANINGS = {
    "waiting_room": _l("Off: everyone is let in at once, those who wait too."),
    "captcha": _l(
        "Off: no proof is asked for before claiming; of who guesses passwords it still is."
    ),
    "captcha_server": _l("Off: our own captcha is used."),
    "captcha_breaker": _l("Off: the server is asked every time, however often it fails."),
    "rate_limits": _l("Off: requests are not counted. Tries of passwords still are."),
    "live_push": _l("Off: pages ask every few seconds, and say that live updates are paused."),
    "mail": _l("Off: mails wait. Those that are too late to be of use are then not sent."),
    "mail_breaker": _l("Off: the server is asked every time, however often it fails."),
    "webhooks": _l("Off: what receivers are to be told waits."),
    "provider_breaker": _l("Off: the provider is asked every time, however often it fails."),
    "autoscaling": _l("Off: each queue has its least number of workers, however much waits."),
    "bulkheads": _l("Off: uploads and errands are taken on however many there are already."),
    "caches": _l("Off: what pages show is read from PostgreSQL each time; slower, never staler."),
}
BREAKERS = {
    "mail": _l("Mail server"),
    "captcha": _l("Captcha server"),
    "provider": _l("Login provider"),
}
STEPS = {
    "waiting": _l("Waits for its turn"),
    "recording": _l("Records what is not recorded yet"),
    "reading": _l("Reads the ledger"),
    "comparing": _l("Compares"),
    "done": _l("Done"),
}


def mail(kind: str) -> str:
    """What a mail was about."""
    return str(KINDS[kind].label) if kind in KINDS else _("A warning about an account")
