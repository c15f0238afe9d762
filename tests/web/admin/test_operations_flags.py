"""GET and POST /admin/operations/flags/<name>."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.core import flags
from tests.audit_trail import entries
from tests.cast import Cast, an_account
from tests.registration import database_outage
from tests.web.visitors import browser_of

FLAG = "/admin/operations/flags/captcha"
OFF = {"to": "off", "version": 0, "reason": "Nobody can solve it."}


@pytest.fixture(autouse=True)
def _all_on() -> Iterator[None]:
    yield
    flags._off = frozenset()  # noqa: SLF001 - as after a start


def test_form_explains_the_effects_of_a_switch(admin: FlaskClient) -> None:
    page = admin.get(FLAG).text
    assert "Switch off: Captcha" in page
    assert "students don’t solve a captcha to register" in page
    assert "All processes follow within two seconds" in page


def test_every_switch_says_what_happens_when_it_is_off() -> None:
    assert set(flags.WHEN_OFF) == set(flags.NAMES)


def test_switching_off_is_audited(admin: FlaskClient, cast: Cast) -> None:
    answer = admin.post(FLAG, data=OFF)
    assert (answer.status_code, answer.location) == (303, "/admin/operations")
    assert not flags.on("captcha")
    (entry,) = entries("flag.switched")
    assert (entry.account_id, entry.subject) == (cast.max.id, "flag:captcha")
    assert (entry.before, entry.after) == ({"on": True}, {"on": False})
    assert entry.reason == "Nobody can solve it."
    page = " ".join(admin.get("/admin/operations").text.split())
    assert "Captcha: switched off." in page
    assert "Nobody can solve it." in page


def test_part_can_be_switched_on_again(admin: FlaskClient) -> None:
    admin.post(FLAG, data=OFF)
    assert "Switch on: Captcha" in admin.get(FLAG).text
    admin.post(FLAG, data={"to": "on", "version": 1, "reason": "They can."})
    assert flags.on("captcha")
    assert [entry.after for entry in entries("flag.switched")] == [{"on": False}, {"on": True}]


def test_switch_needs_a_reason(admin: FlaskClient) -> None:
    answer = admin.post(FLAG, data=OFF | {"reason": "  "})
    assert answer.status_code == 422
    assert "Enter a reason" in answer.text
    assert flags.on("captcha")


def test_two_admins_do_not_overwrite_each_other(app: Flask, admin: FlaskClient) -> None:
    admin.post(FLAG, data=OFF)
    an_account("mia", is_admin=True)
    answer = browser_of(app, "mia").post(FLAG, data=OFF | {"reason": "Me too."})
    assert answer.status_code == 409
    assert "Someone else has changed this switch" in answer.text
    assert len(entries("flag.switched")) == 1


def test_form_sent_twice_switches_once(admin: FlaskClient) -> None:
    for _ in range(2):
        assert admin.post(FLAG, data=OFF).status_code == 303
    assert len(entries("flag.switched")) == 1
    assert admin.post(FLAG, data=OFF | {"to": "on"}).status_code == 409, "it was another press"


def test_part_not_in_the_settings_cannot_be_switched(admin: FlaskClient) -> None:
    assert admin.get("/admin/operations/flags/mail_breaker").status_code == 404
    assert "Turned off in the settings: " in admin.get("/admin/operations").text


def test_nothing_is_switched_without_an_audit_entry(admin: FlaskClient) -> None:
    with database_outage.away():
        assert admin.post(FLAG, data=OFF).status_code == 503
    assert flags.on("captcha")
    assert entries("flag.switched") == []


def test_last_known_flags_apply_while_postgresql_is_down(admin: FlaskClient) -> None:
    admin.post(FLAG, data=OFF)
    with database_outage.away():
        flags.read()
        assert not flags.on("captcha")


def test_all_parts_are_on_before_the_first_reading(admin: FlaskClient) -> None:
    admin.post(FLAG, data=OFF)
    flags._off = frozenset()  # noqa: SLF001 - as after a start
    with database_outage.away():
        flags.read()
        assert all(map(flags.on, flags.NAMES))
    flags.read()  # and is taken up once it is back
    assert not flags.on("captcha")


@pytest.mark.parametrize("wrong", [{"version": "x"}, {"version": None}])
def test_invalid_form_is_a_400(admin: FlaskClient, wrong: dict[str, Any]) -> None:
    assert admin.post(FLAG, data={**OFF, **wrong}).status_code == 400
