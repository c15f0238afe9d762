"""What people gave: kept for a time, downloaded and withdrawn by its person, in a folder or S3."""

import json
import socket
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from pathlib import Path

import boto3
import pytest
from flask import Flask
from flask.testing import FlaskClient
from moto.server import ThreadedMotoServer
from sqlalchemy import text, update

from portal import backend as connections
from portal.applications import documents, fees, reminders, service
from portal.applications.kinds import KINDS
from portal.applications.models import Application, Charge
from portal.applications.store import store
from portal.backend import Backend
from portal.backend import backend as the_backend
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.core.settings import Bucket
from portal.operations import retention
from portal.people.models import Account
from tests.applications import files
from tests.applications.stories import (
    ANSWERS,
    a_draft,
    a_visiting_application,
    an_application,
    audit_actions,
    charges,
    decider,
    history,
    pay,
    steps,
    the,
)
from tests.audit_trail import entries
from tests.cast import Cast
from tests.web.visitors import browser_of


@pytest.fixture(params=["folder", "s3"])
def stored(request: pytest.FixtureRequest, backend: Backend, tmp_path: Path, s3: str) -> None:
    """Documents go to a folder, or to a bucket."""
    if request.param == "folder":
        settings = replace(backend.settings, documents=tmp_path / "documents")
    else:
        settings = replace(backend.settings, bucket=Bucket("documents", "fairseat/", s3))
    connections.use(replace(backend, settings=settings))


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The address of an S3 service with a bucket."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    patch = pytest.MonkeyPatch()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        patch.setenv(name, "tests")
    patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    boto3.client("s3", endpoint_url=address).create_bucket(Bucket="documents")
    yield address
    patch.undo()
    server.stop()


@pytest.fixture
def sent(free: Section, cast: Cast, stored: None) -> int:  # noqa: ARG001
    made = an_application("late_add", cast.ada, free, documents=[files.a_pdf()])
    documents.check_due()
    return made


def is_stored(application: int) -> bool:
    try:
        with transaction() as session:
            (found,) = session.get_one(documents.Application, application).documents
        return bool(store().read(documents.key_of(application, found.digest)))
    except (OSError, ValueError):
        return False


def later(days: int) -> None:
    """So many days pass, for the applications."""
    passed = text(f"changed_at - interval '{days} days'")
    with transaction() as session:
        session.execute(update(Application).values(changed_at=passed))


def test_a_document_is_stored_checked_and_read(
    ada: FlaskClient, sent: int, free: Section, admin: FlaskClient
) -> None:
    (found,) = the_documents(sent)
    assert found.state == "ok"
    here = f"/terms/{free.term_id}/applications/{sent}"
    assert ada.get(f"{here}/documents/{found.id}").data.startswith(b"%PDF-")
    answer = admin.get(f"/admin/applications/{sent}/documents/{found.id}/pages/0.png")
    assert answer.data.startswith(b"\x89PNG")
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    assert audit_actions().count("application.document") == 2
    page = admin.get(f"/admin/applications/{sent}/documents/{found.id}/pages/1.png")
    assert page.status_code == 404


def test_a_look_at_any_page_is_in_the_audit_trail_once_an_hour(
    app: Flask, free: Section, cast: Cast, mia: Account, stored: None
) -> None:
    assert stored is None
    made = an_application("late_add", cast.ada, free, documents=[files.a_pdf(3)])
    documents.check_due()
    here = f"/admin/applications/{made}/documents/{the_documents(made)[0].id}/pages"
    max_, mia_ = browser_of(app, "max"), browser_of(app, mia.username)
    for browser, page in ((max_, 2), (max_, 1), (max_, 0), (mia_, 1)):
        assert browser.get(f"{here}/{page}.png").status_code == 200
    assert [each.account_id for each in entries("application.document")] == [cast.max.id, mia.id]


def test_its_person_downloads_what_they_gave(
    app: Flask, ada: FlaskClient, sent: int, free: Section
) -> None:
    here = f"/terms/{free.term_id}/applications/{sent}/copy.zip"
    with zipfile.ZipFile(BytesIO(ada.get(here).data)) as archive:
        facts = json.loads(archive.read("application.json"))
        assert facts["answers"] == ANSWERS["late_add"]
        (name,) = [each for each in archive.namelist() if each.endswith(".pdf")]
        assert archive.read(name).startswith(b"%PDF-")
    assert browser_of(app, "ben").get(here).status_code == 404
    assert audit_actions()[-1] == "application.copy"


