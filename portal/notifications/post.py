"""How a mail leaves: by a mail server, or into a folder where there is none."""

from typing import Protocol

from portal.notifications.letter import Letter


class Refused(Exception):  # noqa: N818  answers, not mistakes
    """The server will never take this mail."""


class Deferred(Exception):  # noqa: N818
    """The server did not take this mail now."""


class Unreachable(Exception):  # noqa: N818
    """There was no server to ask."""


class Post(Protocol):
    """One talk, of many mails."""

    def send(self, letter: Letter) -> None:
        """Hand over a mail; raises Refused, Deferred or Unreachable."""

    def close(self) -> None:
        """End the talk."""
