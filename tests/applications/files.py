"""Documents as students send them, honest and hostile."""

import zipfile
import zlib
from io import BytesIO

from PIL import Image
from pypdf import PdfWriter
from pypdf.generic import (
    DecodedStreamObject,
    DictionaryObject,
    NameObject,
    StreamObject,
    TextStringObject,
)

# The test file that every virus scanner finds; in two parts, so that none finds it here.
EICAR = b"X5O!P%@AP[4\\PZX54(P^)7CC)7}$" + b"EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"


def a_pdf(pages: int = 1, text: bytes = b"") -> bytes:
    """A PDF of blank pages, with a stream that contains the text."""
    writer = _writer(pages)
    if text:
        stream = DecodedStreamObject()
        stream.set_data(text)
        writer._add_object(stream)  # noqa: SLF001
    return _written(writer)


def a_pdf_with_script() -> bytes:
    writer = _writer()
    action = DictionaryObject(
        {
            NameObject("/S"): NameObject("/JavaScript"),
            NameObject("/JS"): TextStringObject("app.alert('hello')"),
        }
    )
    writer.root_object[NameObject("/OpenAction")] = writer._add_object(action)  # noqa: SLF001
    return _written(writer)


def a_pdf_with_disguised_script() -> bytes:
    """The names are written in another way, which readers understand too."""
    pdf = a_pdf_with_script()
    return pdf.replace(b"/JS ", b"/J#53 ").replace(b"/JavaScript", b"/Java#53cript")


def a_pdf_that_starts_a_program() -> bytes:
    """The name of the action is an object of its own."""
    writer = _writer()
    kind = writer._add_object(NameObject("/Launch"))  # noqa: SLF001
    action = DictionaryObject({NameObject("/S"): kind, NameObject("/F"): TextStringObject("sh")})
    writer.root_object[NameObject("/OpenAction")] = writer._add_object(action)  # noqa: SLF001
    return _written(writer)


def a_pdf_with_a_file() -> bytes:
    writer = _writer()
    writer.add_attachment("virus.exe", b"MZ")
    return _written(writer)


def an_encrypted_pdf() -> bytes:
    writer = _writer()
    writer.encrypt("secret", algorithm="RC4-128")
    return _written(writer)


def a_pdf_bomb(megabytes: int = 600) -> bytes:
    """A small PDF with a stream that unpacks to so much."""
    packer, writer = zlib.compressobj(9), _writer()
    packed = b"".join(packer.compress(bytes(2**20)) for _ in range(megabytes)) + packer.flush()
    stream = StreamObject()
    stream._data = packed  # noqa: SLF001
    stream[NameObject("/Filter")] = NameObject("/FlateDecode")
    writer._add_object(stream)  # noqa: SLF001
    return _written(writer)


def a_zip(comment: bytes = b"") -> bytes:
    found = BytesIO()
    with zipfile.ZipFile(found, "w") as archive:
        archive.writestr("index.html", "<script>alert(1)</script>")
        archive.comment = comment
    return found.getvalue()


def a_polyglot() -> bytes:
    """A PDF that is a zip as well; the zip's comment ends as a PDF does."""
    pdf = a_pdf()
    return pdf + a_zip(b"\n%%EOF\n")


def a_picture(kind: str = "PNG", size: tuple[int, int] = (60, 40), mode: str = "RGB") -> bytes:
    found = BytesIO()
    Image.new(mode, size).save(found, kind)
    return found.getvalue()


def a_photo_with_a_program() -> bytes:
    """A JPEG that says PHP in its comment and in its colour profile."""
    made, program = BytesIO(), b"<?php system('id'); ?>"
    picture = Image.new("RGB", (20, 20), "green")
    picture.save(made, "JPEG", comment=program, icc_profile=program)
    return made.getvalue()


def fifty_megapixels() -> bytes:
    """A PNG of 10,000 by 5,000 pixels, and of a few KB."""
    return a_picture(size=(10_000, 5_000), mode="1")


def _writer(pages: int = 1) -> PdfWriter:
    writer = PdfWriter()
    for _ in range(pages):
        writer.add_blank_page(200, 300)
    return writer


def _written(writer: PdfWriter) -> bytes:
    found = BytesIO()
    writer.write(found)
    return found.getvalue()
