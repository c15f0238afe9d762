"""Documents of applications: stored under their digest, checked by a worker, read by few."""

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import Connection, func, select, text
from sqlalchemy.event import listen
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from portal.applications import preview, service
from portal.applications.history import locked, move, refresh_pages, subjects, tell_applicant
from portal.applications.inspection import DocumentRefused, first_look
from portal.applications.models import EDITABLE, REVIEW, Application, ApplicationDocument
from portal.applications.preview import NoPreview
from portal.applications.store import store
from portal.backend import backend
from portal.core.audit_trail import AuditEntry, add_audit_entry
from portal.core.db import transaction
from portal.core.i18n import _k, _l
from portal.core.queue import NO_TERM, enqueue, enqueue_after
from portal.notifications.outbox import due, mark_sent, retry, retry_later, take_due
from portal.recorder.signals import DueJob, due_since

PAUSES = (2.0, 4.0, 8.0)  # seconds before each retry
SECONDS = 40.0  # for the inspection of one document
MOST_OF_JOB = 5  # documents; if more are due, another job continues
AT_ONCE = 5  # checks of all workers together
PLACES = 6_003  # the class of PostgreSQL's advisory locks, one for each check
MOST_DOCUMENTS = 5  # of an application
LONGEST_NAME = 100
READING, READING_TIME = "application.document", timedelta(hours=1)  # in the audit trail
STOPPED = _k("The check was stopped before it finished.")
log = logging.getLogger(__name__)
MEDIA = {"pdf": "application/pdf", "jpg": "image/jpeg", "png": "image/png"}
REFUSED_DOCUMENT = {
    "empty": _l("The file is empty. Choose another one."),
    "large": _l("The file is larger than 10 MB. Send a smaller one."),
    "type": _l("The file is not a PDF, JPEG or PNG. Save it as one of these."),
    "name": _l("The file name does not match its content. Rename it, for example to letter.pdf."),
    "two_types": _l("The file contains more than a PDF or picture. Save it again."),
    "broken": _l("The file can’t be read. Save it again and send it again."),
    "pixels": _l("The picture has more than 40 megapixels. Send a smaller one."),
    "pages": _l("The PDF has more than 100 pages. Send only the pages we need."),
    "encrypted": _l("The PDF is password-protected. Send it without a password."),
    "script": _l("The PDF contains scripts or forms. Print it to a new PDF."),
    "files": _l("The PDF contains other files. Print it to a new PDF."),
    "complex": _l("The file is too complex to read. Print it to a new PDF."),
    "virus": _l("The virus scanner rejected the file."),
    "many": _l("An application has at most 5 documents. Remove one first."),
    "checking": _l("The file is being checked. Try again in a moment."),
    "store": _l("We can’t store the file right now. Try again in a moment."),
    "mixed": _l("The file changed while it was sent. Send it again."),
    "open": _l("Withdraw the application first, or wait until it is decided."),
    "late": _l("The application was already sent, so its documents can’t be changed."),
}
DocumentRefused.texts = REFUSED_DOCUMENT


@dataclass(frozen=True)
class NewDocument:
    """A file as it was sent: which of the kind's documents it is, its name and its content."""

    part: str
    name: str
    content: bytes = field(repr=False)


def add(application: int, account: int, sent: NewDocument) -> int:
    """Store a document, to be checked by a worker; return its id. Raises DocumentRefused."""
    with transaction() as session:
        return add_within(session, application, account, sent)


