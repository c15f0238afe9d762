"""What a student wishes for, and how the ledger is told of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from portal.catalog import requisites
from portal.ledger.types import Claim, ClaimGroup, LedgerChoice, Reason
from portal.seats import linked, rules

if TYPE_CHECKING:
    from portal.catalog.term_catalog import TermCatalog
    from portal.people.student_profile import StudentProfile


@dataclass(frozen=True)
class Wanted:
    """One section; `credits` matter for ranges alone, None is the least of them."""

    section: int
    credits: Decimal | None = None


@dataclass(frozen=True)
class Wish:
    """Options by rank, the first that can be had is taken; each is had whole or not at all.

    With `wait` a place in line will do where no option has seats; `instead` is a held section
    that is given up for what is had, and not before.
    """

    options: Sequence[Sequence[Wanted]]
    wait: bool = False
    instead: int | None = None


def in_order(wishes: Sequence[Wish], offered: "TermCatalog") -> list[int]:
    """The numbers of the wishes, corequisites before what needs them, else as they came."""
    gives = [_courses(wish, offered) for wish in wishes]
    needs = [_needed(wish, offered) for wish in wishes]
    left, order = list(range(len(wishes))), []
    while left:
        others = {each: set().union(*(gives[one] for one in left if one != each)) for each in left}
        ready = (each for each in left if needs[each].isdisjoint(others[each]))
        order.append(next(ready, left[0]))
        left.remove(order[-1])
    return order


def content(wishes: Sequence[Wish]) -> list[Any]:
    """What was asked for, as the content of an idempotency key: nothing that the catalog adds."""
    return [
        [
            [[_asked(each) for each in option] for option in wish.options],
            wish.wait,
            wish.instead or 0,
        ]
        for wish in wishes
    ]


def line(wish: Wish, who: "StudentProfile", offered: "TermCatalog") -> LedgerChoice:
    """The wish with all that the ledger must be told."""
    options = (_option(each, who, offered) for each in wish.options)
    return LedgerChoice(tuple(options), wish.wait, wish.instead)


def part(wanted: Wanted, who: "StudentProfile", offered: "TermCatalog") -> Claim:
    """One section with all that the ledger must be told."""
    card = offered.section(wanted.section)
    if card is None:
        return Claim(wanted.section, credits=0, rules=(Reason("section_unknown"),))
    beyond = rules.unoffered(who, card, offered)
    return Claim(
        section=card.id,
        credits=hundredths(card.credits_min if wanted.credits is None else wanted.credits),
        corequisites=None if beyond else rules.corequisites(who, card, offered),
        rules=(*rules.refusals(who, card), *beyond),
        waived=rules.waived(who, card),
        reserves=rules.reserves(who, card),
    )


def hundredths(credits: Decimal) -> int:  # noqa: A002  the field's word
    """Credits as the ledger counts them."""
    return round(credits * 100)


def _option(option: Sequence[Wanted], who: "StudentProfile", offered: "TermCatalog") -> ClaimGroup:
    """Its parts; one that is no partner of any other is refused."""
    cards = offered.some([each.section for each in option])
    strangers = {card.id for card in linked.strangers(cards)}
    parts = (part(each, who, offered) for each in option)
    alone = (Reason("not_partner"),)
    return tuple(
        replace(each, rules=(*each.rules, *alone)) if each.section in strangers else each
        for each in parts
    )


def _asked(wanted: Wanted) -> list[int]:
    return [wanted.section, 0 if wanted.credits is None else hundredths(wanted.credits)]


def _courses(wish: Wish, offered: "TermCatalog") -> set[str]:
    return {requisites.key(card.course_code) for card in offered.some(_sections(wish))}


def _needed(wish: Wish, offered: "TermCatalog") -> set[str]:
    cards = offered.some(_sections(wish))
    return {requisites.key(code) for card in cards for code in requisites.codes(card.corequisites)}


def _sections(wish: Wish) -> list[int]:
    return [wanted.section for option in wish.options for wanted in option]
