"""Form fields that may be shown again, or kept in an address, after a refusal.

An allow list: a form with any other field, such as a password or a code, is not offered again.
"""

import re
from collections.abc import Iterator

from flask import request

TOKEN = "csrf_token"  # noqa: S105  the name of the field; the page gives the form a new one
FIELDS = frozenset(
    {
        # claims, drops, swaps, waitlists and plans of students
        *("act", "along", "anyway", "back", "credits", "do", "edit", "feed", "instead", "line"),
        *("next", "place", "plan", "request", "unsure", "version", "wait"),
        # inboxes, languages, privacy
        *("before", "by_mail", "language", "layout", "private", "seen", "through"),
        # decisions of admins and instructors
        *("add", "capacity", "confirmed", "course", "credit_limit", "deed", "drop", "note"),
        *("over", "past", "places", "reason", "section", "status", "student", "term", "waives"),
        *("wanted", "was", "whom", "who"),
    }
)
NUMBERED = re.compile(r"(?:with|credits|version)[-_][0-9]{1,18}")  # one each for many sections


def shown() -> list[tuple[str, str]]:
    """Return the fields of the submitted form; none if one of them is not on the list."""
    fields = list(_sent())
    return fields if all(_listed(name) for name, _ in fields) else []


def listed() -> dict[str, str]:
    """Return the fields of the form that are on the list."""
    return {name: text for name, text in _sent() if _listed(name)}


def _sent() -> Iterator[tuple[str, str]]:
    return (each for each in request.form.items(multi=True) if each[0] != TOKEN)


def _listed(name: str) -> bool:
    return name in FIELDS or NUMBERED.fullmatch(name) is not None