def add_within(session: Session, application: int, account: int, sent: NewDocument) -> int:
    """Store a document as part of a transaction; return its id. Raises DocumentRefused."""
    found = first_look(sent.content, sent.name)
    digest = sha256(sent.content).hexdigest()
    wait_for_store(session)
    owner = locked(session, application, account)
    if owner.state not in EDITABLE:
        raise DocumentRefused("late")
    for each in owner.documents:
        if not each.refused and (each.part, each.digest) == (sent.part, digest):
            return each.id  # the same form, sent twice
    if len(owner.documents) >= MOST_DOCUMENTS:
        raise DocumentRefused("many")
    try:
        store().put(key_of(application, digest), sent.content)
    except OSError as error:
        log.warning("A document could not be stored: %s", error)
        raise DocumentRefused("store") from error
    made = ApplicationDocument(
        application_id=application,
        part=sent.part,
        name=tidy(sent.name),
        size=len(sent.content),
        digest=digest,
        type=found,
    )
    session.add(made)
    owner.note_change()
    session.flush()
    enqueue_after(session, "check")
    return made.id


def remove(application: int, account: int, document: int) -> None:
    """Delete a document and its file while its application can be changed.

    Raises DocumentRefused.
    """
    with transaction() as session:
        # Before the application, as the check does; so neither waits for the other.
        mine = select(ApplicationDocument).where(
            ApplicationDocument.id == document, ApplicationDocument.application_id == application
        )
        gone = session.scalar(mine.with_for_update(skip_locked=True))
        owner = locked(session, application, account)
        if owner.state not in EDITABLE:
            raise DocumentRefused("late")
        if gone is None and any(each.id == document for each in owner.documents):
            raise DocumentRefused("checking")
        if gone is None:
            return
        session.delete(gone)
        owner.note_change()
        delete_files_after(session, application, [gone.digest])


def open_for(document: int, application: int, by: int) -> tuple[ApplicationDocument, bytes]:
    """Return a checked document with its content, and record in the audit trail who read it.

    Raises LookupError if there is none, or it is not checked.
    """
    with transaction() as session:
        wait_for_store(session)
        found = _checked(session, document, application)
        content = _content(found)
        _record_reading(session, found, by)
        return found, content


def page_of(document: int, application: int, page: int, by: int) -> bytes:
    """Return a page of a checked document, from 0 on, as a PNG; record in the audit trail who read.

    The pages that someone sees within an hour are one reading. Raises LookupError if there is none.
    """
    with transaction() as session:
        found = _checked(session, document, application)
        if not 0 <= page < found.pages:
            raise LookupError(f"page {page}")
        if not _has_read(session, found, by):
            _record_reading(session, found, by)
    with store().file(key_of(application, found.digest)) as file:
        _refuse_changed(found, file.read_bytes())
        try:
            return preview.draw(file, found.type, page)
        except NoPreview as error:
            raise LookupError(f"page {page}") from error


def _checked(session: Session, document: int, application: int) -> ApplicationDocument:
    found = session.get(ApplicationDocument, document)
    if found is None or found.application_id != application or found.state != "ok":
        raise LookupError(f"document {document}")
    return found


def _record_reading(session: Session, document: ApplicationDocument, by: int) -> None:
    after = {"part": document.part, "sha256": document.digest}
    add_audit_entry(session, READING, subjects(document.application), by=by, after=after)


def _has_read(session: Session, document: ApplicationDocument, by: int) -> bool:
    """Return whether the audit trail has a recent reading of it."""
    found = select(AuditEntry.id).where(
        AuditEntry.account_id == by,
        AuditEntry.action == READING,
        AuditEntry.subject == subjects(document.application),
        AuditEntry.at > func.now() - READING_TIME,
        AuditEntry.after["sha256"].astext == document.digest,
    )
    return session.scalar(found.limit(1)) is not None


def copy_of(application: int, account: int) -> bytes:
    """Return a ZIP file with what its person gave: the answers and the checked documents."""
    made = BytesIO()
    with transaction() as session, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        wait_for_store(session)
        owner = locked(session, application, account)
        facts = {
            "application": owner.id,
            "kind": owner.kind,
            "term": owner.term.name,
            "state": owner.state,
            "name": owner.account.name,
            "email": owner.account.email,
            "answers": owner.answers,
        }
        archive.writestr("application.json", json.dumps(facts, indent=2, ensure_ascii=False))
        for each in owner.documents:
            if each.state == "ok":
                archive.writestr(f"document-{each.id}.{each.type}", _content(each))
        add_audit_entry(session, "application.copy", subjects(owner), by=account)
    return made.getvalue()


