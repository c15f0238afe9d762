"""What an admin reads stands still and in line, however the figures move."""

from playwright.sync_api import Page

from e2e.contrast import DESKTOP, PHONE, places
from e2e.person import Meet
from portal.catalog.models import Term
from tests import cast as builders

# Every number of a term as long as it may get and every worker busy, before the next update.
BUSIER = """(term) => {
    for (const other of document.querySelectorAll(`.ops-term:not(:has([data-term="${term}"]))`))
        other.remove();
    const heights = () => [...document.querySelectorAll(".ops tr, .ops dl, .ops-seats")]
        .map((it) => it.getBoundingClientRect().height);
    const before = heights();
    for (const worker of document.querySelectorAll(".ops-worker"))
        worker.innerHTML = '<span>silent</span>, <span class="muted small">'
            + 'last seen 58 s ago · registration-7.example.edu:294967</span>';
    for (const number of document.querySelectorAll(".ops td.num, .ops [data-figure]"))
        number.prepend("98,70");
    for (const badge of document.querySelectorAll(".ops-watched .badge"))
        badge.textContent = "Closes in 59 minutes";
    return [before, heights()];
}"""


def test_no_row_of_operations_is_higher_while_there_is_much_to_do(meet: Meet, term: Term) -> None:
    builders.an_open_window(term)
    boss = meet("max")
    for screen in (DESKTOP, PHONE):
        boss.page.set_viewport_size(screen)
        boss.go("/admin/operations")
        calm, busy = boss.page.evaluate(BUSIER, term.id)
        assert len(calm) > 6
        assert busy == calm


def test_labels_fields_and_button_of_the_audit_search_are_in_line(meet: Meet, term: Term) -> None:
    assert term
    boss = meet("max", viewport=DESKTOP)
    boss.go("/admin/audit")
    page = boss.page
    assert (
        len(heights(page, "#who", "#action", "#about", "#first", "#last", ".filters-submit")) == 1
    )
    assert len(heights(page, *(f"label[for={name}]" for name in FIELDS))) == 1
    page.set_viewport_size(PHONE)
    page.get_by_role("button", name="Filters").click()
    assert len(heights(page, "#first", "#last")) == 1


FIELDS = ("who", "action", "about", "first", "last")


def heights(page: Page, *selectors: str) -> set[tuple[float, float]]:
    """Where they begin, and how high they are."""
    return {(top, high) for _, top, _, high in places(page, *selectors)}
