"""Through a real provider and back, as a browser goes that keeps to our policies."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from e2e.person import Person
from e2e.portal import Running
from tests.live.nodes import Node, a_node
from tests.ports import free_port
from tests.web.account.oidc.provider import Running as Provider
from tests.web.account.oidc.provider import running


@pytest.fixture(scope="module")
def provider() -> Iterator[tuple[Provider, int]]:
    """Return a provider that knows the portal at a port of its own."""
    port = free_port()
    with running(here=f"http://127.0.0.1:{port}") as provider:
        yield provider, port


@pytest.fixture(scope="module")
def node(
    portal: Running, provider: tuple[Provider, int], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Node]:
    """A web server of the portal that is told of the provider."""
    known, port = provider
    told = known.settings()
    settings = {
        "DATABASE_URL": portal.backend.settings.database_url,
        "REDIS_URL": portal.backend.settings.redis_url,
        "SECRET_KEY": "for this node alone",
        "FAIRSEAT_OIDC": told.issuer,
        "FAIRSEAT_OIDC_CLIENT_ID": told.client_id,
        "FAIRSEAT_OIDC_CLIENT_SECRET": told.client_secret,
        "FAIRSEAT_OIDC_NAME": told.name,
    }
    with a_node(tmp_path_factory.mktemp("node"), settings, port=port) as node:
        yield node


def test_one_logs_in_there_comes_back_and_logs_out_of_both(browser: Browser, node: Node) -> None:
    context = browser.new_context(base_url=node.origin)
    dan = Person(context.new_page())
    page = dan.page
    dan.go("/inbox")
    page.get_by_role("link", name="Log in with Campus ID").click()
    page.locator("input[name=login]").fill("dan")
    page.locator("input[name=password]").fill("any")
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url(f"{node.origin}/inbox")
    expect(page.get_by_role("link", name="Dan")).to_be_visible()

    page.get_by_role("button", name="Log out").click()
    page.get_by_role("link", name="Also log out of Campus ID").click()
    page.get_by_role("button", name="Yes").click()
    page.wait_for_url(f"{node.origin}/login**")
    page.get_by_role("link", name="Log in with Campus ID").click()
    expect(page.locator("input[name=login]")).to_be_visible()
    context.close()
