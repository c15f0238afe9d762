"""The files of an import: a folder, or a zip that may be hostile; and how they are stored.

Each sheet of a workbook of Excel or OpenDocument is a CSV file of its name.
"""

import hashlib
import json
import logging
import os
import re
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from itertools import chain
from mmap import ACCESS_READ, mmap
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import IO, Any, NamedTuple

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from portal.core.db import transaction
from portal.core.i18n import _k
from portal.exchange.importing import workbook_sheets
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.models import ImportPart
from portal.exchange.importing.workbook_sheets import MOST_TEXT, UNREADABLE

log = logging.getLogger(__name__)

MOST_FILES = 100
MOST_BYTES = 2**30  # of all files together, unpacked
MOST_RATIO = 200  # bytes that one packed byte may become; CSV of real people stays below 30
FREE_BYTES = 2**20  # a file up to this size may be packed as well as it can
ENTRY = re.compile(b"PK\1\2")  # begins an entry in a zip's list of contents
MOST_ENTRIES = 1000  # with folders and what systems add by themselves
ENCRYPTED = 1
PIECE = 2**20
WORKBOOKS = {".xlsx", ".ods"}
MOST_WORKBOOK = 2**26  # bytes; read as a whole
WORKBOOK_SECONDS = 120.0
METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
# Wrong names raise ValueError; unusual packing raises the last two.
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError),
    *(ValueError, NotImplementedError, IndexError),
)


@dataclass(frozen=True)
class Files:
    """Files by name. The names of a zip's entries never become paths."""

    openers: dict[str, Callable[[], IO[Any]]]  # in binary mode
    sheets: dict[str, str] = field(default_factory=dict)  # names for people, of workbooks' sheets

    def names(self) -> list[str]:
        return sorted(self.openers)

    def shown(self, name: str) -> str:
        """Return the name of a file for people; that of a sheet has the workbook's."""
        return self.sheets.get(name, name)

    def open(self, name: str) -> IO[bytes]:
        """Open a file at its beginning. Raise ImportFailedError if that is not possible."""
        try:
            return self.openers[name]()
        except OSError as error:
            raise ImportFailedError(
                _k("%(file)s can’t be read: %(why)s."), file=name, why=error.strerror or error
            ) from None


def open_files(path: Path) -> Files:
    """Return the files of a folder or zip, or a file alone. Raise ImportFailedError."""
    if path.is_dir():
        found = sorted(each for each in path.iterdir() if each.is_file())
    elif path.is_file():
        found = [path]
    else:
        raise ImportFailedError(_k("%(path)s does not exist."), path=path)
    if len(found) == 1 and found[0].suffix.lower() == ".zip":
        return _as_tables(_with_sheets(_open_zip(found[0])))
    return _as_tables(_with_sheets(Files({each.name: partial(open, each, "rb") for each in found})))


def _as_tables(files: Files) -> Files:
    """Return the files with endings in small letters. Without CSV files, .txt and .tsv are such."""
    named = {name: _with_ending(name, PurePath(name).suffix.lower()) for name in files.openers}
    if not any(name.endswith(".csv") for name in named.values()):
        named = {
            name: _with_ending(tidy, ".csv") if tidy.endswith((".txt", ".tsv")) else tidy
            for name, tidy in named.items()
        }
    found: dict[str, Callable[[], IO[Any]]] = {}
    for name, tidy in named.items():
        if tidy in found:
            raise ImportFailedError(_k("%(file)s appears twice."), file=tidy)
        found[tidy] = files.openers[name]
    return Files(found, files.sheets)


def _with_ending(name: str, ending: str) -> str:
    """Return a name with another ending, in small letters if it is in capitals."""
    stem = PurePath(name).stem if ending else name
    return (stem.lower() if name.isupper() else stem) + ending


