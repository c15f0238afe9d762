"""The files of an import: a folder, or a zip that may be hostile."""

import io
import struct
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from portal.core.i18n import _k
from portal.exchange.importing.failures import ImportFailedError

MOST_FILES = 100
MOST_BYTES = 2**30  # of all files together, unpacked
MOST_RATIO = 200  # bytes that one packed byte may become; CSV of real people stays below 30
FREE_BYTES = 2**20  # a file up to this size may be packed as well as it can
LONGEST_INDEX = 2**16  # bytes of a zip's list of contents
INDEX_END = struct.Struct("<4s4H2LH")
ENCRYPTED = 1
METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
# Wrong names raise UnicodeDecodeError; unusual packing raises the last two.
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError),
    *(UnicodeDecodeError, NotImplementedError, IndexError),
)


class Source(Protocol):
    """Files by name."""

    def names(self) -> list[str]:
        """Return the names of the files."""

    def open(self, name: str) -> BinaryIO | None:
        """Open a file at its beginning; return None if there is no such file."""


def source_of(path: Path) -> Source:
    """Return the files of a folder or zip. Raise ImportFailedError if it is neither."""
    if path.is_dir():
        found = [each.name for each in path.iterdir()]
        if len(found) == 1 and found[0].lower().endswith(".zip"):
            return Zip.of(path / found[0])
        return Folder(path)
    if path.suffix.lower() == ".zip" and path.exists():
        return Zip.of(path)
    raise ImportFailedError(_k("%(path)s is neither a folder nor a zip."), path=path)


@dataclass(frozen=True)
class Folder:
    """The files of a folder."""

    path: Path

    def names(self) -> list[str]:
        """Return the names of the files."""
        return sorted(each.name for each in self.path.iterdir() if each.is_file())

    def open(self, name: str) -> BinaryIO | None:
        """Open a file."""
        try:
            return (self.path / name).open("rb")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ImportFailedError(
                _k("%(file)s can’t be read: %(why)s."), file=name, why=error.strerror
            ) from None


@dataclass
class Zip:
    """The files of a zip, unpacked as they are read and never written anywhere by their names."""

    packed: zipfile.ZipFile
    entries: dict[str, zipfile.ZipInfo]
    unpacked: dict[str, int] = field(default_factory=dict)  # bytes read so far, by name

    @classmethod
    def of(cls, path: Path) -> "Zip":
        """Open the zip at `path`. Raise ImportFailedError if it is damaged or hostile."""
        try:
            with path.open("rb") as raw:
                _check_index(raw, path.name)
            packed = zipfile.ZipFile(path)
        except DAMAGE:
            raise ImportFailedError(_k("%(file)s is not a readable zip."), file=path.name) from None
        return cls(packed, _entries(packed))

    def names(self) -> list[str]:
        """Return the names of the files."""
        return sorted(self.entries)

    def open(self, name: str) -> BinaryIO | None:
        """Open a file."""
        entry = self.entries.get(name)
        if entry is None:
            return None
        try:
            return cast("BinaryIO", io.BufferedReader(Unpacking(self, name, entry)))
        except DAMAGE:
            raise _damaged(name) from None


class Unpacking(io.RawIOBase):
    """A file of a zip. Reading stops if it unpacks to too much."""

    def __init__(self, owner: Zip, name: str, entry: zipfile.ZipInfo) -> None:
        self.owner, self.name, self.entry = owner, name, entry
        self._file = owner.packed.open(entry)
        self._done = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._file.read(len(buffer))
        except DAMAGE:
            raise _damaged(self.name) from None
        buffer[: len(data)] = data
        self._count(len(data))
        return len(data)

    def _count(self, more: int) -> None:
        self._done += more
        unpacked = self.owner.unpacked
        unpacked[self.name] = max(self._done, unpacked.get(self.name, 0))
        ratio = self._done / max(1, self.entry.compress_size)
        if self._done > FREE_BYTES and ratio > MOST_RATIO:
            raise ImportFailedError(
                _k("%(file)s unpacks to more than %(most)s times its size."),
                file=self.name,
                most=MOST_RATIO,
            )
        if sum(unpacked.values()) > MOST_BYTES:
            raise ImportFailedError(
                _k("The zip unpacks to more than %(most)s MB."), most=MOST_BYTES // 2**20
            )


def _damaged(name: str) -> ImportFailedError:
    return ImportFailedError(_k("%(file)s is damaged. Create the zip again."), file=name)


def _check_index(raw: BinaryIO, name: str) -> None:
    """Refuse a list of contents that would fill the memory before anything is unpacked."""
    size = raw.seek(0, io.SEEK_END)
    tail_from = max(0, size - INDEX_END.size - 2**16 - 20)
    raw.seek(tail_from)
    tail = raw.read()
    at = len(tail) - INDEX_END.size
    if at < 0 or not (tail[at : at + 4] == b"PK\5\6" and tail[-2:] == b"\0\0"):
        at = tail.rfind(b"PK\5\6")
    if at < 0:
        raise zipfile.BadZipFile
    length = INDEX_END.unpack_from(tail, at)[5]
    if length > LONGEST_INDEX or tail[max(0, at - 20) :].startswith(b"PK\6\7"):
        raise ImportFailedError(
            _k("%(file)s has more than %(most)s files."), file=name, most=MOST_FILES
        )


def _entries(packed: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the files by their bare names; all are at one level, or in one folder."""
    found: dict[str, zipfile.ZipInfo] = {}
    listed = [each for each in packed.infolist() if not _is_litter(each)]
    if len(listed) > MOST_FILES:
        raise ImportFailedError(_k("The zip has more than %(most)s files."), most=MOST_FILES)
    for entry in listed:
        folder, _, name = entry.filename.rpartition("/")
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


def _is_litter(entry: zipfile.ZipInfo) -> bool:
    """Folders, what has no name, and what systems add by themselves."""
    folder, _, name = entry.filename.rpartition("/")
    return not name or folder.startswith("__MACOSX") or name.startswith(".")
