"""The base class of refusals."""

from collections.abc import Mapping
from typing import ClassVar


class Refused(Exception):
    """The state forbids it, and nothing was changed: `code` is the reason.

    A subclass has the words for its reasons in `texts`.
    """

    texts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code

    @property
    def text(self) -> str:
        """Return the reason in words."""
        return str(self.texts[self.code])
