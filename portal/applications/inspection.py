"""Judge a document by its content: type, pictures, pages, scripts, files inside.

`python -m portal.applications.inspection FILE NAME` runs in a process of its own, with limits of
memory and time, and prints a JSON object: `type`, or the code of why it is `refused`.
"""

import json
import logging
import re
import resource
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import filetype
from PIL import Image
from pypdf import PdfReader
from pypdf.errors import PyPdfError
from pypdf.filters import ASCII85Decode, ASCIIHexDecode, LZWDecode, RunLengthDecode
from pypdf.generic import ArrayObject, DictionaryObject, IndirectObject, NullObject, StreamObject

from portal.core.errors import Refused

MEMORY = 2**30  # bytes
CPU = 20  # seconds
MOST_BYTES = 10 * 2**20
MOST_PIXELS = 40_000_000
MOST_PAGES = 100
MOST_OBJECTS = 50_000
MOST_UNPACKED = 512 * 2**20  # bytes of all streams of a PDF
PIECE = 2**20
# By type, the endings of its names.
ENDINGS = {"pdf": (".pdf",), "jpg": (".jpg", ".jpeg"), "png": (".png",)}
# A name such as `grades.exe.pdf` or `grades.pdf.exe` deceives people.
PROGRAMS = re.compile(
    r"\.(?:app|bat|cmd|com|dll|dmg|exe|hta|html?|jar|js|lnk|msi|php|ps1|py|scr|sh|svg|vbs|wsf|zip)"
    r"(?:\.|$)"
)
SCRIPT_KEYS = {"/JS", "/JavaScript", "/XFA"}
SCRIPT_ACTIONS = {"/JavaScript", "/Launch", "/SubmitForm", "/ImportData", "/Rendition"}
FILE_KEYS = {"/EmbeddedFiles", "/EF", "/RichMedia"}
FILE_TYPES = {"/EmbeddedFile", "/RichMedia"}


class DocumentRefused(Refused):
    """The document is refused; documents.py has the texts, which few processes need."""


def first_look(content: bytes, name: str) -> str:
    """Return the type of a document by its first bytes and its name; raise DocumentRefused.

    It is fast, so the request that uploads the document calls it.
    """
    if not content:
        raise DocumentRefused("empty")
    if len(content) > MOST_BYTES:
        raise DocumentRefused("large")
    found = filetype.guess_extension(content[:8192])
    if found not in ENDINGS:
        raise DocumentRefused("type")
    if not name.lower().endswith(ENDINGS[found]) or PROGRAMS.search(name.lower()):
        raise DocumentRefused("name")
    return str(found)


def inspect(file: Path, name: str) -> tuple[str, int]:
    """Return the type and the pages of a document, if it is harmless as far as can be told.

    Raises DocumentRefused.
    """
    content = file.read_bytes()
    found = first_look(content, name)
    if zipfile.is_zipfile(file):
        raise DocumentRefused("two_types")
    try:
        if found == "pdf":
            return found, _check_pdf(file, content)
        _check_picture(file, content, found)
    except (MemoryError, RecursionError) as error:
        raise DocumentRefused("complex") from error
    return found, 1


# Pictures


def _check_picture(file: Path, content: bytes, found: str) -> None:
    Image.MAX_IMAGE_PIXELS = None  # ours is the limit, and an error rather than a warning
    try:
        with Image.open(file, formats=["JPEG" if found == "jpg" else "PNG"]) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise DocumentRefused("pixels")
            picture.load()
    except (OSError, SyntaxError, ValueError, zlib.error) as error:
        raise DocumentRefused("broken") from error
    end = _end_of_png(content) if found == "png" else content.rstrip(b"\0").endswith(b"\xff\xd9")
    if not end:
        raise DocumentRefused("two_types")


def _end_of_png(content: bytes) -> bool:
    """Return whether the last chunk ends the file."""
    at = 8
    while at + 12 <= len(content):
        following = at + 12 + int.from_bytes(content[at : at + 4])
        if content[at + 4 : at + 8] == b"IEND":
            return following == len(content)
        at = following
    return False


# PDFs