def _content(document: ApplicationDocument) -> bytes:
    """Return what was stored, if it is what was sent; raise LookupError."""
    content = store().read(key_of(document.application_id, document.digest))
    _refuse_changed(document, content)
    return content


def _refuse_changed(document: ApplicationDocument, content: bytes) -> None:
    """Raise LookupError if the stored content is not what was sent."""
    if sha256(content).hexdigest() != document.digest:
        raise LookupError(f"document {document.id} has changed")


def check_again(application: int, by: int, reason: str) -> bool:
    """Let dead letters of an application be checked again; return whether there were any."""
    with transaction() as session:
        dead = select(ApplicationDocument.id).where(
            ApplicationDocument.application_id == application,
            ApplicationDocument.dead_at.is_not(None),
        )
        again = retry(session, ApplicationDocument, session.scalars(dead).all())
        if again:
            subject = f"application:{application}"
            add_audit_entry(session, "application.recheck", subject, by=by, reason=reason)
    return bool(again)


def tidy(name: str) -> str:
    """Return the name of a file without folders and signs that can't be shown."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return "".join(each for each in last if each.isprintable())[-LONGEST_NAME:]


def wait_for_store(session: Session) -> None:
    """Let the transaction wait for the store, which may take longer than it may be idle."""
    session.execute(text("SET LOCAL idle_in_transaction_session_timeout = '2min'"))


def key_of(application: int, digest: str) -> str:
    """Return the key of a document in the store."""
    return f"{application}/{digest}"


# The files: deleted at once when no document names them, or else by the hourly sweep


def delete_files_after(session: Session, application: int, digests: Sequence[str]) -> None:
    """Delete files once the transaction commits; if the store is away, the sweep does it."""

    def delete(_: Session) -> None:
        try:
            for digest in digests:
                delete_unused(application, digest)
        except (OSError, SQLAlchemyError) as error:
            log.warning("Files of application %s wait for the sweep: %s", application, error)

    listen(session, "after_commit", delete, once=True)


def delete_unused(application: int, digest: str, ending: str = "") -> bool:
    """Delete a file unless a document names it; return whether that was so. Raises OSError.

    `ending` is of a file that was not stored in whole. The lock keeps out a document that is added
    with the same content.
    """
    with transaction() as session:
        wait_for_store(session)
        owner = select(Application.id).where(Application.id == application)
        if session.scalar(owner.with_for_update()) is None:
            return False  # not of this database
        document = ApplicationDocument
        mine = document.application_id == application, document.digest == digest
        named = select(document.id).where(*mine, document.refused == "").limit(1)
        if not ending and session.scalar(named):
            return False
        store().delete(key_of(application, digest) + ending)
        return True


# The checks, by a worker


def check_due() -> None:
    """Check the documents that are due; enqueue another job if there are more."""
    for _each in range(MOST_OF_JOB):
        if not _check_next():
            return
    enqueue(NO_TERM, ["check"])


FIRST_DUE = select(func.min(ApplicationDocument.due_at)).where(*due(ApplicationDocument))


def due_jobs(look: Connection, _terms: Sequence[int]) -> Iterable[DueJob]:
    """Return the job that checks documents, if some are due."""
    return due_since("check", look.scalar(FIRST_DUE))


def _take_place(session: Session) -> bool:
    """Take one of the places for checks until the transaction ends; return whether one is free."""
    places = (func.pg_try_advisory_xact_lock(PLACES, number) for number in range(AT_ONCE))
    return any(session.scalar(select(place)) for place in places)


def _check_next() -> bool:
    """Check one document; return whether there was one, and fewer checks than AT_ONCE."""
    with transaction() as session:
        if not _take_place(session):
            return False  # each of the other checks is followed by the next
        order = (ApplicationDocument.due_at, ApplicationDocument.id)
        found = next(iter(take_due(session, ApplicationDocument, order=order, most=1)), None)
        if found is None:
            return False
        try:
            with store().file(key_of(found.application_id, found.digest)) as file:
                found.refused, found.pages = verdict(file, found.name)
        except (ScannerFailed, OSError, ValueError) as error:
            retry_later(found, str(error) or type(error).__name__, PAUSES)
        else:
            mark_sent(found)
            session.flush()
            _notify(session, found)
    return True


def verdict(file: Path, name: str) -> tuple[str, int]:
    """Return the code of why a document is refused, "" if it is not, and its number of pages.

    Raises ScannerFailed, OSError or ValueError if that can't be told now.
    """
    command = [sys.executable, "-m", "portal.applications.inspection", str(file), name]
    try:
        done = subprocess.run(  # noqa: S603  our own module
            command, capture_output=True, timeout=SECONDS, check=False, env={"PATH": os.defpath}
        )
    except subprocess.TimeoutExpired:  # the machine is overloaded: a limit would have come first
        raise ValueError(STOPPED) from None
    if done.returncode == -signal.SIGKILL:  # by the system, which had no memory left
        raise ValueError(STOPPED)
    if done.returncode < 0:  # by one of its limits
        return "complex", 0
    result = json.loads(done.stdout)
    if "refused" in result:
        return str(result["refused"]), 0
    scan = backend().settings.clamd
    return "virus" if scan and _is_infected(scan, file) else "", int(result["pages"])


def _notify(session: Session, document: ApplicationDocument) -> None:
    """Refresh the student's pages; a refused document of a sent application goes back."""
    owner = session.get_one(Application, document.application_id, with_for_update=True)
    if document.refused:
        delete_files_after(session, owner.id, [document.digest])
        if owner.state == REVIEW:
            service.return_for_document(session, owner, document.name)
    elif owner.state == REVIEW and owner.checked:
        entry = move(session, owner, owner.state, "checked", None)
        tell_applicant(session, owner, entry, "checked")
    refresh_pages(session, owner)


