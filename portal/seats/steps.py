"""What a refused student can do next: links to forms, sections and lists."""

from portal.catalog import requisites
from portal.core.i18n import _
from portal.seats import linked
from portal.seats.case import Case, Step


def mine(case: Case) -> Step:
    """All that the student holds and waits for."""
    return Step(_("See my selections"), f"{case.term_url}/mine")


def back(case: Case) -> Step:
    """The list of sections."""
    return Step(_("Back to the sections"), case.term_url)


def find(code: str, case: Case) -> Step:
    """The sections of a course."""
    course = requisites.shown(code)
    return Step(_("Find %(course)s", course=course), case.search(course))


def others(case: Case, but: str = "") -> Step:
    """The other sections of the course, where there are some that differ in the rule `but`."""
    siblings = case.catalog.sections_of(case.card.course_id) if case.card else []
    open_ = [each for each in siblings if each.status == "OPEN" and each != case.card]
    if case.card and any(
        not but or getattr(each, but) != getattr(case.card, but) for each in open_
    ):
        course = requisites.shown(case.card.course_code)
        return Step(_("Other sections of %(course)s", course=course), case.search(course))
    return back(case)


def clear(section: int, case: Case) -> Step:
    """To give a seat up: for this section if that is all it takes, else for nothing."""
    name = case.named(section)
    if section != case.swap or not case.card:
        return Step(_("Cancel %(name)s", name=name), case.url(section, "drop"))
    label = _("Swap: give up %(old)s for %(new)s", old=name, new=case.name)
    return Step(label, case.url(case.card.id, f"swap?instead={section}"))


def make_room(case: Case) -> Step:
    """To have fewer credits."""
    return clear(case.swap, case) if case.swap else Step(_("Make room"), mine(case).url)


def wait(case: Case) -> Step | None:
    """A place on the waitlist, the seat that was to be given up being kept until then."""
    if not case.card:
        return None
    act = f"swap?instead={case.instead}" if case.instead else "pick"
    return Step(_("Join the waitlist"), case.url(case.card.id, act))


def together(missing: list[int], case: Case) -> Step | None:
    """The section and one of a course that it is linked with, in one step."""
    partners = linked.courses(case.card, case.catalog) if case.card else []
    course = next((each for each in missing if each in partners), None)
    if course is None or not case.card:
        return None
    return Step(_("Pick both together"), case.url(case.card.id, f"pick?with={course}"))


def alone(case: Case) -> Step | None:
    """The section by itself."""
    if not case.card:
        return None
    return Step(_("Pick %(name)s", name=case.name), case.url(case.card.id, "pick"))


def leave_with(held: list[int], case: Case) -> Step | None:
    """To give up the seats that need a section, and leave its waitlist, in one step."""
    if not case.card:
        return None
    names = requisites.all_of([case.named(each) for each in held])
    first, *more = held
    query = "&".join(f"along={each}" for each in (*more, case.card.id))
    label = _("Cancel %(names)s and leave the waitlist", names=names)
    return Step(label, case.url(first, f"drop?{query}"))


def cancel_both(section: int, case: Case) -> Step | None:
    """To give a seat up along with the one that needs it."""
    given_up = case.instead or (case.card.id if case.card else 0)
    url = case.url(given_up, f"drop?along={section}")
    names = requisites.all_of([case.named(given_up), case.named(section)])
    # In a swap "both" could be read as the two that were to be swapped.
    label = _("Cancel %(names)s", names=names) if case.instead else _("Cancel both")
    return Step(label, url) if given_up else None
