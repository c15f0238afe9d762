"""Documents: what is refused, who may read them, and what a failing check leads to."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select, update
from werkzeug.test import TestResponse

from portal.applications import documents, service
from portal.applications.documents import REFUSED_DOCUMENT, NewDocument
from portal.applications.inspection import MOST_BYTES, DocumentRefused
from portal.applications.kinds import KINDS
from portal.applications.models import Application, ApplicationDocument, ApplicationEntry
from portal.applications.service import ApplicationRefused
from portal.applications.store import store
from portal.backend import Backend
from portal.catalog.models import Section
from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.people.models import Account
from tests.applications import files
from tests.applications.clamd import Confused, clamd
from tests.applications.files import EICAR, a_pdf, a_picture
from tests.applications.stories import ANSWERS, audit_actions, decider, history, require, steps, the
from tests.audit_trail import entries
from tests.cast import Cast
from tests.statements import looked_up
from tests.web.visitors import browser_of

PDF = b"%PDF-1.7"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose path is short enough for a socket."""
    with TemporaryDirectory() as found:
        yield Path(found)


@pytest.fixture(autouse=True)
def stored(backend: Backend, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where documents are stored."""
    use(backend, monkeypatch, documents=folder / "documents")
    return folder / "documents"


@pytest.fixture
def draft(free: Section, cast: Cast) -> int:
    """An application of Ada's that is complete, but not sent."""
    made = service.start(KINDS["permission"], cast.ada.account_id, free.term_id, free.id)
    service.save(made, cast.ada.account_id, ANSWERS["permission"])
    return made


def use(backend: Backend, monkeypatch: pytest.MonkeyPatch, **fields: object) -> None:
    """Let the process have other settings."""
    changed = replace(backend.settings, **fields)  # type: ignore[arg-type]
    monkeypatch.setitem(backend.__dict__, "settings", changed)


def add(draft: int, cast: Cast, content: bytes, name: str = "letter.pdf") -> int:
    return documents.add(draft, cast.ada.account_id, NewDocument("record", name, content))


def now() -> datetime:
    """The time of PostgreSQL."""
    with transaction() as session:
        return session.scalars(select(func.clock_timestamp())).one()


def document(number: int) -> ApplicationDocument:
    with transaction() as session:
        return session.get_one(ApplicationDocument, number)


def checked(draft: int, cast: Cast, content: bytes, name: str = "letter.pdf") -> str:
    """Why the worker refuses it, "" if it does not."""
    made = add(draft, cast, content, name)
    documents.check_due()
    found = document(made)
    assert found.sent_at, found.error
    return found.refused


def send(browser: FlaskClient, draft: int, name: str, content: bytes) -> TestResponse:
    # Written here: the client of the tests would leave a temporary file open.
    body = (
        b'--x\r\nContent-Disposition: form-data; name="part"\r\n\r\nrecord\r\n--x\r\n'
        b'Content-Disposition: form-data; name="file"; filename="%b"\r\n\r\n%b\r\n--x--\r\n'
    ) % (name.encode(), content)
    kind = "multipart/form-data; boundary=x"
    return browser.post(f"{pages(draft)}/documents", data=body, content_type=kind, buffered=True)


def pages(draft: int) -> str:
    """The address of the student's pages of an application."""
    with transaction() as session:
        found = session.get_one(Application, draft)
        return f"/terms/{found.term_id}/applications/{draft}"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("letter.pdf", a_pdf(3, b"hello")),
        ("letter.pdf", files.a_packed_pdf(b"\x02abc\x80", "/RunLengthDecode")),
        ("letter.pdf", files.an_lzw_pdf()),
        ("letter.pdf", files.an_lzw_pdf(Predictor=1)),
        ("letter.pdf", files.a_packed_pdf(b"616263>", "/ASCIIHexDecode")),
        ("Letter of Dr. J. Smith.PDF", a_pdf()),
        ("scan.png", a_picture()),
        ("scan.jpg", a_picture("JPEG")),
        ("scan.jpeg", a_picture("JPEG")),
    ],
)
def test_honest_documents_are_accepted(draft: int, cast: Cast, name: str, content: bytes) -> None:
    assert checked(draft, cast, content, name) == ""


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("empty.pdf", b"", "empty"),
        ("eicar.pdf", EICAR, "type"),
        ("page.pdf", b"<html><script>alert(1)</script>", "type"),
        ("picture.png", b"GIF89a" + bytes(100), "type"),
        ("archive.pdf", files.a_zip(), "type"),
        ("letter.pdf.exe", a_pdf(), "name"),
        ("letter.exe.pdf", a_pdf(), "name"),
        ("scan.php.png", a_picture(), "name"),
        ("scan.pdf", a_picture(), "name"),
        ("letter", a_pdf(), "name"),
    ],
)
def test_the_upload_itself_refuses_what_is_clear(
    ada: FlaskClient, draft: int, name: str, content: bytes, code: str
) -> None:
    answer = send(ada, draft, name, content)
    assert answer.status_code == 422
    assert str(REFUSED_DOCUMENT[code]) in unescape(answer.text)
    assert not the_documents()


