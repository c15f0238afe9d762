"""On a narrow screen, zoomed in or with wider text nothing is lost, and all can be hit."""

from collections.abc import Iterator

from playwright.sync_api import Page

from e2e.contrast import DESKTOP, NARROW, PHONE, ZOOMED, space_text

# Text that is cut off, and boxes that are wider than the screen.
LOST = """() => {
    const page = document.documentElement;
    const words = (it) => it.textContent.trim().slice(0, 40);
    const named = (it) => `${it.tagName} ${it.id || it.className} “${words(it)}”`;
    // What is in a field can be scrolled there; the week beside the list repeats what its rows say.
    // What ends in an ellipsis in compact rows is in the section's details, and in larger rows.
    // A long name in the top bar is whole on the account's page, to which it leads.
    const compact = "[data-rows=compact] .section-row *";
    const apart = `.visually-hidden, svg, thead, input, .mini-week, .topbar-account *, ${compact}`;
    const shown = (it) => it.checkVisibility() && !it.closest(apart);
    const hides = (overflow) => ["hidden", "clip"].includes(overflow);
    const cuts = (it) => {
        const wide = it.scrollWidth > it.clientWidth + 1;
        const high = it.scrollHeight > it.clientHeight + 1;
        if (!(wide || high) || it.clientWidth <= 1) return false; // most, without their style
        const { overflowX, overflowY } = getComputedStyle(it);
        return (wide && hides(overflowX)) || (high && hides(overflowY));
    };
    const cut = [...document.body.querySelectorAll("*")].filter(cuts).filter(shown).map(named);
    const dialog = document.querySelector("dialog[open]");
    const wide = [page, dialog].filter((it) => it && it.scrollWidth > it.clientWidth).map(named);
    return [...wide.map((it) => `too wide: ${it}`), ...cut.map((it) => `cut off: ${it}`)];
}"""

# Buttons, fields and links smaller than some pixels. Links inside a sentence may be smaller.
SMALL = """([least, apart]) => {
    const pressable = "a[href], button, summary, select, textarea, input:not([type=hidden])";
    const words = (it) => it.textContent.trim();
    const inline = (it) => getComputedStyle(it).display === "inline";
    const sentence = (it) => inline(it) && words(it.parentElement) !== words(it);
    const shown = (it) => it.checkVisibility({ visibilityProperty: true });
    const area = (it) => (it.closest("label") ?? it).getBoundingClientRect();
    return [...document.querySelectorAll(pressable)]
        .filter((it) => shown(it) && !it.matches(`.skip-link, ${apart}`) && !sentence(it))
        .map((it) => [it, area(it)])
        .filter(([, { width, height }]) => width < least || height < least)
        .map(([it, { width, height }]) => `${width} by ${height}: ${it.outerHTML.slice(0, 90)}`);
}"""


# These may be lower than a finger needs: parts of rows, as many rows must fit (the time in a row
# opens the same page as its title); the strip below the banner, which never grows; links to a field
# of the same page. The buttons of tables are higher for a coarse pointer.
LOW = ".row-more, .row-plan, #gate *, .errors a, .table .btn"


def too_wide(page: Page) -> bool:
    """Whether the page, once it has loaded, has to be scrolled to the side."""
    page.wait_for_load_state()
    root = "document.documentElement"
    return bool(page.evaluate(f"{root}.scrollWidth > {root}.clientWidth"))


def lacks(page: Page, *, for_fingers: bool = False) -> list[str]:
    """Return the faults of size: parts cut off, and targets too small to press.

    Leaves the text wider than it was.
    """
    page.set_viewport_size(PHONE)
    found = [f"too small: {each}" for each in page.evaluate(SMALL, [24, "html"])]
    if for_fingers:
        found += [f"small for a finger: {each}" for each in page.evaluate(SMALL, [40, LOW])]
    for size in _sizes(page):
        found += [f"{size}: {each}" for each in page.evaluate(LOST)]
    return found


def _sizes(page: Page) -> Iterator[str]:
    for name, size in (("at 320 px", NARROW), ("at 200 %", ZOOMED)):
        page.set_viewport_size(size)
        yield name
    space_text(page)
    for name, size in (("with wider text on a phone", PHONE), ("with wider text", DESKTOP)):
        page.set_viewport_size(size)
        yield name
