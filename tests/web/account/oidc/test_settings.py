"""The settings that lead to a provider."""

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


def test_without_an_address_there_is_none(read: Read) -> None:
    assert read().oidc is None
    assert read().passwords


def test_three_are_enough(read: Read) -> None:
    assert read(**GIVEN).oidc == Oidc("https://id.example", "fairseat", "between us")


def test_the_claim_and_the_name_may_be_told(read: Read) -> None:
    told = {"FAIRSEAT_OIDC_CLAIM": "email", "FAIRSEAT_OIDC_NAME": "Campus ID"}
    found = read(**GIVEN, **told, FAIRSEAT_PASSWORDS="0")
    assert found.oidc.claim == "email"
    assert found.oidc.name == "Campus ID"
    assert not found.passwords


@pytest.mark.parametrize("name", ["FAIRSEAT_OIDC_CLIENT_ID", "FAIRSEAT_OIDC_CLIENT_SECRET"])
def test_one_that_is_missing_is_named(read: Read, name: str) -> None:
    given = {key: value for key, value in GIVEN.items() if key != name}
    with pytest.raises(KeyError, match=name):
        read(**given)


def test_without_passwords_and_without_a_provider_nothing_starts(read: Read) -> None:
    with pytest.raises(SettingsError, match="set FAIRSEAT_OIDC"):
        read(FAIRSEAT_PASSWORDS="0")


def test_the_secret_is_in_no_message(read: Read) -> None:
    assert "between us" not in repr(read(**GIVEN))


def test_an_application_that_is_told_of_one_has_its_button(backend: Backend) -> None:
    oidc = Oidc("https://id.example", "fairseat", "between us", name="Campus ID")
    app = create_app(replace(backend.settings, oidc=oidc))
    assert "Log in with Campus ID" in app.test_client().get("/login").text
    create_app(backend.settings)  # as it was for whoever comes next
