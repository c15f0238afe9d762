"""What was sent through the page, kept in PostgreSQL until it has been applied or given up."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.core.db import transaction
from portal.exchange.importing.models import ImportPart
from portal.exchange.importing.sources import Source, source_of

PIECE = 2**20
MOST_FILES = 20
LONGEST_NAME = 200  # bytes, of which file systems take 255

File = tuple[str, BinaryIO]


def digest(files: Iterable[File]) -> str:
    """The SHA-256 of one file; of several, that of their names and contents."""
    found, listed = hashlib.sha256(), list(files)
    for name, file in listed:
        if len(listed) > 1:
            found.update(f"{name}\0".encode())
        for piece in pieces(file):
            found.update(piece)
    return found.hexdigest()


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, or of all files of a folder."""
    paths = [path] if path.is_file() else sorted(each for each in path.iterdir() if each.is_file())
    with ExitStack() as stack:
        return digest([(each.name, stack.enter_context(each.open("rb"))) for each in paths])


def keep(session: Session, import_id: int, files: Iterable[File]) -> None:
    """Put files away, piece by piece."""
    for name, file in files:
        for position, piece in enumerate(pieces(file)):
            row = ImportPart(import_id=import_id, name=name, position=position, content=piece)
            session.add(row)
            session.flush()
            session.expunge(row)


def bare(name: str) -> str:
    """A file's name without folders, as browsers may send some; of a long one the end."""
    last = name.replace("\\", "/").rpartition("/")[2]
    told = "".join(sign for sign in last if sign.isprintable()).encode()[-LONGEST_NAME:]
    return told.decode(errors="ignore").lstrip(".") or "file"


def pieces(file: BinaryIO) -> Iterator[bytes]:
    """The content of a file from its beginning, a piece at a time."""
    file.seek(0)
    while piece := file.read(PIECE):
        yield piece


@contextmanager
def unpacked(import_id: int) -> Iterator[Source]:
    """What was sent, in a folder that lasts as long as the block."""
    with TemporaryDirectory(prefix="fairseat-import-") as folder:
        for name, position in _pieces_of(import_id):
            with transaction() as session, (Path(folder) / name).open("ab") as out:
                out.write(session.get_one(ImportPart, (import_id, name, position)).content)
        yield source_of(Path(folder))


def _pieces_of(import_id: int) -> list[tuple[str, int]]:
    found = select(ImportPart.name, ImportPart.position).where(ImportPart.import_id == import_id)
    with transaction() as session:
        ordered = found.order_by(ImportPart.name, ImportPart.position)
        return [(name, position) for name, position in session.execute(ordered)]
