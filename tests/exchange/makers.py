"""Imports as they are sent through the page, and what tests need to know of them."""

import io
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import openpyxl
from flask.testing import FlaskClient
from sqlalchemy import ColumnElement, select, text, update

from portal.catalog.models import Section
from portal.core.db import transaction
from portal.exchange.exporting import export_jobs
from portal.exchange.importing import columns, files, import_jobs, runs
from portal.exchange.importing.models import ColumnMapping, Import, Options
from portal.people.models import Account
from tests.exchange.campus import Campus
from tests.owner_role import as_owner

TERM = "Spring 2021"
# As a restart of PostgreSQL does, to whoever waits for a lock.
LOST = text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")


def zipped(files: dict[str, bytes | str]) -> bytes:
    """A zip of those files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in files.items():
            out.writestr(name, content)
    return packed.getvalue()


def zip_of(folder: Path) -> bytes:
    """The files of a folder as a zip."""
    return zipped({each.name: each.read_bytes() for each in folder.iterdir()})


def as_zip(campus: Campus) -> bytes:
    """The files of a campus as a zip."""
    with TemporaryDirectory() as folder:
        return zip_of(campus.write(Path(folder)))


def send(browser: FlaskClient, content: bytes, name: str = "spring.zip", **form: str) -> Any:
    """Send one file through the page."""
    output = {"layout": "semester", "term": TERM, **form, "files": (io.BytesIO(content), name)}
    return browser.post("/admin/imports", data=output)


def change_rows(table: Any, *where: ColumnElement[bool], **values: Any) -> None:
    """Change rows in PostgreSQL directly: no audit entry, no version, no notification."""
    with transaction() as session:
        session.execute(update(table).where(*where).values(**values))


def latest() -> Import:
    """The import that was begun last."""
    with transaction() as session:
        return session.scalars(select(Import).order_by(Import.id.desc()).limit(1)).one()


def sections() -> list[str]:
    """The registration numbers of all sections."""
    with transaction() as session:
        return sorted(session.scalars(select(Section.crn)))


def sent(browser: FlaskClient, content: bytes, **form: str) -> int:
    """The id of an import that was sent and read."""
    answer = send(browser, content, **form)
    assert answer.status_code == 303, answer.text
    import_id = latest().id
    runs.continue_import(import_id)
    return import_id


def press(browser: FlaskClient, import_id: int, action: str, **form: str) -> Any:
    """Press a button of its page, and do what a worker would."""
    answer = browser.post(f"/admin/imports/{import_id}/{action}", data=form)
    runs.continue_import(import_id)
    return answer


def store(browser: FlaskClient, import_id: int) -> None:
    """Apply all of an import but its enrollments, which are left."""
    assert browser.post(f"/admin/imports/{import_id}/apply").status_code == 303
    runs.apply(import_id, lambda *_: None)


def let_a_minute_pass() -> None:
    """So long ago was a worker last at an import."""
    with transaction() as session:
        session.execute(text("UPDATE imports SET moved_at = now() - interval '1 minute'"))


def page(browser: FlaskClient, import_id: int) -> str:
    """Its page."""
    return browser.get(f"/admin/imports/{import_id}").text


def an_export(owner: Account) -> int:
    """An export of that account's, made."""
    with transaction() as session:
        export_id = export_jobs.request_export(session, owner.id).id
    export_jobs.make(export_id)
    return export_id


def an_import(owner: Account, change: Callable[[Campus], object] = lambda campus: campus) -> int:
    """An import of that account's, read and ready to be looked at, with a row refused."""
    campus = Campus().restriction("must_be", "level", "<script>alert(1)</script>", crn="99")
    change(campus)
    content = as_zip(campus)
    with transaction() as session:
        options = Options(term=TERM, update=True)
        sent_files = [("spring.zip", io.BytesIO(content))]
        what = import_jobs.NewImport(
            owner.id, "spring.zip", files.digest_of_files(sent_files), options
        )
        import_id = import_jobs.begin(session, what)
        files.store_files(session, import_id, sent_files)
    runs.continue_import(import_id)
    return import_id


def a_mapping(owner: Account, name: str = "Campus system") -> int:
    """A column mapping that this account has saved, for other files than the tests'."""
    with transaction() as session:
        assert columns.save(session, name, {"schedule": [["Nummer", "crn"]]}, owner.id)
        return session.scalars(select(ColumnMapping.id).filter_by(name=name)).one()


def edit_workbook(path: Path, change: Callable[[Any], None]) -> None:
    """Edit a workbook as a spreadsheet would, and save it."""
    found = openpyxl.load_workbook(path)
    change(found)
    found.save(path)


def set_cell(
    path: Path, sheet: str, column: str, value: object, row: int = 2, *, key: str = ""
) -> None:
    """Edit a cell of a row, or of the first row that has the key in a cell."""

    def change(found: Any) -> None:
        rows = [[cell.value for cell in each] for each in found[sheet]]
        at = next(at for at, each in enumerate(rows, 1) if key in each) if key else row
        found[sheet].cell(at, rows[0].index(column) + 1).value = value

    edit_workbook(path, change)


@contextmanager
def away(table: str) -> Iterator[None]:
    """A table is not there."""
    with as_owner() as session:
        session.execute(text(f"ALTER TABLE {table} RENAME TO moved_away"))
    try:
        yield
    finally:
        with as_owner() as session:
            session.execute(text(f"ALTER TABLE moved_away RENAME TO {table}"))
