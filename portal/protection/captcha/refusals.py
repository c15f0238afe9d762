"""Why a proof or a code does not count, in words."""

from typing import Literal

from portal.core.i18n import _l

Reason = Literal["bad", "expired", "replayed", "another", "wrong_code", "no_code"]

TEXTS = {
    "bad": _l("The check did not work out. Start it again."),
    "expired": _l("This check was begun too long ago. Start it again."),
    "replayed": _l("This check has been used before, and each counts once. Start it again."),
    "another": _l("This check was begun with another account. Start it again."),
    "wrong_code": _l("This is not the code that we sent. Check it and try again."),
    "no_code": _l(
        "No code of yours is good now: each counts once, for ten minutes and five tries."
        " Have another one sent."
    ),
}


class NotProven(Exception):  # noqa: N818  an answer, not a mistake
    """A proof or a code does not count."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason

    @property
    def text(self) -> str:
        """Why, and what to do, in the reader's language."""
        return str(TEXTS[self.reason])