def test_more_than_ten_megabytes_are_refused(
    app: Flask, ada: FlaskClient, draft: int, cast: Cast
) -> None:
    with pytest.raises(DocumentRefused, match="large"):
        add(draft, cast, PDF + bytes(MOST_BYTES))
    answer = send(ada, draft, "large.pdf", PDF + bytes(MOST_BYTES + 2**20))
    assert answer.status_code == 413
    assert str(REFUSED_DOCUMENT["large"]) in unescape(answer.text)
    for browser in (browser_of(app, "ben"), app.test_client()):
        answer = send(browser, draft, "large.pdf", PDF + bytes(MOST_BYTES + 2**20))
        assert answer.status_code in {303, 404, 413}
    assert not the_documents()


@pytest.mark.parametrize(
    ("make", "name", "code"),
    [
        (files.a_polyglot, "letter.pdf", "two_types"),
        (lambda: a_pdf() + b"<html>", "letter.pdf", "two_types"),
        (lambda: a_picture() + files.a_zip(), "scan.png", "two_types"),
        (lambda: a_picture() + b"<script>", "scan.png", "two_types"),
        (lambda: a_picture("JPEG") + b"<?php", "scan.jpg", "two_types"),
        (files.fifty_megapixels, "scan.png", "pixels"),
        (lambda: a_picture()[:-30], "scan.png", "broken"),
        (lambda: PDF + b"\nnothing\n%%EOF\n", "letter.pdf", "broken"),
        (files.a_pdf_with_script, "letter.pdf", "script"),
        (files.a_pdf_with_disguised_script, "letter.pdf", "script"),
        (files.a_pdf_that_starts_a_program, "letter.pdf", "script"),
        (files.a_pdf_with_a_file, "letter.pdf", "files"),
        (files.an_encrypted_pdf, "letter.pdf", "encrypted"),
        (lambda: a_pdf(101), "letter.pdf", "pages"),
        (files.a_pdf_bomb, "letter.pdf", "complex"),
        (files.a_hidden_pdf_bomb, "letter.pdf", "complex"),
        (files.a_run_length_bomb, "letter.pdf", "complex"),
        (files.an_lzw_bomb, "letter.pdf", "complex"),
        (lambda: files.an_lzw_pdf(EarlyChange=0), "letter.pdf", "complex"),
        (lambda: files.a_packed_pdf(b"x", "/BrotliDecode"), "letter.pdf", "complex"),
    ],
)
def test_the_worker_refuses_what_is_hidden(
    draft: int, cast: Cast, make: Callable[[], bytes], name: str, code: str
) -> None:
    assert checked(draft, cast, make(), name) == code
    with pytest.raises(FileNotFoundError):
        store().read(documents.key_of(draft, document(the_documents()[0]).digest))