def test_its_person_deletes_it_once_it_has_ended(
    ada: FlaskClient, sent: int, free: Section, cast: Cast
) -> None:
    here = f"/terms/{free.term_id}/applications/{sent}/erase"
    assert ada.post(here).status_code == 409
    assert is_stored(sent)
    service.decline(sent, decider(sent, cast.max.id))
    digest = the_documents(sent)[0].digest
    assert ada.post(here).status_code == 303
    assert the_documents(sent) == []
    assert the(sent).answers == {}
    with pytest.raises(OSError):  # noqa: PT011  each store has its own
        store().read(documents.key_of(sent, digest))
    assert history(sent)[-1] == "erase"
    assert "are deleted" in ada.get(here.removesuffix("/erase")).text


def test_documents_go_after_the_time_that_the_registrar_sets(
    admin: FlaskClient, sent: int, cast: Cast
) -> None:
    days = {name: str(kind.keep_days) for name, kind in KINDS.items()}
    page = admin.post("/admin/applications/retention", data=days | {"late_add": "0", "reason": "x"})
    assert page.status_code == 422
    wanted = days | {"late_add": "30", "reason": "Our rules."}
    assert admin.post("/admin/applications/retention", data=wanted).status_code == 303
    assert 'value="30"' in admin.get("/admin/applications/retention").text
    service.decline(sent, decider(sent, cast.max.id))
    for passed, kept in ((29, True), (2, False)):
        later(passed)
        retention.delete_expired()
        assert is_stored(sent) == kept
    assert the(sent).answers == {}


def test_a_draft_goes_after_that_time_without_a_change(
    ada: FlaskClient, free: Section, cast: Cast
) -> None:
    made, days = a_draft("late_add", cast.ada, free), KINDS["late_add"].keep_days
    later(days - 1)
    answer = ada.post(
        f"/terms/{free.term_id}/applications/{made}/steps/reason", data={"why": "I still need it."}
    )
    assert answer.status_code == 303
    later(days - 1)
    retention.delete_expired()
    assert the(made).answers["why"] == "I still need it."
    later(2)
    retention.delete_expired()
    assert (the(made).state, the(made).answers) == ("withdrawn", {})
    assert history(made) == ["withdraw", "erase"]


