"""Who may open a socket, what may be said over it, and how it is shut."""

import json
from itertools import count
from pathlib import Path

import pytest
from flask import Flask
from simple_websocket import ConnectionClosed

from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.cast import Cast
from tests.live.conftest import Open
from tests.live.nodes import Node, a_node
from tests.live.tabs import Tab, cookie, knock

REFUSED = 1008
TOO_BIG = 1009
RESTART = 1012


def test_no_one_gets_in_without_a_login(node: Node) -> None:
    assert knock(node.port, {"Origin": node.origin}).status == 401


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:1", "null", ""])
def test_pages_of_other_sites_are_refused(
    cast: Cast, application: Flask, node: Node, origin: str
) -> None:
    session = cookie(application, cast.ada.account_id)
    assert knock(node.port, {"Cookie": session, "Origin": origin}).status == 403


def test_pages_of_the_same_host_by_another_scheme_are_refused(
    cast: Cast, application: Flask, node: Node
) -> None:
    session = cookie(application, cast.ada.account_id)
    other = {"Cookie": session, "Origin": f"https://{node.host}"}
    assert knock(node.port, other).status == 403
    assert knock(node.port, {"Cookie": session, "Origin": node.origin}).status == 101


def test_behind_https_it_is_the_page_by_https_that_may_open_it(
    cast: Cast, application: Flask, tmp_path: Path
) -> None:
    session = cookie(application, cast.ada.account_id).partition("=")[2]
    with a_node(tmp_path, {"FAIRSEAT_HTTPS": "1", "FAIRSEAT_PROXIES": "1"}) as node:
        sent = {"Cookie": f"__Host-fairseat={session}", "X-Forwarded-Proto": "https"}
        for origin, status in ((f"https://{node.host}", 101), (node.origin, 403)):
            assert knock(node.port, {**sent, "Origin": origin}).status == status


def test_compression_is_refused(cast: Cast, application: Flask, node: Node) -> None:
    session = cookie(application, cast.ada.account_id)
    wished = {"Sec-WebSocket-Extensions": "permessage-deflate"}
    answer = knock(node.port, {"Cookie": session, "Origin": node.origin, **wished})
    assert answer.status == 101
    assert answer.getheader("Sec-WebSocket-Extensions") is None


@pytest.mark.parametrize(
    "nonsense",
    [
        "not json",
        "[1, 2]",
        '{"term": "1"}',
        '{"term": 1, "sections": [true]}',
        '{"term": 1, "sections": {"1": 2}}',
        json.dumps({"term": 1, "sections": list(range(1, 402))}),
        "[" * 4000,
        '{"term":' * 500,
        '{"term": 1, "mark": "\\ud800"}',
        '{"term": 99999999999999999999999999}',
        '{"term": 1e999}',
    ],
)
def test_nonsense_ends_the_talk(cast: Cast, open_tab: Open, nonsense: str) -> None:
    tab = open_tab(cast.ada.account_id)
    tab.client.send(nonsense)
    assert tab.closed() == REFUSED


def test_a_message_that_is_too_big_ends_the_talk(cast: Cast, open_tab: Open) -> None:
    tab = open_tab(cast.ada.account_id)
    tab.client.send("x" * 100_000)
    assert tab.closed() == TOO_BIG


def talk(tab: Tab) -> None:
    """Send messages without end, each after an answer: unread messages can hide the close code."""
    for number in count(1):
        tab.client.send("{}")
        tab.hear(lambda it, number=number: len(it.frames) >= number)


def test_a_page_that_talks_without_end_is_cut_off(cast: Cast, open_tab: Open) -> None:
    tab = open_tab(cast.ada.account_id)
    with pytest.raises(ConnectionClosed) as closing:
        talk(tab)
    assert closing.value.reason == REFUSED


def test_a_sign_of_life_is_answered(cast: Cast, open_tab: Open) -> None:
    tab = open_tab(cast.ada.account_id)
    tab.client.send("{}")
    tab.hear(lambda tab: tab.frames)


def test_rosters_are_for_those_who_teach_the_section(
    cast: Cast, term: Term, open_tab: Open
) -> None:
    section = builders.a_section(builders.a_course(), term, instructor=cast.iris)
    for outsider in (cast.ada.account_id, cast.otto.account_id):
        tab = open_tab(outsider)
        tab.ask(term.id, [], roster=section.id)
        tab.hear(lambda tab: [s for s in tab.signals if s["name"] == "refused"])
    for insider in (cast.iris.account_id, cast.max.id):
        tab = open_tab(insider)
        tab.ask(term.id, [section.id], roster=section.id)
        tab.shows(section.id, 2)
        assert "refused" not in {signal["name"] for signal in tab.listen(0.2).signals}
        # It may have changed since the page was drawn.
        tab.hear(lambda tab: [s for s in tab.signals if s["name"] == "roster"])


def test_a_process_that_ends_sends_its_pages_elsewhere(
    cast: Cast, section: Section, open_tab: Open, logs: Path
) -> None:
    with a_node(logs) as ending:
        tab = open_tab(cast.ada.account_id, ending)
        tab.ask(section.term_id, [section.id])
        tab.shows(section.id, 2)
        ending.child.ask_to_stop()
        assert tab.closed() == RESTART
        ending.child.stop()
        assert ending.child.process
        assert ending.child.process.returncode == 0  # by itself


def test_a_roster_is_not_for_those_who_teach_another_section(
    cast: Cast, term: Term, open_tab: Open
) -> None:
    course = builders.a_course()
    section = builders.a_section(course, term, instructor=cast.iris)
    another = builders.a_section(course, term, instructor=cast.otto)
    tab = open_tab(cast.otto.account_id)
    tab.ask(term.id, [], roster=section.id)
    (refused,) = tab.hear(lambda tab: [s for s in tab.signals if s["name"] == "refused"])
    assert refused["detail"] == {"roster": section.id}
    tab.ask(term.id, [], roster=another.id)
    tab.hear(lambda tab: [s for s in tab.signals if s["name"] == "roster"])


def answers_to_rosters(tab: Tab) -> list[str]:
    return [it["name"] for it in tab.signals if it["name"] in {"roster", "refused"}]


def test_a_roster_is_for_those_who_schedule_its_department(
    cast: Cast, term: Term, open_tab: Open
) -> None:
    section = builders.a_section(builders.a_course(), term, instructor=cast.iris)
    for department, told in (("SCI", "roster"), ("HIS", "refused")):
        schedules = [builders.a_department(department).id]
        tab = open_tab(builders.an_account(f"sam of {department}", schedules_for=schedules).id)
        tab.ask(term.id, [], roster=section.id)
        assert tab.hear(answers_to_rosters) == [told]
