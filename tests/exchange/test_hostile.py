"""Files made to do harm: refused with what is wrong, at no great cost."""

import io
import struct
import zipfile
import zlib
from pathlib import Path

import psutil
import pytest

from portal.exchange.importing import files, tables
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.files import open_files
from portal.exchange.importing.report import MOST, Report
from portal.exchange.importing.tables import Row, Shape
from tests.exchange.campus import nothing
from tests.exchange.makers import zipped


def columns(header: list[str]) -> list[str]:
    return [each.strip() for each in header]


SHAPE = Shape(("a",), columns)


def written(folder: Path, content: bytes) -> files.Files:
    path = folder / "x.zip"
    path.write_bytes(content)
    return open_files(path)


def of_table(folder: Path, content: bytes) -> list[str]:
    """The first column of a table of that content."""
    (folder / "t.csv").write_bytes(content)
    found = tables.rows(open_files(folder), "t.csv", SHAPE, Report(), nothing)
    return [row["a"] for row in found]


def test_a_zip_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFailedError, match="unpacks to more than 200 times its size"):
        written(tmp_path, zipped({"t.csv": b"a\n" + b"1\n" * 10_000_000}))


def test_a_file_does_not_unpack_to_more_than_it_declares(tmp_path: Path) -> None:
    content = bytearray(zipped({"t.csv": b"a\n" + b"1\n" * 1_000_000}))
    declared = struct.pack("<L", 2_000_002)
    assert content.count(declared) == 2
    with pytest.raises(ImportFailedError, match="damaged"):
        written(tmp_path, bytes(content.replace(declared, struct.pack("<L", 2_000))))


def test_all_files_of_a_zip_together_have_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 100_000)
    content = b"a\n" + b"1\n" * 40_000
    assert written(tmp_path, zipped({"a.csv": content})).names() == ["a.csv"]
    with pytest.raises(ImportFailedError, match="unpacks to more than"):
        written(tmp_path, zipped({"a.csv": content, "b.csv": content}))


@pytest.mark.parametrize("name", ["../t.csv", "/etc/t.csv", "a/b/t.csv", "x\\t.csv"])
def test_a_path_in_a_zip_leads_nowhere(tmp_path: Path, name: str) -> None:
    with pytest.raises(ImportFailedError, match="nested too deep"):
        written(tmp_path, zipped({name: b"a\n1\n"}))


def test_one_folder_around_the_files_is_fine(tmp_path: Path) -> None:
    packed = written(tmp_path, zipped({"spring/t.csv": b"a\n1\n", "__MACOSX/._t.csv": b"\0"}))
    assert packed.names() == ["t.csv"]


def test_a_zip_is_open_only_while_one_of_its_files_is(tmp_path: Path) -> None:
    packed = written(tmp_path, zipped({"t.csv": b"a\n1\n"}))
    with packed.open("t.csv") as file:
        assert str(tmp_path / "x.zip") in opened()
        assert file.read() == b"a\n1\n"
    assert str(tmp_path / "x.zip") not in opened()


def opened() -> list[str]:
    """The files that this process has open."""
    return [each.path for each in psutil.Process().open_files()]


def test_what_systems_add_is_not_unpacked(tmp_path: Path) -> None:
    content = bytearray(zipped({"t.csv": b"a\n1\n", "__MACOSX/._t.csv": b"of a system"}))
    checksum = struct.pack("<L", zlib.crc32(b"of a system"))
    assert content.count(checksum) == 2
    packed = written(tmp_path, bytes(content.replace(checksum, b"\0\0\0\0")))
    assert packed.names() == ["t.csv"]


def test_a_name_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFailedError, match=r"t.csv appears twice"):
        written(tmp_path, zipped({"t.csv": b"a\n", "x/t.csv": b"a\n"}))


def test_very_many_files_are_refused_before_they_are_listed(tmp_path: Path) -> None:
    with pytest.raises(ImportFailedError, match="more than 100 files"):
        written(tmp_path, zipped({f"{number}.csv": b"" for number in range(5000)}))


