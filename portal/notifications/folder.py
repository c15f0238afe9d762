"""A folder of mails in place of a mail server, for demos and tries."""

from pathlib import Path

from portal.core.private_files import owner_only
from portal.notifications.letter import Letter
from portal.notifications.post import Unreachable


class Folder:
    """Keeps each mail as a file; what is sent again takes its own place."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def send(self, letter: Letter) -> None:
        """Write the mail; raises Unreachable where the disk does not let us."""
        partial = self.path / f".{letter.id}.part"
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(partial, "wb", opener=owner_only) as out:
                out.write(bytes(letter.message))
            partial.replace(self.path / f"{letter.id}.eml")
        except OSError as error:
            raise Unreachable(f"{self.path}: {error.strerror}") from error

    def close(self) -> None:
        """Nothing is left open."""
