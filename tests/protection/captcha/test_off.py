"""With the captcha or the waiting rooms switched off, the portal asks for no proof."""

from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import backend
from portal.web.http import admission


def without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend(), "settings", replace(backend().settings, captcha="off"))


def test_a_captcha_that_is_off_asks_no_one(
    ada: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch)
    page = ada.get("/captcha").text
    assert "Continue" in page
    assert "data-captcha=" not in page


def test_nor_does_a_gate_that_is_off(ada: FlaskClient, guarded: Flask) -> None:
    guarded.config["GATE"] = False
    page = ada.get("/captcha").text
    assert "data-captcha=" not in page


def test_clients_can_find_out(guarded: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    with guarded.app_context():
        assert admission.captcha_needed()
        without(monkeypatch)
        assert not admission.captcha_needed()