def _with_sheets(files: Files) -> Files:
    """Return the files with the sheets of workbooks in the place of the workbooks."""
    found = {
        name: open_
        for name, open_ in files.openers.items()
        if PurePath(name).suffix.lower() not in WORKBOOKS
    }
    shown: dict[str, str] = {}
    size = 0
    for name in sorted(files.openers.keys() - found.keys()):
        with files.open(name) as file:
            content = file.read(MOST_WORKBOOK + 1)
        if len(content) > MOST_WORKBOOK:
            raise _too_large(name)
        for sheet in _read_sheets(name, content):
            if sheet.file in found:
                raise ImportFailedError(_k("%(file)s appears twice."), file=sheet.file)
            found[sheet.file] = partial(BytesIO, sheet.content)
            shown[sheet.file] = sheet.shown
            size += len(sheet.content)
        if size > MOST_TEXT:
            raise ImportFailedError(_k("The workbooks are too large. Save their sheets as CSV."))
    return Files(found, shown)


class _Sheet(NamedTuple):
    """A sheet as a CSV file: its name as such a file, its name for people, and its content."""

    file: str
    shown: str
    content: bytes


def _read_sheets(name: str, content: bytes) -> list[_Sheet]:
    """Return the visible sheets of a workbook. Raise ImportFailedError.

    The only sheet of a workbook has the workbook's name, several have their own: `sections.csv`. A
    process of its own reads it: see workbook_sheets.py.
    """
    with TemporaryDirectory(prefix="fairseat-workbook-") as folder:
        file = Path(folder) / "workbook"
        file.write_bytes(content)
        command = [sys.executable, "-m", workbook_sheets.__name__, str(file), folder]
        try:
            done = subprocess.run(  # noqa: S603  our own module
                command,
                capture_output=True,
                timeout=WORKBOOK_SECONDS,
                check=False,
                env={"PATH": os.defpath},
            )
        except subprocess.TimeoutExpired:
            raise _too_large(name) from None
        if done.returncode == UNREADABLE:
            text = _k("%(file)s is not a readable workbook. Save it again, or as CSV.")
            raise ImportFailedError(text, file=name)
        if done.returncode:  # also if a limit ended it
            log.warning("A workbook was not read: %s", done.stderr[-500:].decode(errors="replace"))
            raise _too_large(name)
        sheets = json.loads(done.stdout)
        tables = [(Path(folder) / f"{at}.csv").read_bytes() for at in range(len(sheets))]
    alone = len(sheets) == 1
    shown = [name] if alone else [f"{name} ({each})" for each in sheets]
    names = [PurePath(name).stem] if alone else sheets
    names = ["_".join(each.lower().split()) + ".csv" for each in names]
    if len(set(names)) < len(names):
        raise ImportFailedError(_k("%(file)s has two sheets of the same name."), file=name)
    return [_Sheet(*each) for each in zip(names, shown, tables, strict=True)]


def _too_large(name: str) -> ImportFailedError:
    text = _k("%(file)s is too large for a workbook. Save its sheets as CSV.")
    return ImportFailedError(text, file=name)


def _open_zip(path: Path) -> Files:
    """Return the files of a zip. Raise ImportFailedError if it is damaged or hostile."""
    contents: list[zipfile.ZipInfo] = []
    try:
        with path.open("rb") as raw, mmap(raw.fileno(), 0, access=ACCESS_READ) as content:
            count = sum(1 for _ in ENTRY.finditer(content))
        if count <= MOST_ENTRIES:  # the list of contents of a hostile zip would fill the memory
            with zipfile.ZipFile(path) as packed:
                contents = packed.infolist()
    except DAMAGE:
        raise ImportFailedError(_k("%(file)s is not a readable zip."), file=path.name) from None
    entries = _entries(contents)
    if count > MOST_ENTRIES or len(entries) > MOST_FILES:
        raise ImportFailedError(_k("The zip has more than %(most)s files."), most=MOST_FILES)
    _check_sizes(entries)
    openers: dict[str, Callable[[], IO[Any]]] = {
        name: partial(_open_entry, path, entry) for name, entry in entries.items()
    }
    for name, open_ in openers.items():
        try:  # a file never unpacks to more than the size that it declares
            with open_() as file:
                while file.read(PIECE):
                    pass
        except DAMAGE:
            text = _k("%(file)s is damaged. Create the zip again.")
            raise ImportFailedError(text, file=name) from None
    return Files(openers)


def _open_entry(path: Path, entry: zipfile.ZipInfo) -> IO[bytes]:
    """Open a file of a zip. The zip is closed with it."""
    with zipfile.ZipFile(path) as packed:
        return packed.open(entry)