def _check_pdf(file: Path, content: bytes) -> int:
    """Return the number of pages; raise DocumentRefused."""
    _body, mark, rest = content.rpartition(b"%%EOF")
    if not content.startswith(b"%PDF-") or not mark or rest.strip():
        raise DocumentRefused("two_types")
    try:
        reader = PdfReader(file)
        if reader.is_encrypted:
            raise DocumentRefused("encrypted")
        if len(reader.pages) > MOST_PAGES:
            raise DocumentRefused("pages")
        if not len(reader.pages):
            raise DocumentRefused("broken")
        unpacked = 0
        for each in _objects(reader):
            _check_object(each)
            if isinstance(each, StreamObject):
                unpacked += _unpacked(each)
                if unpacked > MOST_UNPACKED:
                    raise DocumentRefused("complex")
    except (PyPdfError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        code = "complex" if "limit" in type(error).__name__.lower() else "broken"
        raise DocumentRefused(code) from error
    return len(reader.pages)


def _objects(reader: PdfReader) -> Iterator[Any]:
    """Yield every object that the file's tables name, and its trailer."""
    names = {(number, gen) for gen, table in reader.xref.items() for number in table}
    names |= {(number, 0) for number in reader.xref_objStm}
    if len(names) > MOST_OBJECTS:
        raise DocumentRefused("complex")
    yield reader.trailer
    for number, generation in sorted(names):
        if number:
            yield reader.get_object(IndirectObject(number, generation, reader))


def _check_object(found: Any) -> None:
    """Raise DocumentRefused if the object, or what it holds itself, is a script or a file."""
    if isinstance(found, DictionaryObject):
        keys = set(found)
        if keys & SCRIPT_KEYS or _value(found, "/S") in SCRIPT_ACTIONS:
            raise DocumentRefused("script")
        if keys & FILE_KEYS or _value(found, "/Type") in FILE_TYPES:
            raise DocumentRefused("files")
        held = [found.raw_get(key) for key in found]
    else:
        held = list(found) if isinstance(found, ArrayObject) else []
    for each in held:
        if isinstance(each, DictionaryObject | ArrayObject):
            _check_object(each)


def _value(found: DictionaryObject, key: str) -> Any:
    """Return a value, also if it is an object of its own that the dictionary only names."""
    return found[key] if key in found else None  # noqa: SIM401 - pypdf's `get` returns the name


def _unpacked(stream: StreamObject) -> int:
    """Return the size of a stream's content; raise DocumentRefused if it can't be told.

    Pictures count as they are stored: their pixels are limited where pages are drawn.
    """
    names = [SHORT_FILTERS.get(str(name), str(name)) for name in _listed(stream, "/Filter")]
    if sum(name in UNPACKERS for name in names) > 1:
        raise DocumentRefused("complex")  # packed twice: only bombs are
    content = stream._data  # noqa: SLF001  pypdf has no other name for the raw bytes
    for name in names:
        if name in UNPACKERS:
            if name == "/LZWDecode" and "/EarlyChange" in repr(_listed(stream, "/DecodeParms")):
                raise DocumentRefused(
                    "complex"
                )  # pypdf reads such a stream in another way than viewers
            return UNPACKERS[name](content)
        if name in TEXT_FILTERS:
            content = TEXT_FILTERS[name](content)
        elif name not in PICTURE_FILTERS:
            raise DocumentRefused("complex")
    return len(content)


def _listed(stream: StreamObject, key: str) -> list[Any]:
    """Return a stream's filters or their parameters, also if they are objects of their own."""
    found = _value(stream, key)
    if found is None or isinstance(found, NullObject):
        return []
    each_found = found if isinstance(found, ArrayObject) else [found]
    return [each.get_object() for each in each_found]


def _size_of_flate(content: bytes) -> int:
    """Return the size of a zlib stream's content, without keeping it."""
    unpacker, size, left = zlib.decompressobj(), 0, content
    with suppress(zlib.error):  # readers show what comes before the damage
        while left and not unpacker.eof:
            size += len(unpacker.decompress(left, PIECE))
            left = unpacker.unconsumed_tail
            if size > MOST_UNPACKED:
                break
    return size


TEXT_FILTERS = {"/ASCIIHexDecode": ASCIIHexDecode.decode, "/ASCII85Decode": ASCII85Decode.decode}
PICTURE_FILTERS = {"/DCTDecode", "/JPXDecode", "/CCITTFaxDecode", "/JBIG2Decode", "/Crypt"}
# pypdf stops after 75 MB.
UNPACKERS: dict[str, Callable[[bytes], int]] = {
    "/FlateDecode": _size_of_flate,
    "/LZWDecode": lambda content: len(LZWDecode.decode(content)),
    "/RunLengthDecode": lambda content: len(RunLengthDecode.decode(content)),
}
SHORT_FILTERS = {
    "/AHx": "/ASCIIHexDecode",
    "/A85": "/ASCII85Decode",
    "/CCF": "/CCITTFaxDecode",
    "/DCT": "/DCTDecode",
    "/Fl": "/FlateDecode",
    "/LZW": "/LZWDecode",
    "/RL": "/RunLengthDecode",
}


def main() -> None:
    """Inspect the file named on the command line, and print the result."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    # The first limit sends a signal of its own. SIGKILL, which the second sends, may be another's.
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    logging.disable()  # pypdf says each thing that is odd, and hostile files have millions
    try:
        found, pages = inspect(Path(sys.argv[1]), sys.argv[2])
        result: dict[str, Any] = {"type": found, "pages": pages}
    except DocumentRefused as refused:
        result = {"refused": refused.code}
    print(json.dumps(result))  # noqa: T201


if __name__ == "__main__":
    main()
