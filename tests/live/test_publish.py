"""What a student is told apart from seats reaches their pages of that term, and no others."""

import pytest

from portal.backend import Backend
from portal.catalog.models import Section
from portal.live.page import REFUSED
from portal.live.publish import sessions_ended, signal_student
from tests import cast as builders
from tests.cast import Cast
from tests.live.conftest import Open
from tests.live.tabs import Tab


def opened(open_tab: Open, account: int | None, section: Section) -> Tab:
    """A page that has heard how things stand."""
    tab = open_tab(account)
    tab.ask(section.term_id, [section.id])
    tab.shows(section.id, 2)
    return tab


def heard(tab: Tab, name: str) -> list[dict[str, object]]:
    return [signal for signal in tab.signals if signal["name"] == name]


@pytest.mark.parametrize("name", ["plan", "notice"])
def test_a_word_to_a_student_reaches_all_their_pages_of_the_term(
    cast: Cast, section: Section, open_tab: Open, name: str
) -> None:
    tabs = [opened(open_tab, cast.ada.account_id, section) for _ in range(2)]
    signal_student(section.term_id, cast.ada.id, name, {"kind": "promoted"})  # type: ignore[arg-type]
    for tab in tabs:
        [signal] = tab.hear(lambda tab: heard(tab, name))
        assert signal["detail"] == {"kind": "promoted"}


def test_a_word_to_a_student_reaches_no_one_else_and_no_other_term(
    cast: Cast, section: Section, open_tab: Open
) -> None:
    later = builders.a_section(builders.a_course("MAT-1000"), builders.a_term("Spring 2031"))
    others = [
        opened(open_tab, cast.ben.account_id, section),
        opened(open_tab, cast.iris.account_id, section),
        opened(open_tab, cast.ada.account_id, later),
    ]
    hers = opened(open_tab, cast.ada.account_id, section)
    signal_student(section.term_id, cast.ada.id, "plan")
    hers.hear(lambda tab: heard(tab, "plan"))
    for tab in others:
        assert not heard(tab.listen(0.2), "plan")


def test_after_silence_each_page_is_asked_once_to_look(
    cast: Cast, backend: Backend, section: Section, open_tab: Open
) -> None:
    tab = opened(open_tab, cast.ada.account_id, section).listen(0.3)
    tab.frames.clear()
    backend.redis.client_kill_filter(_type="pubsub")
    looked = ("own", "plan", "notice")
    tab.hear(lambda tab: all(heard(tab, name) for name in looked))
    tab.listen(0.3)
    assert [len(heard(tab, name)) for name in looked] == [1, 1, 1]


def test_who_logs_out_is_asked_to_connect_again_on_every_page(
    cast: Cast, section: Section, open_tab: Open
) -> None:
    hers = [opened(open_tab, cast.ada.account_id, section) for _ in range(2)]
    his = opened(open_tab, cast.ben.account_id, section)
    assert cast.ada.account_id
    sessions_ended(cast.ada.account_id)
    assert [tab.closed() for tab in hers] == [REFUSED, REFUSED]
    signal_student(section.term_id, cast.ben.id, "plan")
    his.hear(lambda tab: heard(tab, "plan"))
