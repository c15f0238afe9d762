"""What the list says of a section to everyone alike, drawn once for each version of the catalog."""

from collections import Counter
from typing import Any, NamedTuple

from babel import Locale
from cachetools import LRUCache, cached
from markupsafe import Markup

from portal.catalog import requisites
from portal.catalog.formatting import credit_words
from portal.catalog.section_fields import FIELDS
from portal.catalog.term_catalog import MeetingView, SectionView, TermCatalog
from portal.core.i18n import current_locale
from portal.registration.restrictions import audience
from portal.student.drawing import drawn
from portal.student.scene import titled

KEPT = 10_000  # sections, each some KB

WORDS = {
    "credit_words": credit_words,
    "audience": audience,
    "tree_in_words": lambda tree: requisites.describe(
        requisites.missing(tree, lambda _: False) or {"all": []}
    ),
}


class Alike(NamedTuple):
    """The parts of a line that do not depend on who reads it, but on the language."""

    when: Markup
    named: Markup
    details: Markup


def alike(catalog: TermCatalog, card: SectionView) -> Alike:
    """Those of a section."""
    return _alike(catalog, card, current_locale())


def classes(card: SectionView) -> tuple[MeetingView, ...]:
    """The meetings but for common exam blocks and those to be arranged, each time once."""
    known = (each for each in card.meetings if each.clashes and (each.mask or each.end is not None))
    return tuple({(each.mask, each.start, each.end): each for each in known}.values())


def _key(catalog: TermCatalog, card: SectionView, language: Locale) -> tuple[Any, ...]:
    return catalog.term.id, catalog.version, card.id, str(language)


@cached(LRUCache(maxsize=KEPT), key=_key)
def _alike(catalog: TermCatalog, card: SectionView, _language: Locale) -> Alike:
    usual = _usual(catalog)
    facts: dict[str, Any] = {
        "card": card,
        "title": titled(catalog, card),
        "meetings": classes(card),
        "elsewhere": [each for each in card.picker_facts if each not in usual],
        "sharing": catalog.sharing(card),
        **WORDS,
    }
    return Alike(*(drawn(f"student/alike/{part}.html", **facts) for part in Alike._fields))


@cached(LRUCache(maxsize=16), key=lambda catalog: (catalog.term.id, catalog.version))
def _usual(catalog: TermCatalog) -> set[str]:
    """Return what most sections say of where and how they are taught, which goes without saying."""
    names = [each.name for each in FIELDS.values() if each.picker]
    ways = [Counter(getattr(card, name) for card in catalog.sections) for name in names]
    return {"", *(way.most_common(1)[0][0] for way in ways if way)}