def test_a_virus_is_found_by_the_scanner(
    draft: int, cast: Cast, backend: Backend, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with clamd(folder) as address:
        use(backend, monkeypatch, clamd=address)
        assert checked(draft, cast, a_pdf(text=EICAR)) == "virus"
        assert checked(draft, cast, a_pdf(2)) == ""


def test_without_a_verdict_it_is_tried_again_and_then_a_dead_letter(
    admin: FlaskClient, draft: int, cast: Cast, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(backend, monkeypatch, clamd="unix:/nowhere/clamd.ctl")
    made, seen = add(draft, cast, a_pdf()), []
    for _ in range(4):
        documents.check_due()
        found = document(made)
        seen.append((found.tries, found.state))
        with transaction() as session:
            session.execute(update(ApplicationDocument).values(due_at=found.made_at))
    assert seen == [(1, "waiting"), (2, "waiting"), (3, "waiting"), (4, "dead")]
    assert "No such file" in document(made).error
    service.submit(draft, cast.ada.account_id)
    assert "Could not be checked" in admin.get("/admin/applications").text
    assert not list(looked_up(documents.due_jobs, []))
    use(backend, monkeypatch, clamd="")
    for _ in range(2):
        assert admin.post(f"/admin/applications/{draft}/documents/check").status_code == 303
    assert audit_actions().count("application.recheck") == 1
    assert list(looked_up(documents.due_jobs, []))
    documents.check_due()
    assert document(made).state == "ok"


def test_an_error_of_the_scanner_is_no_verdict(
    draft: int, cast: Cast, backend: Backend, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with clamd(folder, Confused) as address:
        use(backend, monkeypatch, clamd=address)
        made = add(draft, cast, a_pdf())
        documents.check_due()
    assert (document(made).state, document(made).tries) == ("waiting", 1)


@pytest.mark.parametrize(
    ("ends", "outcome"),
    [
        ("exec sleep 60", ("waiting", "")),
        ("kill -KILL $$", ("waiting", "")),  # as a system without memory does
        ("kill -XCPU $$", ("refused", "complex")),  # its own limit
    ],
)
def test_a_check_that_others_stop_is_no_verdict(
    draft: int,
    cast: Cast,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    ends: str,
    outcome: object,
) -> None:
    program = folder / "python"
    program.write_text(f"#!/bin/sh\n{ends}\n")
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(documents, "SECONDS", 0.5)
    made = add(draft, cast, a_pdf())
    documents.check_due()
    assert (document(made).state, document(made).refused) == outcome


def test_retries_wait_two_four_and_eight_seconds(
    draft: int, cast: Cast, backend: Backend, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(backend, monkeypatch, clamd=f"unix:{folder}/nothing.ctl")
    made = add(draft, cast, a_pdf())
    for tries, pause in enumerate((2, 4, 8), start=1):
        before = now()
        documents.check_due()
        after, found = now(), document(made)
        assert found.tries == tries
        seconds = timedelta(seconds=pause)
        assert before + seconds <= found.due_at <= after + seconds
        with transaction() as session:
            session.get_one(ApplicationDocument, made).due_at = before
    documents.check_due()
    assert document(made).dead_at


def test_an_approval_waits_for_the_checks(draft: int, free: Section, cast: Cast) -> None:
    require(free)
    add(draft, cast, a_pdf())
    service.submit(draft, cast.ada.account_id)
    with pytest.raises(ApplicationRefused, match="unchecked"):
        service.approve(draft, decider(draft, cast.max.id))
    documents.check_due()
    assert service.approve(draft, decider(draft, cast.max.id)).state == "approved"


@pytest.mark.parametrize("checked_first", [True, False])
def test_the_applicant_is_notified_once_that_all_documents_are_in_order(
    ada: FlaskClient, draft: int, cast: Cast, *, checked_first: bool
) -> None:
    add(draft, cast, a_pdf())
    if checked_first:
        documents.check_due()
    service.submit(draft, cast.ada.account_id)
    said = "We checked your documents. They are all in order."
    assert (said in unescape(ada.get("/inbox").text)) is checked_first
    documents.check_due()
    assert steps(cast.ada.account_id) == (["sent"] if checked_first else ["sent", "checked"])


def test_without_documents_no_notification_speaks_of_them(
    ada: FlaskClient, draft: int, cast: Cast
) -> None:
    service.submit(draft, cast.ada.account_id)
    page = unescape(ada.get("/inbox").text)
    assert "We received your application" in page
    assert "your documents" not in page


def test_a_refused_document_sends_the_application_back(
    ada: FlaskClient, free: Section, draft: int, cast: Cast
) -> None:
    made = add(draft, cast, files.a_pdf_with_script())
    service.submit(draft, cast.ada.account_id)
    documents.check_due()
    assert the(draft).state == "more"
    assert history(draft) == ["submit", "more"]
    assert steps(cast.ada.account_id) == ["sent", "more"]
    page = unescape(ada.get(f"/terms/{free.term_id}/applications/{draft}").text)
    assert str(REFUSED_DOCUMENT["script"]) in page
    with pytest.raises(ApplicationRefused, match="refused_document"):
        service.submit(draft, cast.ada.account_id)
    documents.remove(draft, cast.ada.account_id, made)
    service.submit(draft, cast.ada.account_id)
    assert the(draft).state == "review"


def test_history_does_not_keep_the_name_of_a_document(
    ada: FlaskClient, draft: int, cast: Cast
) -> None:
    read = add(draft, cast, a_pdf(), "My diagnosis, part 2.pdf")
    documents.check_due()
    assert ada.get(f"{pages(draft)}/documents/{read}").status_code == 200
    assert "application.document" in audit_actions()
    add(draft, cast, files.a_pdf_with_script(), "My diagnosis.pdf")
    service.submit(draft, cast.ada.account_id)
    documents.check_due()
    with transaction() as session:
        entries = session.scalars(select(ApplicationEntry)).all()
        assert [each.action for each in entries] == ["submit", "more"]
        assert "diagnosis" not in str([(each.note, each.data) for each in entries])
        assert "diagnosis" not in str([each.after for each in session.scalars(select(AuditEntry))])


@pytest.mark.parametrize("content", [a_pdf(), files.a_pdf_with_script()])
def test_every_page_shows_a_document_and_its_state(
    ada: FlaskClient, admin: FlaskClient, draft: int, cast: Cast, content: bytes
) -> None:
    add(draft, cast, content)
    for state in (
        "Being checked",
        "Checked" if b"JavaScript" not in content else "Refused",
    ):
        for page in ("", "/documents", "/review"):
            found = unescape(ada.get(f"{pages(draft)}{page}").text)
            assert "letter.pdf" in found
            assert state in found
        documents.check_due()
    if state == "Checked":
        service.submit(draft, cast.ada.account_id)
        assert "letter.pdf" in admin.get(f"/admin/applications/{draft}").text


def test_the_same_file_sent_twice_is_one_document(draft: int, cast: Cast) -> None:
    assert add(draft, cast, a_pdf(2)) == add(draft, cast, a_pdf(2))


def test_the_same_bad_file_sent_twice_is_refused_twice(
    app: Flask, vera: Account, free: Section
) -> None:
    made = service.start(KINDS["visiting"], vera.id, free.term_id)
    parts = tuple(KINDS["visiting"].documents)
    for part in parts:
        sent = NewDocument(part, "scan.pdf", files.a_pdf_with_script())
        documents.add(made, vera.id, sent)
    documents.check_due()
    documents.check_due()
    assert {document(each).state for each in the_documents()} == {"refused"}
    documents.add(made, vera.id, sent)
    documents.check_due()
    assert {document(each).state for each in the_documents()} == {"refused"}
    assert "scripts" in browser_of(app, "vera").get(f"{pages(made)}/documents").text


def test_an_application_has_at_most_five_documents(draft: int, cast: Cast) -> None:
    for pages in range(1, 6):
        add(draft, cast, a_pdf(pages))
    with pytest.raises(DocumentRefused, match="many"):
        add(draft, cast, a_pdf(7))


def test_documents_stay_as_they_were_sent(draft: int, cast: Cast) -> None:
    made = add(draft, cast, a_pdf())
    service.submit(draft, cast.ada.account_id)
    with pytest.raises(DocumentRefused, match="late"):
        add(draft, cast, a_pdf(2))
    with pytest.raises(DocumentRefused, match="late"):
        documents.remove(draft, cast.ada.account_id, made)


def test_a_removed_document_leaves_no_file(
    ada: FlaskClient, free: Section, draft: int, cast: Cast, stored: Path
) -> None:
    made = add(draft, cast, a_pdf())
    here = f"/terms/{free.term_id}/applications/{draft}/documents"
    assert "letter.pdf" in ada.get(here).text
    assert ada.post(f"{here}/{made}/remove").status_code == 303
    assert ada.post(f"{here}/{made}/remove").status_code == 303
    assert not the_documents()
    assert not [each for each in stored.rglob("*") if each.is_file()]


def test_files_are_readable_by_the_portal_alone(draft: int, cast: Cast, stored: Path) -> None:
    add(draft, cast, a_pdf())
    (file,) = [each for each in stored.rglob("*") if each.is_file()]
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert file.name == document(the_documents()[0]).digest


def test_downloads_are_safe_and_in_the_audit_trail(
    app: Flask, ada: FlaskClient, admin: FlaskClient, draft: int, cast: Cast
) -> None:
    made = add(draft, cast, a_pdf(), 'x"<script>.pdf')
    mine = f"{pages(draft)}/documents/{made}"
    theirs = f"/admin/applications/{draft}/documents/{made}"
    service.submit(draft, cast.ada.account_id)
    assert ada.get(mine).status_code == 404  # not checked yet
    documents.check_due()
    for browser, address in ((ada, mine), (admin, theirs)):
        answer = browser.get(address)
        assert answer.data.startswith(b"%PDF-")
        assert answer.headers["Content-Type"] == "application/pdf"
        found = f"attachment; filename=document-{made}.pdf"
        assert answer.headers["Content-Disposition"] == found
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert any("sandbox" in each for each in answer.headers.getlist("Content-Security-Policy"))
        assert "no-store" in answer.headers["Cache-Control"]
    readers = [each.account_id for each in entries("application.document")]
    assert readers == [cast.ada.account_id, cast.max.id]
    assert "<script>" not in admin.get(f"/admin/applications/{draft}").text.split("<body")[1]
    for name, status in (("ben", 404), ("iris", 403)):
        assert browser_of(app, name).get(mine).status_code == status
        assert browser_of(app, name).get(theirs).status_code == 403


def test_a_program_in_a_picture_is_only_data(admin: FlaskClient, draft: int, cast: Cast) -> None:
    photo = files.a_photo_with_a_program()
    assert b"<?php" in photo
    made = add(draft, cast, photo, "photo.jpg")
    service.submit(draft, cast.ada.account_id)
    documents.check_due()
    here = f"/admin/applications/{draft}/documents/{made}"
    shown = admin.get(f"{here}/pages/0.png").data
    assert b"<?php" not in shown
    assert [each for each in chunks(shown) if each != "IDAT"] == ["IHDR", "IEND"]
    answer = admin.get(here)
    assert answer.headers["Content-Type"] == "image/jpeg"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Disposition"].startswith("attachment")


def chunks(png: bytes) -> list[str]:
    """The names of the chunks of a PNG, in order."""
    found, at = [], 8
    while at < len(png):
        found.append(png[at + 4 : at + 8].decode())
        at += 12 + int.from_bytes(png[at : at + 4])
    return found


def test_a_file_changed_on_disk_is_not_given_out(
    ada: FlaskClient, admin: FlaskClient, draft: int, cast: Cast, stored: Path
) -> None:
    made = add(draft, cast, a_pdf())
    documents.check_due()
    service.submit(draft, cast.ada.account_id)
    page = f"/admin/applications/{draft}/documents/{made}/pages/0.png"
    assert admin.get(page).status_code == 200
    (file,) = [each for each in stored.rglob("*") if each.is_file()]
    file.write_bytes(a_pdf(9))
    assert ada.get(f"{pages(draft)}/documents/{made}").status_code == 404
    assert admin.get(page).status_code == 404


def test_documents_belong_to_one_student(app: Flask, free: Section, draft: int, cast: Cast) -> None:
    made = add(draft, cast, a_pdf())
    ben, here = browser_of(app, "ben"), f"/terms/{free.term_id}/applications/{draft}/documents"
    assert ben.get(here).status_code == 404
    assert send(ben, draft, "letter.pdf", a_pdf(2)).status_code == 404
    assert ben.post(f"{here}/{made}/remove").status_code == 404
    assert the_documents() == [made]


def test_nonsense_is_refused(ada: FlaskClient, free: Section, draft: int) -> None:
    here = f"/terms/{free.term_id}/applications/{draft}/documents"
    assert ada.post(here, data={"part": "record"}).status_code == 422
    assert ada.post(here, data={"part": "eat"}).status_code == 400
    assert ada.get(f"{here}/999999").status_code == 404


def the_documents() -> list[int]:
    with transaction() as session:
        found = select(ApplicationDocument.id).order_by(ApplicationDocument.id)
        return list(session.scalars(found))
