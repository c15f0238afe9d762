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
from portal.applications.inspection import MOST_BYTES, DocumentRefused
from portal.applications.models import EDITABLE, Upload, UploadPiece
from portal.core.db import transaction

PIECE = 2**20  # bytes of a piece at most
MOST_OPEN = 5  # unfinished uploads of an application
KEPT = timedelta(days=1)


class WrongStart(ValueError):
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

    Raises DocumentRefused.
    """
    if not 0 < wanted.size <= MOST_BYTES:
        raise DocumentRefused("large" if wanted.size > 0 else "empty")
    with transaction() as session:
        owner = locked(session, application, account)
        if owner.state not in EDITABLE:
            raise DocumentRefused("late")
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

    A piece that is sent again changes nothing. If the store is away, the pieces stay: another,
    empty piece tries again. Raises LookupError, WrongStart and DocumentRefused.
    """
    with transaction() as session:
        mine = Upload.id == upload, Upload.application_id == application
        size = session.scalar(select(Upload.size).where(*mine))
        if size is None:
            raise LookupError(f"upload {upload}")
        locked(session, application, account)
        found = session.scalar(select(Upload).where(*mine))
        if found is None:  # another request has just sent the last piece
            return size
        if start != found.received or found.received + len(content) > found.size:
            raise WrongStart(found.received)
        if content:
            session.add(UploadPiece(upload_id=upload, start=start, content=content))
        found.received += len(content)
        if found.received < size:
            return found.received
        refused = _finish(session, found, account)
    if refused:
        raise DocumentRefused(refused)
    return size


def _finish(session: Session, upload: Upload, account: int) -> str:
    """Make the document and delete the upload; return the code of why it is refused, or blank."""
    pieces = select(UploadPiece.content).where(UploadPiece.upload_id == upload.id)
    content = b"".join(session.scalars(pieces.order_by(UploadPiece.start)))
    sent, code = NewDocument(upload.part, upload.name, content), ""
    if sha256(content).hexdigest() != upload.digest:
        code = "mixed"
    else:
        try:
            documents.add_within(session, upload.application_id, account, sent)
        except DocumentRefused as refused:
            code = refused.code
    if code != "store":
        session.delete(upload)
    return code


def delete_old(session: Session) -> None:
    """Delete unfinished uploads."""
    session.execute(delete(Upload).where(Upload.made_at < func.now() - KEPT))
