"""The kinds of problems that have a name of their own, each told on the page of the API."""

from typing import Literal

Kind = Literal[
    "malformed",
    "no-pass",
    "form-token",
    "key-reused",
    "silent",
    "refused",
    "captcha",
    "window-ended",
]

KINDS: dict[Kind, tuple[str, str]] = {
    "malformed": (
        "400, 404, 422",
        (
            "A field makes no sense, or names what is not offered. `errors` says of each where it"
            " is (`in`, and `pointer`, a JSON pointer) and what is wrong. Nothing was changed."
        ),
    ),
    "no-pass": (
        "403",
        (
            "The header `Fairseat-Pass` is missing, or its access token has ended, or is that of"
            " another account or semester. It ends with the visit: when its student leaves the"
            " waiting room, or did not ask for it again in time. The waiting room gives them out:"
            " `POST /api/v1/waiting-room/{window_id}/requests`."
        ),
    ),
    "form-token": (
        "400",
        (
            "A session wants to change something without the header `X-CSRFToken`."
            " `GET /api/v1/me` has the token. Access tokens need none."
        ),
    ),
    "key-reused": (
        "400",
        "The idempotency key stood for another request within the last day. Take a new one.",
    ),
    "silent": (
        "503",
        (
            "The request was sent on and no answer came: it may have been decided. Send it again"
            " with the `Idempotency-Key` of this answer."
        ),
    ),
    "refused": (
        "409",
        (
            "It was decided, and nothing was granted. `data` is the same as in an answer: results"
            " with all their reasons, by code and in words, and a receipt for each."
        ),
    ),
    "captcha": (
        "422",
        (
            "The waiting room wants a proof that no robot asks: solve a challenge of"
            " `GET /api/v1/captcha`, and send the solution once."
        ),
    ),
    "window-ended": ("409", "There is no line any more: the window has ended."),
}


def kind(name: Kind) -> str:
    """The type of a problem: the place that tells of it."""
    return f"/api/docs#{name}"