def test_a_reminder_does_not_prolong_that_time(
    free: Section, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = KINDS["late_add"]
    made = a_draft("late_add", cast.ada, free)
    later(kind.keep_days - 1)
    last = service.last_day(kind, free.term_id)
    monkeypatch.setattr(reminders, "today", lambda: last)
    reminders.remind_due()
    assert steps(cast.ada.account_id) == ["due"]
    later(2)
    retention.delete_expired()
    assert history(made) == ["withdraw", "erase"]


def test_one_that_cant_be_deleted_leaves_the_others(
    sent: int, free: Section, cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    service.decline(sent, decider(sent, cast.max.id))
    other = a_draft("late_add", cast.ben, free)
    with transaction() as session:
        broken = update(Application).where(Application.id == sent)
        session.execute(broken.values(version=2**31 - 1))  # so it can't change any more
    store().put(documents.key_of(sent, "0" * 64), b"x")
    later(KINDS["late_add"].keep_days + 1)
    with pytest.raises(RuntimeError, match=str(sent)):
        sweep()
    assert f"Application {sent}" in caplog.text
    assert is_stored(sent)
    assert history(other) == ["withdraw", "erase"]
    assert not is_kept(sent, "0" * 64)


def test_what_no_one_completes_is_withdrawn(cast: Cast, sent: int) -> None:
    service.ask_more(sent, decider(sent, cast.max.id))
    later(KINDS["late_add"].keep_days + 1)
    retention.delete_expired()
    assert (the(sent).state, the_documents(sent)) == ("withdrawn", [])
    assert steps(cast.ada.account_id)[-1] == "withdrawn"


@pytest.fixture
def away(backend: Backend) -> Callable[[], None]:
    """Call it, and the store is gone: a bucket of a server that does not answer."""
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        address = f"http://127.0.0.1:{nobody.getsockname()[1]}"

    def leave() -> None:
        settings = replace(the_backend().settings, bucket=Bucket("documents", "x/", address))
        connections.use(replace(backend, settings=settings))

    return leave


def test_what_is_deleted_while_the_store_is_away_goes_later(
    ada: FlaskClient, free: Section, sent: int, cast: Cast, away: Callable[[], None]
) -> None:
    service.decline(sent, decider(sent, cast.max.id))
    digest, before = the_documents(sent)[0].digest, the_backend()
    away()
    assert ada.post(f"/terms/{free.term_id}/applications/{sent}/erase").status_code == 303
    assert (the_documents(sent), the(sent).answers) == ([], {})
    connections.use(before)
    assert is_kept(sent, digest)
    sweep()
    assert not is_kept(sent, digest)


def test_a_store_that_is_away_holds_up_no_deletion_of_rows(
    sent: int, cast: Cast, away: Callable[[], None]
) -> None:
    service.decline(sent, decider(sent, cast.max.id))
    later(KINDS["late_add"].keep_days + 1)
    away()
    with pytest.raises(OSError, match="Could not connect"):
        retention.delete_expired()
    assert (the_documents(sent), the(sent).answers) == ([], {})


@pytest.mark.usefixtures("stored")
def test_a_file_that_no_document_names_is_deleted_once_it_is_old(sent: int) -> None:
    digest = the_documents(sent)[0].digest
    orphan, elsewhere = "0" * 64, f"{sent + 1000}/{digest}"
    for key in (documents.key_of(sent, orphan), elsewhere):
        store().put(key, b"x")  # as by a process that died before its commit
    retention.delete_expired()
    assert is_kept(sent, orphan)
    sweep()
    assert not is_kept(sent, orphan)
    assert is_kept(sent, digest)
    assert store().read(elsewhere) == b"x"  # of no application that this database knows


def sweep() -> None:
    """Every file has become old, and the hourly clean-up runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("portal.applications.retention.SAFE_AGE", timedelta(seconds=-5))
        retention.delete_expired()


def is_kept(application: int, digest: str) -> bool:
    try:
        return bool(store().read(documents.key_of(application, digest)))
    except FileNotFoundError:
        return False


@pytest.mark.usefixtures("paying")
def test_the_fee_of_an_old_draft_is_given_back(free: Section, vera: Account) -> None:
    made = service.start(KINDS["visiting"], vera.id, free.term_id)
    pay(made, vera)
    later(KINDS["visiting"].keep_days + 1)
    retention.delete_expired()
    assert the(made).state == "withdrawn"
    fees.charge_due()
    assert [each.state for each in charges(made)] == ["refunded"]
    assert steps(vera.id) == ["paid", "withdrawn", "refund"]


def test_what_is_not_decided_is_kept(sent: int) -> None:
    later(4000)
    retention.delete_expired()
    assert is_stored(sent)


def the_documents(application: int) -> list[documents.ApplicationDocument]:
    with transaction() as session:
        return list(session.get_one(documents.Application, application).documents)


@pytest.mark.usefixtures("paying")
def test_refunds_and_retries_are_in_the_audit_trail(
    admin: FlaskClient, free: Section, vera: Account
) -> None:
    made = a_visiting_application(vera, free.term_id)
    here = f"/admin/applications/{made}/refund"
    assert "$50.00" in admin.get(here).text
    assert admin.post(here, data={"reason": "Ill."}).status_code == 303
    assert admin.post(here, data={"reason": "Ill."}).status_code == 409
    (charge,) = charges(made)
    assert charge.state == "refunding"
    with transaction() as session:
        found = session.get_one(Charge, charge.id)
        found.dead_at, found.error = found.made_at, "The provider refuses it."
    assert "The provider refuses it." in admin.get("/admin/operations").text
    again = f"/admin/operations/applications/charge/{charge.id}/retry"
    assert admin.post(again, data={"reason": "Now."}).status_code == 303
    assert admin.post(again, data={"reason": "Now."}).status_code == 409
    found = {each.action for each in entries()}
    assert {"application.refunding", "application.charge"} <= found
    fees.charge_due()
    assert charges(made)[0].state == "refunded"
