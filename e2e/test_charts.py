"""Charts of staff say what they show: their axis, its ends and its unit."""

from playwright.sync_api import Locator, expect

from e2e.campus import Campus
from e2e.person import Meet
from portal.catalog.models import Section, Term
from tests import cast as builders

LONGEST = """all => Math.max(...all.map(it => {
    const widths = [...it.querySelectorAll("rect")].map(each => +each.getAttribute("width"));
    const [whole, ...parts] = widths;
    return Math.max(...parts) / whole;
}))"""


def test_the_bars_of_a_report_share_an_axis_in_percent(meet: Meet, campus: Campus) -> None:
    boss = meet("max")
    boss.go(campus.find("/admin/terms/{ended}/windows/{past}/report"))
    boss.page.locator("#all-sections summary").click()
    expect(boss.page.locator("#all-sections svg.bar").first).to_be_visible()
    heads = boss.page.locator(".bar-head")
    expect(heads).to_contain_text(["Share with a seat", "Seats taken"])
    for head in heads.all():
        assert ends(head) == ["0%", "100%"]
    bars = boss.page.locator("svg.bar:has(.bar-more)")
    assert bars.count()
    assert bars.evaluate_all(LONGEST) <= 1


def test_the_bar_of_a_term_ends_at_its_seats_and_the_sum_under_it_moves_with_a_student(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    boss, ada = meet("max").listen("/admin/operations"), meet("ada").enter(term)
    shown = boss.page.locator(f".ops-term:has([data-term='{term.id}'])")
    assert ends(shown) == ["0", "Seats taken", "20 seats"]
    for press, sum_ in (
        (lambda: None, "0 taken + 20 free + 0 reserved = 20 seats"),
        (lambda: ada.pick(section), "1 taken + 19 free + 0 reserved = 20 seats"),
    ):
        press()
        expect(shown).to_contain_text(sum_)
    expect(shown.locator("svg.bar .bar-part")).to_have_attribute("width", "5.0")


def test_the_timeline_of_windows_names_its_dates_and_its_zone(meet: Meet, term: Term) -> None:
    builders.a_coming_window(term, minutes=300, lasts=60 * 24 * 10)
    boss = meet("max")
    boss.go("/admin")
    panel = boss.page.locator(f"section[aria-labelledby=term-{term.id}]")
    labels = panel.locator(".timeline text:not(.timeline-name)").all_text_contents()
    assert len(labels) > 2
    assert all(any(letter.isdigit() for letter in label) for label in labels[:3])
    expect(panel.locator(".timeline-name").last).to_have_text("Now")
    expect(panel).to_contain_text("All times in Eastern Time")


def ends(chart: Locator) -> list[str]:
    """What stands along the axis of a chart, from its beginning to its end."""
    return chart.locator(".bar-axis span").all_text_contents()
