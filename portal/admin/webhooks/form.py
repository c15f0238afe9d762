"""The form of a receiver: its address, and the events that it is told of."""

from flask import request

from portal.admin.reasons import read_reason
from portal.admin.times import Reading
from portal.backend import backend
from portal.core.i18n import _
from portal.notifications.webhooks import reach
from portal.notifications.webhooks.names import NAMES


def read() -> Reading:
    """The values `url`, `names` and `reason`, or what is wrong with them."""
    reading = Reading()
    reading.values["url"] = _url(reading)
    chosen = [name for name in NAMES if name in request.form.getlist("names")]
    reading.values["names"] = chosen
    if not chosen:
        reading.wrong("names", _("Choose at least one event."))
    reading.values["reason"] = read_reason(reading, request.form)
    return reading


def _url(reading: Reading) -> str:
    url = request.form.get("url", "").replace("\0", "").strip()
    try:
        reach.parts(url, backend().settings.webhook_networks)
    except ValueError:
        reading.wrong(
            "url", _("Give an address such as https://example.edu/hook, without a password.")
        )
    return url
