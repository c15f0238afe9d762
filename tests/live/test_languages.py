"""A live page hears in its own language, whoever else shows the same section."""

from portal.catalog.models import Section, Term
from portal.core.i18n import LANGUAGES
from tests.cast import Cast
from tests.live.conftest import Claim, Open
from tests.live.tabs import Tab

OPEN = {"en": "of 2</span> open", "es": "de 2</span> libre"}


def only(tab: Tab, language: str) -> bool:
    """Return whether counts have come in that language, and in no other."""
    heard = "".join(tab.frames)
    return {code for code in LANGUAGES if OPEN[code] in heard} == {language}


def test_each_page_is_sent_counts_in_its_own_language(
    cast: Cast, term: Term, section: Section, open_tab: Open, claim: Claim
) -> None:
    spanish = {"Accept-Language": "es"}
    tabs = {
        "en": open_tab(cast.ada.account_id),
        "es": open_tab(cast.ben.account_id, **spanish),
    }
    for tab in tabs.values():
        tab.ask(term.id, [section.id])
        tab.shows(section.id, 2)
    claim(cast.cleo.id, section.id)
    for language, tab in tabs.items():
        tab.shows(section.id, 1)
        assert only(tab, language), tab.frames


def test_own_updates_come_in_the_readers_language(
    cast: Cast, term: Term, section: Section, open_tab: Open, claim: Claim
) -> None:
    tabs = {"en": open_tab(cast.ada.account_id)}
    tabs["es"] = open_tab(cast.ada.account_id, **{"Accept-Language": "es"})
    claim(cast.ada.id, section.id)
    for tab in tabs.values():
        tab.ask(term.id, [section.id], held=[section.id])
    tabs["en"].hear(lambda tab: "My classes" in "".join(tab.frames))
    tabs["es"].hear(lambda tab: "Mis clases" in "".join(tab.frames))
    assert "My classes" not in "".join(tabs["es"].frames)