# The virus scanner: clamd, asked by its INSTREAM command

SCANNER_PATIENCE = 30.0  # seconds for each part of the exchange
PIECE = 64 * 1024
LONGEST_ANSWER = 4096  # bytes


class ScannerFailed(Exception):
    """The scanner gave no verdict; the message says why."""


def _is_infected(address: str, file: Path) -> bool:
    """Return whether clamd at the address finds a virus in the file; raise ScannerFailed."""
    try:
        with _connected_to_scanner(address) as wire:
            wire.sendall(b"zINSTREAM\0")
            with file.open("rb") as content:
                while piece := content.read(PIECE):
                    wire.sendall(len(piece).to_bytes(4) + piece)
            wire.sendall(bytes(4))
            answer = _answer(wire)
    except OSError as error:
        raise ScannerFailed(str(error) or type(error).__name__) from error
    if answer.endswith(" FOUND"):
        return True
    if answer.endswith(" OK"):
        return False
    raise ScannerFailed(answer or _k("The virus scanner did not respond."))


def _connected_to_scanner(address: str) -> socket.socket:
    if address.startswith("unix:"):
        wire = socket.socket(socket.AF_UNIX)
        wire.settimeout(SCANNER_PATIENCE)
        try:
            wire.connect(address.removeprefix("unix:"))
        except OSError:
            wire.close()
            raise
        return wire
    found = urlsplit(address)
    return socket.create_connection((found.hostname or "", found.port or 3310), SCANNER_PATIENCE)


def _answer(wire: socket.socket) -> str:
    answer = b""
    while len(answer) < LONGEST_ANSWER and (piece := wire.recv(LONGEST_ANSWER)):
        answer += piece
    return answer.rstrip(b"\0\n").decode(errors="replace")
