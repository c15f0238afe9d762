"""Whether somebody reads what is asked for."""

from flask import request

AHEAD = ("prefetch", "prerender", "preview")


def ahead_of_reader() -> bool:
    """Whether a browser or a program asks before anyone has opened the page."""
    purpose = request.headers.get("Sec-Purpose") or request.headers.get("Purpose", "")
    return request.method == "HEAD" or purpose.lower().startswith(AHEAD)
