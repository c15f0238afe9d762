"""A real web server with its gate, a window that is open, and who tries to get round it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask

from portal.backend import Backend
from tests import cast as builders
from tests.cast import Cast
from tests.live.nodes import Node, a_node
from tests.protection.bots.bot import Bot, logged_in

Meet = Callable[..., Bot]


@pytest.fixture(scope="package")
def node(connected: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:  # noqa: ARG001
    """A web server as in production, but that its puzzles are small."""
    with a_node(tmp_path_factory.mktemp("bots"), {"FAIRSEAT_CAPTCHA_COST": "2000"}) as node:
        yield node


@pytest.fixture
def term(cast: Cast) -> Any:  # noqa: ARG001
    return builders.a_term()


@pytest.fixture
def window(term: Any) -> Any:
    return builders.an_open_window(term)


@pytest.fixture
def section(term: Any, window: Any) -> Any:  # noqa: ARG001
    return builders.a_section(builders.a_course(), term, capacity=500)


@pytest.fixture
def meet(node: Node, application: Flask) -> Iterator[Meet]:
    """Brings a client; of a student who has logged in, or of nobody."""
    met: list[Bot] = []

    def meet_one(student: Any = None, *, proven: bool = True) -> Bot:
        account = student.account_id if student else 0
        bot = logged_in(node, application, account, proven=proven) if account else Bot(node)
        met.append(bot)
        return bot

    yield meet_one
    for bot in met:
        bot.http.close()
