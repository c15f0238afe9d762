"""Every page is for everyone: read aloud, in the dark, small, zoomed, with no motion, by touch."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import pytest
from playwright.sync_api import Browser, Page, StorageState

from e2e import axe, sizes
from e2e.accessibility_tree import nameless
from e2e.campus import Campus
from e2e.conftest import meeting
from e2e.contrast import DESKTOP, PHONE
from e2e.person import Person
from e2e.portal import Running
from e2e.tour import EXPECTED, STOPS, Stop
from tests.soak import SOAK

EACH = 16  # stops of one test
STUDENTS = ("ada", "cleo", "tessa")
PARTS = [STOPS[at : at + EACH] for at in range(0, len(STOPS), EACH)]

# What moves though its reader wants no motion.
MOVING = """() => [...document.querySelectorAll("*")]
    .flatMap((it) => [null, "::before", "::after"].map((part) => [it, part]))
    .concat([...document.querySelectorAll("dialog, [popover]")].map((it) => [it, "::backdrop"]))
    .filter(([it, part]) => {
        const { transitionDuration, animationName } = getComputedStyle(it, part);
        return animationName !== "none" || transitionDuration.split(", ").some((it) => it !== "0s");
    })
    .map(([it, part]) => `${it.outerHTML.slice(0, 80)} ${part ?? ""}`)"""

# The filled buttons that can be seen: a page has one main act, what opens over it another.
MAIN_ACTS = """() => {
    const sheet = innerWidth < 1024 ? ".filters-more[open]" : "dialog[open]";
    const place = document.querySelector(`dialog[open], ${sheet}`) ?? document;
    return [...place.querySelectorAll(".btn-primary, .plan-submit")]
        .filter((it) => it.checkVisibility({ visibilityProperty: true }))
        .map((it) => it.textContent.trim().replace(/\\s+/g, " "));
}"""

# Areas filled with the signal color though they are not a main act: it is a mark elsewhere.
FILLED = """() => {
    const signal = getComputedStyle(document.documentElement).getPropertyValue("--signal").trim();
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.backgroundColor = signal;
    const filled = getComputedStyle(probe).backgroundColor;
    probe.remove();
    const may = ".btn-primary, .plan-submit, .mini-week *, :focus";
    return [...document.querySelectorAll("body *")]
        .filter((it) => Math.min(it.offsetWidth, it.offsetHeight) > 24 && it.offsetTop >= 0)
        .filter((it) => getComputedStyle(it).backgroundColor === filled && !it.matches(may))
        .filter((it) => it.checkVisibility({ visibilityProperty: true }))
        .map((it) => it.outerHTML.slice(0, 80));
}"""

# The parts of the common frame that a page of a logged-in person lacks. Lists of sections begin
# with a banner; what opens over a page is a page of its own without scripts.
UNEVEN = """() => {
    const count = (selector) => document.querySelectorAll(selector).length;
    const frame = {
        "one heading": count("main h1") === 1,
        "navigation": count("nav[aria-label=Main]") === 1,
        "the heading in its head":
            count(":is(main .page-head h1, main h1.visually-hidden)") === 1,
        "at most one main button": count("main .btn-primary") <= 1,
        "a thick rule over each part": [...document.querySelectorAll("main h2")].every((it) =>
            it.closest(".panel, .request-list, .inbox, .errors, .note, .section-list, article")
                || it.matches(".visually-hidden")),
        "the drawing of an empty part": [...document.querySelectorAll("main .panel")].every((it) =>
            it.querySelector(":scope > :not(h2, h3, .panel-head, p.muted:not(:has(a)))")),
        "the drawing of an empty list": count("main :is(ul, ol, tbody):empty") === 0,
    };
    return Object.keys(frame).filter((name) => !frame[name]);
}"""

# All of these at once, as each question takes its time.
SEEN = f"() => [{MAIN_ACTS}, {FILLED}, {MOVING}, {UNEVEN}].map((look) => look())"


def barriers(page: Page, checked: set[str]) -> Iterator[str]:
    """Yield what axe finds on a desktop in light and on a phone in dark.

    Only `make soak` checks all rules on the desktop as well; else the contrast of colors alone.
    """
    rules = axe.ALL if SOAK else axe.CONTRAST
    light = axe.barriers(page, checked, rules=rules)
    yield from (f"on a desktop in light: {each}" for each in light)
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark")
    yield from (f"on a phone in dark: {each}" for each in axe.barriers(page, checked))
    page.emulate_media(color_scheme="light")


def wrong(person: Person, stop: Stop, checked: set[str]) -> Iterator[str]:
    """Return all that makes the page hard to use for someone; see axe.barriers."""
    page = person.page
    yield from nameless(person)
    acts, filled, moving, uneven = page.evaluate(SEEN)
    if len(acts) > 1:
        yield f"several main acts: {acts}"
    yield from (f"filled: {each}" for each in filled)
    yield from (f"moves: {each}" for each in moving)
    if stop.who and (not stop.press or stop.brings == ".errors"):
        yield from (f"lacks {each}" for each in uneven)
    yield from barriers(page, checked)
    # The last size is a desktop's.
    yield from sizes.lacks(page, for_fingers=stop.who in STUDENTS)
    yield from (f"complains: {each}" for each in person.complaints)
    person.complaints.clear()


@pytest.fixture(scope="module")
def checked() -> set[str]:
    """Looks of texts whose contrast was checked on an earlier page."""
    return set()


@pytest.fixture(scope="module")
def visitor(
    portal: Running, browser: Browser, session_of: Callable[..., StorageState]
) -> Iterator[Callable[[str], Person]]:
    """Brings someone on screen, who has one window for all stops."""
    with meeting(portal, browser, session_of) as meet:

        @cache
        def come(username: str) -> Person:
            person = meet(username, viewport=DESKTOP, color_scheme="light", reduced_motion="reduce")
            person.expected = EXPECTED
            axe.stay(person.page)
            return person

        yield come


@pytest.mark.parametrize("stops", PARTS, ids=range(len(PARTS)))
def test_no_one_is_kept_out_and_all_pages_have_the_same_frame(
    visitor: Callable[[str], Person], campus: Campus, checked: set[str], stops: Sequence[Stop]
) -> None:
    found = []
    for stop in stops:
        person = visitor(stop.who)
        name = stop.show(person, campus)
        found += [f"{name}: {each}" for each in wrong(person, stop, checked)]
    assert not found, "\n".join(found)
