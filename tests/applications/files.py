"""Documents as students send them, honest and hostile."""

import zipfile
import zlib
from functools import cache
from io import BytesIO

from PIL import Image
from pypdf import PdfWriter
from pypdf.generic import (
    ArrayObject,
    DecodedStreamObject,
    DictionaryObject,
    NameObject,
    NumberObject,
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
    return a_packed_pdf(flate_bomb(megabytes), "/FlateDecode")


def a_hidden_pdf_bomb() -> bytes:
    """The bomb is written in hexadecimal digits, and its filters are objects of their own."""
    return a_packed_pdf(flate_bomb().hex().encode() + b">", "/ASCIIHexDecode", "/FlateDecode")


def a_run_length_bomb() -> bytes:
    """Each two bytes of its stream stand for 128."""
    return a_packed_pdf(b"\x81 " * (4 * 2**20) + b"\x80", "/RunLengthDecode")


def an_lzw_bomb(rounds: int = 20) -> bytes:
    """Its codes stand for ever longer strings of one byte; each round begins with short ones."""
    longer = [
        (code, 9 + sum(code > last for last in (510, 1022, 2046))) for code in range(258, 4094)
    ]
    one_round = [(0, 9), *longer, (256, 12)]  # code and width; 256 empties the table
    codes = [(256, 9), *one_round * rounds]
    bits = "".join(f"{code:0{width}b}" for code, width in codes)
    bits += "0" * (-len(bits) % 8)
    return a_packed_pdf(int(bits, 2).to_bytes(len(bits) // 8), "/LZWDecode")


@cache
def flate_bomb(megabytes: int = 600) -> bytes:
    """Return so many megabytes of zeros, packed. Packing them takes seconds."""
    packer = zlib.compressobj(9)
    return b"".join(packer.compress(bytes(2**20)) for _ in range(megabytes)) + packer.flush()


def an_lzw_pdf(**parameters: int) -> bytes:
    """A PDF with a short stream, and the parameters of its filter in an object of their own."""
    return a_packed_pdf(b"\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01", "/LZWDecode", **parameters)


def a_packed_pdf(packed: bytes, *filters: str, **parameters: int) -> bytes:
    """A PDF with a stream that is packed so."""
    writer, stream = _writer(), StreamObject()
    if parameters:
        found = {NameObject(f"/{name}"): NumberObject(each) for name, each in parameters.items()}
        key = NameObject("/DecodeParms")
        stream[key] = writer._add_object(DictionaryObject(found))  # noqa: SLF001
    stream._data = packed  # noqa: SLF001
    names = ArrayObject([writer._add_object(NameObject(name)) for name in filters])  # noqa: SLF001
    stream[NameObject("/Filter")] = names if len(filters) > 1 else NameObject(filters[0])
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
