"""The settings of a provider."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from portal.app import create_app
from portal.backend import Backend
from portal.core.settings import Oidc, Settings, SettingsError

Read = Callable[..., Settings]
GIVEN = {
    "FAIRSEAT_OIDC": "https://id.example",
    "FAIRSEAT_OIDC_CLIENT_ID": "fairseat",
    "FAIRSEAT_OIDC_CLIENT_SECRET": "between us",
}


@pytest.fixture
def read(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> Read:
    def read_with(**given: str) -> Settings:
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        return Settings.read()

    assert backend
    return read_with


def test_no_provider_without_an_address(read: Read) -> None:
    assert read().oidc is None
    assert read().passwords


def test_three_settings_are_enough(read: Read) -> None:
    assert read(**GIVEN).oidc == Oidc("https://id.example", "fairseat", "between us")


def test_claim_and_name_can_be_set(read: Read) -> None:
    result = {"FAIRSEAT_OIDC_CLAIM": "email", "FAIRSEAT_OIDC_NAME": "Campus ID"}
    found = read(**GIVEN, **result, FAIRSEAT_PASSWORDS="0")
    assert found.oidc.claim == "email"
    assert found.oidc.name == "Campus ID"
    assert not found.passwords


@pytest.mark.parametrize("name", ["FAIRSEAT_OIDC_CLIENT_ID", "FAIRSEAT_OIDC_CLIENT_SECRET"])
def test_missing_setting_is_named(read: Read, name: str) -> None:
    given = {key: value for key, value in GIVEN.items() if key != name}
    with pytest.raises(KeyError, match=name):
        read(**given)


def test_portal_without_passwords_and_provider_does_not_start(read: Read) -> None:
    with pytest.raises(SettingsError, match="set FAIRSEAT_OIDC"):
        read(FAIRSEAT_PASSWORDS="0")


def test_secret_is_in_no_message(read: Read) -> None:
    assert "between us" not in repr(read(**GIVEN))


def test_login_page_of_a_configured_provider_has_its_button(backend: Backend) -> None:
    oidc = Oidc("https://id.example", "fairseat", "between us", name="Campus ID")
    app = create_app(replace(backend.settings, oidc=oidc))
    assert "Log in with Campus ID" in app.test_client().get("/login").text
    create_app(backend.settings)  # restores the state for the next test
