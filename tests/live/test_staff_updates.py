"""What those who are no students are told on their open pages: each their own alone."""

from portal.catalog.models import Term
from portal.instructor_requests import service
from portal.live.publish import roster_changed, signal_account
from tests import cast as builders
from tests.cast import Cast
from tests.live.conftest import Open
from tests.live.tabs import Tab
from tests.live.test_ended_sessions import answers


def named(tab: Tab, name: str) -> bool:
    return any(signal["name"] == name for signal in tab.signals)


def opened(open_tab: Open, account: int, term: Term, section: int, **more: int) -> Tab:
    tab = open_tab(account)
    tab.ask(term.id, [section], **more)
    tab.shows(section, 2)
    return tab


def test_a_request_is_sent_to_admins_and_its_end_to_who_asked(
    cast: Cast, term: Term, open_tab: Open
) -> None:
    section = builders.a_section(builders.a_course(), term, instructor=cast.iris)
    iris, otto, admin, ada = (
        opened(open_tab, account or 0, term, section.id)
        for account in (
            cast.iris.account_id,
            cast.otto.account_id,
            cast.max.id,
            cast.ada.account_id,
        )
    )
    asked = service.request_seats(section.id, 9, "So many wait.", cast.iris.account_id or 0)
    admin.hear(lambda tab: named(tab, "notice"))
    assert not named(iris.listen(0.3), "notice")
    service.decline(asked, cast.max.id, "No room.")
    iris.hear(lambda tab: named(tab, "notice"))
    for tab in (otto, ada):
        assert not named(tab.listen(0.3), "notice")


def test_every_page_of_the_account_gets_it(cast: Cast, term: Term, open_tab: Open) -> None:
    section = builders.a_section(builders.a_course(), term, instructor=cast.iris)
    tabs = [opened(open_tab, cast.iris.account_id or 0, term, section.id) for _ in range(2)]
    signal_account(cast.iris.account_id or 0)
    for tab in tabs:
        tab.hear(lambda each: named(each, "notice"))


def test_a_page_of_a_term_that_is_hidden_gets_it_too(cast: Cast, open_tab: Open) -> None:
    page = open_tab(cast.iris.account_id)
    page.ask(builders.a_term("Draft", state="draft").id, [])
    assert answers(page)
    signal_account(cast.iris.account_id or 0)
    page.hear(lambda each: named(each, "notice"))


def test_a_roster_is_fetched_again_when_someone_wants_privacy(
    cast: Cast, term: Term, open_tab: Open
) -> None:
    section = builders.a_section(builders.a_course(), term, instructor=cast.iris)
    iris, otto = (
        opened(open_tab, each.account_id or 0, term, section.id, roster=section.id)
        for each in (cast.iris, cast.otto)
    )
    told = [iris.hear(lambda tab: named(tab, "roster"))]  # once, as it begins to listen
    roster_changed(term.id, section.id)
    iris.hear(lambda tab: len([s for s in tab.signals if s["name"] == "roster"]) > len(told))
    assert not named(otto.listen(0.3), "roster")
