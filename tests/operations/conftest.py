"""A web server in a process of its own, with all its parts in use."""

from collections.abc import Callable, Iterator

import pytest
from flask import Flask

from portal.backend import Backend
from portal.core import flags
from portal.core.db import transaction
from portal.core.flags import Flag, Switching
from tests.cast import Cast
from tests.live.nodes import Node, a_node
from tests.protection.bots.bot import Bot, logged_in
from tests.protection.captcha.elsewhere import Elsewhere, an_elsewhere

Switch = Callable[..., None]
Meet = Callable[..., Bot]


@pytest.fixture(scope="package")
def elsewhere() -> Iterator[Elsewhere]:
    """The captcha server that the node is set to."""
    with an_elsewhere() as server:
        yield server


@pytest.fixture(scope="package")
def node(
    connected: Backend,  # noqa: ARG001
    elsewhere: Elsewhere,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Node]:
    """A web server whose login provider is away."""
    env = {
        "FAIRSEAT_CAPTCHA": elsewhere.address,
        "FAIRSEAT_OIDC": "http://127.0.0.1:1",
        "FAIRSEAT_OIDC_CLIENT_ID": "fairseat",
        "FAIRSEAT_OIDC_CLIENT_SECRET": "known to the provider",
    }
    with a_node(tmp_path_factory.mktemp("ops"), env) as node:
        yield node


@pytest.fixture
def switch(cast: Cast) -> Iterator[Switch]:
    """Switches a part in this process; others hear of it from PostgreSQL alone."""

    def switch_one(name: str, *, on: bool) -> None:
        with transaction() as session:
            flag = session.get(Flag, name)
            wanted = Switching(name, on, flag.version if flag else 0, "tests")
            flags.switch(session, wanted, cast.max.id)

    yield switch_one
    flags.read()


@pytest.fixture
def meet(node: Node, application: Flask) -> Iterator[Meet]:
    """Brings a client of a student who has logged in."""
    met: list[Bot] = []

    def meet_one(account: int, *, proven: bool = True) -> Bot:
        met.append(logged_in(node, application, account, proven=proven))
        return met[-1]

    yield meet_one
    for bot in met:
        bot.http.close()