def test_a_list_of_contents_that_lies_is_no_way_around(tmp_path: Path) -> None:
    content = bytearray(zipped({"t.csv": b"a\n1\n"}))
    at = content.rfind(b"PK\5\6")
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, 0, 1)
    with pytest.raises(ImportFailedError, match="not a readable zip"):
        written(tmp_path, bytes(content[:at]) + locator + bytes(content[at:]))


def test_an_encrypted_zip_is_refused(tmp_path: Path) -> None:
    packed = io.BytesIO(zipped({"t.csv": b"a\n1\n"}))
    content = bytearray(packed.getvalue())
    content[content.find(b"PK\1\2") + 8] |= 1
    with pytest.raises(ImportFailedError, match="encrypted"):
        written(tmp_path, bytes(content))


def test_a_damaged_zip_is_refused(tmp_path: Path) -> None:
    content = bytearray(zipped({"t.csv": b"a\n" + b"1234567\n" * 100}))
    content[40] ^= 0xFF
    with pytest.raises(ImportFailedError, match="damaged"):
        written(tmp_path, bytes(content))


def test_what_is_no_zip_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFailedError, match="not a readable zip"):
        written(tmp_path, b"PK\3\4 and nothing more")
    assert not zipfile.is_zipfile(tmp_path / "x.zip")


@pytest.mark.parametrize(
    "content",
    [
        "a\nÑu\n".encode(),
        "a\nÑu\n".encode("utf-8-sig"),
        "a\nÑu\n".encode("utf-16"),
        "a\nÑu\n".encode("cp1252"),
        b"a\r\n\xc3\x91u",
    ],
)
def test_what_systems_write_is_read(tmp_path: Path, content: bytes) -> None:
    assert of_table(tmp_path, content) == ["Ñu"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\n1\0\n", r"t.csv, line 2, column 2: U\+0000 is not text"),
        ("a\n1\n".encode("utf-16-le"), r"line 1, column 2: U\+0000"),
        (b"b\n1\n", "column a is missing"),
        (b"a,a\n1,2\n", "column a appears twice"),
        (b"a\n" + b"x" * (2**20 + 1), "the line is too long"),
        (b'a\n"1', "unexpected end of data"),
    ],
)
def test_what_is_no_table_is_refused_with_its_place(
    tmp_path: Path, content: bytes, message: str
) -> None:
    with pytest.raises(ImportFailedError, match=message):
        of_table(tmp_path, content)


def test_rows_without_end_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a\n" + b"1\n" * 101)
    shape = Shape(("a",), columns, most_rows=100)
    with pytest.raises(ImportFailedError, match="more than 100 rows"):
        list(tables.rows(open_files(tmp_path), "t.csv", shape, Report(), nothing))


def test_a_report_keeps_so_many_notes_and_counts_the_others() -> None:
    report = Report()
    for line in range(MOST + 500):
        Row("t.csv", line, {}, report).note("orphan")
    assert len(report.notes) == MOST
    assert report.found["orphan"] == MOST + 500


def test_a_blank_first_line_and_formulas_are_no_obstacle(tmp_path: Path) -> None:
    assert of_table(tmp_path, b"\n,\na,b\n'=1+1,2\n") == ["=1+1"]
    assert of_table(tmp_path, b";\na;b\n=HYPERLINK(1);2\n") == ["=HYPERLINK(1)"]


@pytest.mark.parametrize("junk", [b"\x00\xff", b"x", b"<p>\n"])
def test_fifty_megabytes_of_junk_get_a_clear_answer(tmp_path: Path, junk: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(junk * (50 * 2**20 // len(junk)))
    expected = "is not text|the line is too long|is empty|is a web page"
    with pytest.raises(ImportFailedError, match=rf"t\.csv.*({expected})"):
        of_table(tmp_path, (tmp_path / "t.csv").read_bytes())
