"""Which meetings of two sections clash, and how that is said."""

from typing import TYPE_CHECKING

from portal.seats import trees

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from portal.catalog.board import Card, MeetingView


def clash_in_words(card: "Card | None", held: "Card | None", name: str) -> str:
    """That a section meets at the same time as the one held, called `name`, and when."""
    pairs = list(_clashing(card, held)) if card and held else []
    mine, theirs = _times(one for one, _ in pairs), _times(other for _, other in pairs)
    when = f" ({trees.listed(theirs, 'and')})" if theirs else ""
    if mine == theirs:
        return f"It meets at the same time as your {name}{when}."
    meets = "meets" if len(mine) == 1 else "meet"
    return f"Its {trees.listed(mine, 'and')} {meets} at the same time as your {name}{when}."


def _clashing(card: "Card", held: "Card") -> "Iterator[tuple[MeetingView, MeetingView]]":
    return (
        (one, other) for one in card.meetings for other in held.meetings if _overlap(one, other)
    )


def _overlap(one: "MeetingView", other: "MeetingView") -> bool:
    if not (one.clashes and other.clashes and one.mask & other.mask):
        return False
    if one.start is None or one.end is None or other.start is None or other.end is None:
        return False
    if one.first and one.last and other.first and other.last:
        shared = max(one.first, other.first) <= min(one.last, other.last)
        return shared and one.start < other.end and other.start < one.end
    return one.start < other.end and other.start < one.end


def _times(meetings: "Iterable[MeetingView]") -> list[str]:
    return list(dict.fromkeys(f"{meeting.days} {meeting.times}" for meeting in meetings))
