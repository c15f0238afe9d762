"""Next steps for a refused student: links to forms, sections and lists."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote_plus, urlsplit
from zoneinfo import ZoneInfo

from portal.backend import backend
from portal.catalog import linked_courses, requisites
from portal.catalog.local_time import LocalClock
from portal.core.i18n import _

if TYPE_CHECKING:
    from portal.catalog.term_catalog import SectionView, TermCatalog

LEAVING = ("/drop", "/swap")
FORMS = ("/pick", "/leave", *LEAVING)


@dataclass(frozen=True)
class NextStep:
    """A link that a refused student can follow."""

    label: str
    url: str

    @property
    def opens_form(self) -> bool:
        """Return whether it leads to a form with a confirmation, which can open in a dialog."""
        return urlsplit(self.url).path.endswith(FORMS)

    @property
    def gives_up_a_seat(self) -> bool:
        """Return whether it leads to a form that drops a seat or swaps it."""
        return urlsplit(self.url).path.endswith(LEAVING)


@dataclass(frozen=True)
class RefusalContext:
    """The context of a refusal, which turns ids into names and links.

    `held` gives the credits (hundredths) of the student's seats, by section. `swap_out` is the seat
    that a swap would drop, `swap` a seat whose drop would remove the refusal. `waits` is set for a
    student on the waitlist.
    """

    catalog: "TermCatalog"
    section: "SectionView | None"
    zone: ZoneInfo = field(default_factory=lambda: backend().settings.zone)
    held: Mapping[int, int] = field(default_factory=dict)
    swap_out: int = 0
    swap: int = 0
    waits: bool = False
    device: ZoneInfo | None = None  # the zone of the student's device, if it is known
    shows: Callable[["SectionView"], bool] = lambda _: True  # whether the student sees a section
    can_swap: Callable[[int], bool] = lambda _: True  # whether a seat can be swapped for it

    @property
    def term_url(self) -> str:
        return f"/terms/{self.catalog.term.id}"

    @property
    def name(self) -> str:
        return self.named(self.section.id) if self.section else _("This section")

    def named(self, section: int) -> str:
        """Return a section's name by its id, such as CSC 1100-01."""
        if found := self.catalog.published(section):
            return section_name(found)
        return self.catalog.gone.get(section) or _("section %(number)s", number=section)

    def names(self, sections: Iterable[int]) -> str:
        """Return the names of sections that are taken together, such as CHE 1-01 + CHE 1L-02."""
        return " + ".join(self.named(section) for section in sections)

    def url(self, section: int, act: str) -> str:
        """Return the address of an action on a section."""
        return f"{self.term_url}/sections/{section}/{act}"

    def search(self, words: str) -> str:
        """Return the address of the section list, searched for words."""
        return f"{self.term_url}?q={quote_plus(words)}"

    def when(self, ms: int) -> str:
        """Return such as "9:00 am EDT on Thursday, September 3", and the device’s time."""
        clock = LocalClock(self.zone)
        if own := clock.elsewhere(ms, self.device):
            return _("%(when)s (%(time)s your time)", when=clock.spoken(ms), time=own)
        return clock.spoken(ms)

    def day_before(self, ms: int) -> str:
        """Return the last day before a moment: `Fri, Sep 12`."""
        return LocalClock(self.zone).weekday(ms - 1)


def section_name(section: "SectionView") -> str:
    """Return a section's name, such as CSC 1100-01."""
    return requisites.section_name(section.course_code, section.number)


def find_section(text: str, catalog: "TermCatalog") -> "SectionView | None":
    """Return the section of a CRN, or of a course and number such as CSC 1100-01."""
    wanted = requisites.key(text)
    fits = (
        section
        for section in catalog.sections
        if text == section.crn or wanted == requisites.key(section_name(section))
    )
    return next(fits, None)


def my_selections(context: RefusalContext) -> NextStep:
    """Return a link to the student's seats and waitlists."""
    return NextStep(_("See my classes"), f"{context.term_url}/mine")


