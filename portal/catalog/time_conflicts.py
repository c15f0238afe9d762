"""Time conflicts of sections: which meetings clash, as in the ledger, and a sentence about them."""

from datetime import time, timedelta
from itertools import combinations
from typing import TYPE_CHECKING

from portal.catalog import formatting, requisites
from portal.core.i18n import _, _n

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from portal.catalog.term_catalog import MeetingView, SectionView


def clash(section: "SectionView", other: "SectionView") -> bool:
    """Return whether two sections meet at the same time on some day."""
    return any(_clashing(section, other))


MINUTES_OF_A_DAY = 24 * 60


def occupied(section: "SectionView") -> int:
    """Return the minutes of a week in which a section meets, as the bits of a number.

    Two sections without a common bit never clash. With one they may: their dates can differ.
    """
    found = 0
    for each in section.meetings:
        if each.clashes and each.start is not None and each.end is not None:
            minutes = (1 << max(0, each.end - each.start)) - 1 << each.start
            for day in range(7):
                if each.mask >> day & 1:
                    found |= minutes << day * MINUTES_OF_A_DAY
    return found


def first_overlap(section: "SectionView", other: "SectionView") -> str:
    """Return when two sections first meet at the same time in a week, such as `Mon 10:00 am`."""
    common = occupied(section) & occupied(other)
    if not common:
        return ""
    day, minute = divmod((common & -common).bit_length() - 1, MINUTES_OF_A_DAY)
    return f"{formatting.days(1 << day)} {formatting.clock(time(*divmod(minute, 60)))}"


def clash_in_words(section: "SectionView | None", held: "SectionView | None", name: str) -> str:
    """Describe the conflict of a section with the held one, called `name`, and its times."""
    pairs = list(_clashing(section, held)) if section and held else []
    if not pairs:
        return same_time_in_words(name)
    requested, meetings = zip(*pairs, strict=True)
    requested_times, held_times = _times(requested), _times(meetings)
    if requested_times == held_times:
        return same_time_in_words(name, meetings)
    return _n(
        "It meets %(mine)s, at the same time as your %(name)s (%(times)s).",
        "It meets %(mine)s, at the same time as your %(name)s (%(times)s).",
        len(requested_times),
        mine=requisites.all_of(requested_times),
        name=name,
        times=requisites.all_of(held_times),
    )


def same_time_in_words(name: str, meetings: "Iterable[MeetingView]" = ()) -> str:
    """Return that a section meets at the same time as what the student calls `name`."""
    if times := requisites.all_of(_times(meetings)):
        return _("It meets at the same time as your %(name)s (%(times)s).", name=name, times=times)
    return _("It meets at the same time as your %(name)s.", name=name)


def _clashing(
    section: "SectionView", held: "SectionView"
) -> "Iterator[tuple[MeetingView, MeetingView]]":
    return ((one, other) for one in section.meetings for other in held.meetings if meet(one, other))


def meet(one: "MeetingView", other: "MeetingView") -> bool:
    """Return whether two meetings are at the same time on some day."""
    if not (one.clashes and other.clashes):
        return False
    if one.start is None or one.end is None or other.start is None or other.end is None:
        return False
    return one.start < other.end and other.start < one.end and _share_a_day(one, other)


def _share_a_day(one: "MeetingView", other: "MeetingView") -> bool:
    """Return whether both meet on a weekday of the dates that they share; seven show them all."""
    first, last = max(one.first, other.first), min(one.last, other.last)
    shared = (first + timedelta(days) for days in range(min(7, (last - first).days + 1)))
    both = one.mask & other.mask
    return any(both >> day.weekday() & 1 for day in shared)


def _times(meetings: "Iterable[MeetingView]") -> list[str]:
    return list(dict.fromkeys(f"{meeting.days} {meeting.times}" for meeting in meetings))


def pairs(sections: "Iterable[SectionView]") -> "list[tuple[SectionView, SectionView]]":
    """Return each pair of these sections that meets at the same time."""
    return [(one, other) for one, other in combinations(sections, 2) if clash(one, other)]


def pair_in_words(one: "SectionView", other: "SectionView") -> str:
    """Describe the conflict of two sections, and the times of each."""
    first, then = (_times(meetings) for meetings in zip(*_clashing(one, other), strict=True))
    names = {
        "one": requisites.section_name(one.course_code, one.number),
        "other": requisites.section_name(other.course_code, other.number),
    }
    if first == then:
        times = requisites.all_of(first)
        return _("%(one)s and %(other)s meet at the same time (%(times)s).", times=times, **names)
    return _(
        "%(one)s (%(mine)s) and %(other)s (%(times)s) meet at the same time.",
        mine=requisites.all_of(first),
        times=requisites.all_of(then),
        **names,
    )