def _entries(contents: Iterable[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
    """Return the files by their bare names; all are at one level, or in one folder."""
    found: dict[str, zipfile.ZipInfo] = {}
    for entry in contents:
        folder, _, name = entry.filename.rpartition("/")
        # Folders, entries without a name, and what systems add by themselves.
        if not name or folder.startswith("__MACOSX") or name.startswith("."):
            continue
        if "/" in folder or "\\" in entry.filename or folder == ".." or entry.filename[0] == "/":
            raise ImportFailedError(
                _k("“%(file)s” is nested too deeply. Put all files in one folder."),
                file=entry.filename,
            )
        if entry.flag_bits & ENCRYPTED or entry.compress_type not in METHODS:
            raise ImportFailedError(
                _k(
                    "%(file)s is encrypted or uses an unsupported compression. Create a normal zip."
                ),
                file=name,
            )
        if name in found:
            raise ImportFailedError(_k("%(file)s appears twice."), file=name)
        found[name] = entry
    return found


def _check_sizes(entries: dict[str, zipfile.ZipInfo]) -> None:
    """Refuse files that unpack to too much."""
    for name, entry in entries.items():
        ratio = entry.file_size / max(1, entry.compress_size)
        if entry.file_size > FREE_BYTES and ratio > MOST_RATIO:
            raise ImportFailedError(
                _k("%(file)s unpacks to more than %(most)s times its size."),
                file=name,
                most=MOST_RATIO,
            )
    if sum(entry.file_size for entry in entries.values()) > MOST_BYTES:
        raise ImportFailedError(
            _k("The zip unpacks to more than %(most)s MB."), most=MOST_BYTES // 2**20
        )


# Sent files, stored until they are applied.

MOST_SENT = 20
LONGEST_NAME = 200  # bytes; file systems allow 255

File = tuple[str, IO[bytes]]


def digest_of_files(files: Iterable[File]) -> str:
    """Return the SHA-256 of a file; of several, that of their names and contents."""
    found, listed = hashlib.sha256(), list(files)
    for name, file in listed:
        if len(listed) > 1:
            found.update(f"{name}\0".encode())
        for piece in pieces(file):
            found.update(piece)
    return found.hexdigest()


def digest_of_path(path: Path) -> str:
    """Return the SHA-256 of a file, or of all files of a folder."""
    paths = [path] if path.is_file() else sorted(each for each in path.iterdir() if each.is_file())
    with ExitStack() as stack:
        return digest_of_files(
            [(each.name, stack.enter_context(each.open("rb"))) for each in paths]
        )


def store_files(session: Session, import_id: int, files: Iterable[File]) -> None:
    """Store files, piece by piece; an empty one has an empty piece."""
    for name, file in files:
        content = pieces(file)
        for position, piece in enumerate(chain([next(content, b"")], content)):
            row = {"import_id": import_id, "name": name, "position": position, "content": piece}
            session.execute(insert(ImportPart).values(row))


def has_files(session: Session, import_id: int) -> bool:
    """Return whether the files are still stored, so that they can be read again."""
    parts = select(ImportPart.position).where(ImportPart.import_id == import_id)
    return session.execute(parts.limit(1)).first() is not None


@contextmanager
def unpacked(import_id: int) -> Iterator[Files]:
    """Unpack the stored files into a temporary folder for the block."""
    parts = select(ImportPart.name, ImportPart.content).filter_by(import_id=import_id)
    parts = parts.order_by(ImportPart.name, ImportPart.position)
    with TemporaryDirectory(prefix="fairseat-import-") as folder:
        with transaction() as session:
            for name, content in session.execute(parts, execution_options={"yield_per": 1}):
                with (Path(folder) / name).open("ab") as out:
                    out.write(content)
        yield open_files(Path(folder))


def bare_name(name: str) -> str:
    """Return a file name without folders; of a long name the end."""
    last = name.replace("\\", "/").rpartition("/")[2]
    encoded = "".join(sign for sign in last if sign.isprintable()).encode()[-LONGEST_NAME:]
    return encoded.decode(errors="ignore").lstrip(".") or "file"


def pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of a file from its beginning, in pieces."""
    file.seek(0)
    while piece := file.read(PIECE):
        yield piece
