"""The base classes of refusals, and of errors that end a command."""

from collections.abc import Mapping
from typing import ClassVar


class CommandError(Exception):
    """Says why something can't be done; a command prints it and exits."""


class Refused(Exception):
    """The state forbids it, and nothing was changed: `code` is the reason.

    A subclass has the text of each reason in `texts`. They may name `facts`, as `%(end)s`.
    """

    texts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, code: str, **facts: object) -> None:
        super().__init__(code)
        self.code = code
        self.facts = facts

    @property
    def text(self) -> str:
        """Return the text of the reason."""
        text = str(self.texts[self.code])
        return text % self.facts if self.facts else text
