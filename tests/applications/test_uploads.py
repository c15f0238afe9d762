"""Documents that arrive in pieces: they go on after a lost connection, and count once."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select, text, update

from portal import backend as connections
from portal.applications import service, uploads
from portal.applications.kinds import KINDS
from portal.applications.models import Application, ApplicationDocument, Upload, UploadPiece
from portal.backend import Backend
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.operations import retention
from tests.applications import files
from tests.cast import Cast
from tests.runtime.cluster.replicated_ledger import until
from tests.web.visitors import browser_of

PDF = files.a_pdf(text=b"x" * 5000)


@pytest.fixture
def here(free: Section, cast: Cast) -> str:
    made = service.start(KINDS["late_add"], cast.ada.account_id, free.term_id, free.id)
    return f"/terms/{free.term_id}/applications/{made}/uploads"


def about(content: bytes) -> dict[str, str]:
    digest = sha256(content).hexdigest()
    return {"part": "support", "name": "letter.pdf", "size": str(len(content)), "digest": digest}


def begin(browser: FlaskClient, here: str, content: bytes = PDF) -> tuple[str, int]:
    sent = about(content)
    answer = browser.post(here, data=sent)
    assert answer.status_code == 200, answer.text
    return answer.json["url"], answer.json["received"]  # type: ignore[index]


def send(browser: FlaskClient, url: str, start: int, content: bytes) -> tuple[int, int]:
    answer = browser.put(f"{url}?start={start}", data=content)
    return answer.status_code, answer.json["received"]  # type: ignore[index]


def number(model: type) -> int:
    with transaction() as session:
        return session.scalar(select(func.count()).select_from(model)) or 0


def test_a_document_arrives_in_pieces(ada: FlaskClient, here: str) -> None:
    url, received = begin(ada, here)
    assert received == 0
    assert send(ada, url, 0, PDF[:100]) == (200, 100)
    assert begin(ada, here) == (url, 100)  # as after a lost connection
    assert send(ada, url, 100, PDF[100:]) == (200, len(PDF))
    with transaction() as session:
        (found,) = session.scalars(select(ApplicationDocument))
    assert (found.name, found.size, found.type) == ("letter.pdf", len(PDF), "pdf")
    assert number(Upload) == number(UploadPiece) == 0


def test_another_file_of_the_same_name_and_size_begins_at_its_start(
    ada: FlaskClient, here: str
) -> None:
    other = PDF.replace(b"x", b"y")
    url, _ = begin(ada, here)
    send(ada, url, 0, PDF[:4000])
    second, received = begin(ada, here, other)
    assert (second != url, received) == (True, 0)
    assert send(ada, second, 0, other)[0] == 200
    with transaction() as session:
        (found,) = session.scalars(select(ApplicationDocument))
    assert found.digest == sha256(other).hexdigest()


def test_pieces_of_two_files_make_no_document(ada: FlaskClient, here: str) -> None:
    url, _ = begin(ada, here)
    send(ada, url, 0, PDF[:4000])
    answer = ada.put(f"{url}?start=4000", data=PDF.replace(b"x", b"y")[4000:])
    assert answer.status_code == 422
    assert "changed while it was sent" in answer.json["error"]  # type: ignore[index]
    assert number(Upload) == number(ApplicationDocument) == 0


def test_a_piece_counts_once_and_in_order(ada: FlaskClient, here: str) -> None:
    url, _ = begin(ada, here)
    assert send(ada, url, 0, PDF[:100]) == (200, 100)
    assert send(ada, url, 0, PDF[:100]) == (409, 100)
    assert send(ada, url, 200, PDF[200:]) == (409, 100)
    assert send(ada, url, 100, PDF + b"more") == (409, 100)


def test_an_upload_outlasts_an_outage_of_the_store(
    ada: FlaskClient, here: str, backend: Backend, tmp_path: Path
) -> None:
    blocked = tmp_path / "documents"
    settings = replace(backend.settings, documents=blocked)
    connections.use(replace(backend, settings=settings))
    blocked.write_text("no folder")
    url, _ = begin(ada, here)
    answer = ada.put(f"{url}?start=0", data=PDF)
    assert answer.status_code == 422
    assert "can’t store the file right now" in answer.json["error"]  # type: ignore[index]
    assert number(ApplicationDocument) == 0

    blocked.unlink()
    assert begin(ada, here) == (url, len(PDF))
    assert send(ada, url, len(PDF), b"") == (200, len(PDF))
    assert number(ApplicationDocument) == 1
    assert number(Upload) == 0


def test_two_last_pieces_at_once_make_one_document(app: Flask, ada: FlaskClient, here: str) -> None:
    url, _ = begin(ada, here)
    send(ada, url, 0, PDF[:100])
    with ThreadPoolExecutor(2) as pool:
        with transaction() as session:
            session.execute(select(Application.id).with_for_update())
            sent = [pool.submit(send, browser_of(app, "ada"), url, 100, PDF[100:]) for _ in "12"]
            until(lambda: len(waiting()) == len(sent))
        assert [each.result() for each in sent] == [(200, len(PDF))] * 2
    assert number(ApplicationDocument) == 1
    assert number(Upload) == 0


def waiting() -> Sequence[int]:
    """The connections that wait for a lock."""
    found = text(
        "SELECT pid FROM pg_stat_activity"
        " WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    with transaction() as session:
        return session.scalars(found).all()


def test_a_hostile_upload_is_refused(ada: FlaskClient, here: str) -> None:
    sent = about(PDF) | {"size": str(11 * 2**20)}
    assert ada.post(here, data=sent | {"digest": "../../x"}).status_code == 400
    assert ada.post(here, data=sent).status_code == 422
    assert ada.post(here, data=sent | {"part": "eat"}).status_code == 400
    url, _ = begin(ada, here, b"MZ\0\0")
    answer = ada.put(f"{url}?start=0", data=b"MZ\0\0")
    assert answer.status_code == 422
    assert "not a PDF" in answer.json["error"]  # type: ignore[index]
    assert number(Upload) == number(ApplicationDocument) == 0
    url, _ = begin(ada, here)
    assert ada.put(f"{url}?start=0", data=b"x" * (2**20 + 1)).status_code == 413


def test_an_upload_belongs_to_one_student(app: Flask, ada: FlaskClient, here: str) -> None:
    url, _ = begin(ada, here)
    ben = browser_of(app, "ben")
    assert ben.post(here, data=about(b"x")).status_code == 404
    assert ben.put(f"{url}?start=0", data=b"x").status_code == 404


def test_what_no_one_finished_is_deleted(ada: FlaskClient, here: str) -> None:
    url, _ = begin(ada, here)
    send(ada, url, 0, PDF[:100])
    with transaction() as session:
        session.execute(update(Upload).values(made_at=Upload.made_at - 2 * uploads.KEPT))
    retention.delete_expired()
    assert number(Upload) == number(UploadPiece) == 0
