"""Every topic of the sockets states who may listen to it; whoever else asks hears nothing."""

import inspect
from typing import Any

from portal.catalog.models import Term
from portal.live import topics
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.cast import Cast
from tests.live.conftest import Claim, Open
from tests.live.tabs import Tab

# Who hears of what; a new topic needs a line here, and a test of it.
LISTENERS = {
    "student": "the student; admins hear no more than that: here, and test_student_updates.py",
    "account": "the account's owner; pages can't ask for another: tests/live/test_staff_updates.py",
    "waitlist": "who is on it; pages can't ask for it: tests/live/test_student_updates.py",
    "roster": "who teaches the section, and admins: here",
    "room": "students and admins; it tells numbers alone",
    "windows": "everyone of the term",
    "operations": "admins: tests/live/test_operations.py",
}


def test_every_topic_states_who_may_listen() -> None:
    made = {
        name
        for name, function in inspect.getmembers(topics, inspect.isfunction)
        if function.__annotations__.get("return") in {topics.Topic, "Topic"}
    }
    assert made == LISTENERS.keys()


def test_no_one_gets_updates_of_others_whatever_they_ask_for(
    cast: Cast, term: Term, open_tab: Open, claim: Claim
) -> None:
    section = builders.a_section(builders.a_course(), term, instructor=cast.iris)
    accounts = {
        "ada": cast.ada.account_id,
        "ben": cast.ben.account_id,
        "iris": cast.iris.account_id,
        "otto": cast.otto.account_id,
        "max": cast.max.id,
    }
    tabs = {name: _greedy(open_tab(account), cast, section) for name, account in accounts.items()}
    for tab in tabs.values():
        tab.shows(section.id, 2)
    claim(cast.ada.id, section.id)
    drain(term.id)
    tabs["ada"].hear(lambda tab: _named(tab, "own") and _named(tab, "recorded"))
    _greedy(tabs["ada"], cast, section)  # as the page's script does
    tabs["ada"].hear(lambda tab: "mine-item" in "".join(tab.frames))
    for name in ("iris", "max"):
        tabs[name].hear(
            lambda tab: any(s["name"] == "roster" and "seq" in s["detail"] for s in tab.signals)
        )
    tabs["max"].hear(lambda tab: _named(tab, "recorded"))
    for tab in tabs.values():
        tab.shows(section.id, 1)
    for name in ("ben", "iris", "otto", "max"):
        tab = tabs[name].listen(0.2)
        assert name == "max" or not (_named(tab, "own") or _named(tab, "recorded")), name
        assert "mine-item" not in "".join(tab.frames), name
    for name in ("ada", "ben", "otto"):
        assert not _named(tabs[name], "roster"), name


def _greedy(tab: Tab, cast: Cast, section: Any) -> Tab:
    """A page that asks for all that there is, and in Ada's name."""
    ids = {"student": cast.ada.id, "student_id": cast.ada.id, "account": cast.ada.account_id}
    topic = {"topic": ["student", section.term_id, cast.ada.id], "queue": section.id}
    named = [section.id]
    tab.ask(section.term_id, named, held=named, roster=section.id, **ids, **topic)
    return tab


def _named(tab: Tab, name: str) -> bool:
    return any(signal["name"] == name for signal in tab.signals)
