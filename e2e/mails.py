"""The mails that a portal has sent, as files in its folder."""

from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from e2e.portal import Running


def mails_to(portal: Running, username: str) -> list[Path]:
    """Return the files of the mails to that person."""
    to = f"{username}@u.example"
    found = (portal.folder / "mail").glob("*.eml")
    # Parsing a mail takes a hundred times as long as looking for the address in its file.
    return [each for each in found if to.encode() in each.read_bytes() and to in read(each)["To"]]


def subjects_to(portal: Running, username: str) -> list[str]:
    """Return the subjects of the mails to that person."""
    return [read(each)["Subject"] for each in mails_to(portal, username)]


def read(file: Path) -> EmailMessage:
    """Return the mail in a file."""
    return message_from_bytes(file.read_bytes(), policy=policy.default)
