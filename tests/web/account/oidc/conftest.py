"""The application with an OpenID provider."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from flask import Flask

from portal.backend import backend as of_this_process
from portal.web.account import oidc as providers
from portal.web.account.oidc import Provider
from tests.web.account.oidc.provider import Running, running

With = Callable[..., Flask]


@pytest.fixture(scope="package")
def provider() -> Iterator[Running]:
    with running() as provider:
        yield provider


@pytest.fixture
def with_provider(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[With]:
    """Return the application with a provider; restore it after the test."""
    backend = of_this_process()
    before = backend.settings
    monkeypatch.setattr(
        providers, "TIMEOUT", 60
    )  # so that a slow machine is not taken for a silent provider

    def tell(provider: Running, claim: str = "preferred_username") -> Flask:
        settings = provider.settings(claim)
        backend.settings = replace(before, oidc=settings)
        app.extensions["oidc"] = Provider(settings)
        return app

    yield tell
    backend.settings = before
    app.extensions.pop("oidc", None)


@pytest.fixture
def portal(with_provider: With, provider: Running) -> Flask:
    """Return the application with a working provider."""
    return with_provider(provider)