def applications(context: RefusalContext) -> NextStep:
    """Return a link to what the student can apply for."""
    return NextStep(_("Applications"), f"{context.term_url}/applications")


def section_list(context: RefusalContext) -> NextStep:
    """Return a link to the list of sections."""
    return NextStep(_("Back to the sections"), context.term_url)


def find_course(code: str, context: RefusalContext) -> NextStep:
    """Return a link to the sections of a course."""
    course = requisites.shown(code)
    return NextStep(_("Find %(course)s", course=course), context.search(course))


def other_sections(context: RefusalContext, differing_in: str = "") -> NextStep:
    """Return a link to the course's other open sections, if one differs in the given rule."""
    section = context.section
    siblings = context.catalog.sections_of(section.course_id) if section else []
    found = [each for each in siblings if each.status == "OPEN" and each != section]
    if differing_in:
        rule = getattr(section, differing_in)
        found = [each for each in found if getattr(each, differing_in) != rule]
    if not section or not found:
        return section_list(context)
    course = requisites.shown(section.course_code)
    return NextStep(_("Other sections of %(course)s", course=course), context.search(course))


def drop_or_swap(section: int, context: RefusalContext) -> NextStep:
    """Return a link that swaps a seat for the refused section if that is enough, else drops it."""
    name = context.named(section)
    if section != context.swap or not context.section:
        return NextStep(_("Drop %(name)s", name=name), context.url(section, "drop"))
    label = _("Swap %(old)s for %(new)s", old=name, new=context.name)
    return NextStep(label, context.url(context.section.id, f"swap?swap_out={section}"))


def make_room(context: RefusalContext) -> NextStep:
    """Return a link for a student at a limit: swap the one seat that is enough, if any.

    Otherwise it leads to the student's classes, to drop what they choose.
    """
    if context.swap:
        return drop_or_swap(context.swap, context)
    return NextStep(_("Change my classes"), my_selections(context).url)


def join_waitlist(context: RefusalContext) -> NextStep | None:
    """Return a link to the waitlist; in a swap the old seat is kept until then."""
    if not context.section:
        return None
    act = f"swap?swap_out={context.swap_out}" if context.swap_out else "pick"
    return NextStep(_("Join waitlist"), context.url(context.section.id, act))


def pick_together(missing: list[int], context: RefusalContext) -> NextStep | None:
    """Return a link to register for the section and a linked course in one step.

    There is none if that is not enough, and none for a student on the section's waitlist, who can't
    register for it again.
    """
    section, catalog = context.section, context.catalog
    if not section or context.waits:
        return None
    if not linked_courses.can_be_met(section, missing, catalog, context.shows):
        return None
    linked = linked_courses.courses(section, catalog)
    course = next(each for each in missing if each in linked)
    return NextStep(_("Add both together"), context.url(section.id, f"pick?with={course}"))


def pick_alone(context: RefusalContext) -> NextStep | None:
    """Return a link to register for the section alone."""
    if not context.section:
        return None
    label = _("Add %(name)s", name=context.name)
    return NextStep(label, context.url(context.section.id, "pick"))


def drop_and_leave(held: list[int], context: RefusalContext) -> NextStep | None:
    """Return a link to drop the seats that need a section and leave its waitlist in one step."""
    if not context.section:
        return None
    names = requisites.all_of([context.named(each) for each in held])
    first, *more = held
    query = "&".join(f"along={each}" for each in (*more, context.section.id))
    label = _("Drop %(names)s and leave the waitlist", names=names)
    return NextStep(label, context.url(first, f"drop?{query}"))


def drop_both(section: int, context: RefusalContext) -> NextStep | None:
    """Return a link to drop a seat together with the one that needs it."""
    dropped = context.swap_out or (context.section.id if context.section else 0)
    names = requisites.all_of([context.named(dropped), context.named(section)])
    # In a swap, "both" could mean the two sections of the swap.
    label = _("Drop %(names)s", names=names) if context.swap_out else _("Drop both")
    return NextStep(label, context.url(dropped, f"drop?along={section}")) if dropped else None
