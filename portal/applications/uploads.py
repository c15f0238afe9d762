"""Documents that arrive in pieces, so that a lost connection costs one piece at most.

The pieces wait in PostgreSQL, where every node finds them. The last one makes the document.
"""

from dataclasses import asdict, dataclass
from datetime import timedelta
from hashlib import sha256

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from portal.applications import documents
from portal.applications.documents import NewDocument, tidy
from portal.applications.history import locked
from portal.applications.inspection import MOST_BYTES, Refused
from portal.applications.models import EDITABLE, Upload, UploadPiece
from portal.core.db import transaction

PIECE = 2**20  # bytes of a piece at most
MOST_OPEN = 5  # unfinished uploads of an application
KEPT = timedelta(days=1)


class WrongStart(ValueError):  # noqa: N818  an expected state, not an error
    """The piece does not start at `received`, the end of the stored pieces."""

    def __init__(self, received: int) -> None:
        super().__init__(received)
        self.received = received


@dataclass(frozen=True)
class NewUpload:
    """A document to come: which of the kind's documents, its name, bytes and SHA-256 digest."""

    part: str
    name: str
    size: int
    digest: str


def begin(application: int, account: int, wanted: NewUpload) -> tuple[int, int]:
    """Return the id of an upload and the bytes it has: the same file goes on where it stopped.

    Raises Refused.
    """
    if not 0 < wanted.size <= MOST_BYTES:
        raise Refused("large" if wanted.size > 0 else "empty")
    with transaction() as session:
        owner = locked(session, application, account)
        if owner.state not in EDITABLE:
            raise Refused("late")
        mine = select(Upload).where(Upload.application_id == application)
        facts = asdict(wanted) | {"name": tidy(wanted.name)}
        if found := session.scalar(mine.filter_by(**facts)):
            return found.id, found.received
        begun = session.scalars(mine.order_by(Upload.id)).all()
        for old in begun[: max(0, len(begun) + 1 - MOST_OPEN)]:
            session.delete(old)
        made = Upload(application_id=application, **facts)
        session.add(made)
        session.flush()
        return made.id, 0


def add(upload: int, application: int, account: int, start: int, content: bytes) -> int:
    """Store a piece and return the bytes that are there; the last piece makes the document.

    A piece that is sent again changes nothing. Raises LookupError, WrongStart and Refused.
    """
    with transaction() as session:
        locked(session, application, account)
        found = session.get(Upload, upload, with_for_update=True)
        if found is None or found.application_id != application:
            raise LookupError(f"upload {upload}")
        if start != found.received or found.received + len(content) > found.size:
            raise WrongStart(found.received)
        if content:
            session.add(UploadPiece(upload_id=upload, start=start, content=content))
        found.received += len(content)
        if found.received < found.size:
            return found.received
    return _finish(upload, application, account)


def _finish(upload: int, application: int, account: int) -> int:
    """Make the document, then forget the pieces: repeating it makes the same one."""
    with transaction() as session:
        found = session.get_one(Upload, upload)
        pieces = select(UploadPiece.content).where(UploadPiece.upload_id == upload)
        content = b"".join(session.scalars(pieces.order_by(UploadPiece.start)))
    try:
        if sha256(content).hexdigest() != found.digest:
            raise Refused("mixed")
        documents.add(application, account, NewDocument(found.part, found.name, content))
    finally:
        with transaction() as session:
            session.execute(delete(Upload).where(Upload.id == upload))
    return found.size


def delete_old(session: Session) -> None:
    """Delete unfinished uploads."""
    session.execute(delete(Upload).where(Upload.made_at < func.now() - KEPT))
