"""The section list shows what matters, and its acts look like what they do."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from e2e.contrast import LAPTOP, PHONE
from e2e.courses import a_course, name_of
from e2e.person import Meet
from portal.catalog.models import Restriction, Section, Term
from tests import cast as builders

SMALL = ViewportSize(width=360, height=640)
COLOUR = "it => getComputedStyle(it).color"
GROUND = "it => getComputedStyle(it).backgroundColor"
HEIGHT = "document.querySelector('#banner')?.offsetHeight"
# The banner stands where it is without the terms that other stories have made.
AS_WITH_ONE_TERM = """() => {
    const stage = document.querySelector(".stage"), banner = document.querySelector("#banner");
    const edge = parseFloat(getComputedStyle(stage).paddingTop);
    scrollBy(0, banner.getBoundingClientRect().top - stage.getBoundingClientRect().top - edge);
}"""
ABOVE_THE_BAR = """() => {
    const bar = document.querySelector("#mine-bar");
    const end = bar?.checkVisibility() ? bar.getBoundingClientRect().top : innerHeight;
    const rows = [...document.querySelectorAll(".section-row")];
    return rows.filter((it) => it.getBoundingClientRect().bottom <= end).length;
}"""
RUNS_OVER = "it => it.scrollHeight > it.clientHeight || it.scrollWidth > it.clientWidth"
CLEAR = "rgba(0, 0, 0, 0)"
# What a row says of what bars or delays the student.
PARTS = ".row-caution, .row-when, .row-act, .row-act :not(.visually-hidden)"


def test_only_the_main_act_of_the_page_is_filled(
    meet: Meet, term: Term, section: Section, others: list[Section]
) -> None:
    builders.an_open_window(term, minutes=3 * 24 * 60)
    ada = meet("ada").enter(term)
    for each in (section, *others):
        assert ada.cell(each).get_by_role("link").evaluate(GROUND) == CLEAR
    banner = ada.page.locator("#banner")
    expect(banner).to_contain_text("Add your classes")
    assert banner.evaluate(GROUND) == CLEAR
    ada.go(f"/terms/{term.id}/sections/{section.id}/pick")
    button = ada.page.get_by_role("button", name="Add class")
    assert button.evaluate(GROUND) != CLEAR


def test_the_bar_shows_open_seats(meet: Meet, term: Term, last_seat: Section) -> None:
    builders.an_open_window(term)
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    bar = ada.seats(last_seat).locator("meter")
    expect(bar).to_have_attribute("value", "1")
    ben.pick(last_seat)
    expect(bar).to_have_attribute("value", "0")
    cleo = meet("cleo").enter(term)
    cleo.pick(last_seat)
    expect(ada.seats(last_seat)).to_contain_text("1 waiting, max 5")


def test_planning_takes_one_press_and_no_dialog(meet: Meet, term: Term, section: Section) -> None:
    builders.an_open_window(term)
    ada = meet("ada").enter(term)
    button = ada.row(section).locator(".row-plan")
    for planned in (True, False):
        button.focus()
        ada.page.keyboard.press("Enter")
        expect(button).to_contain_text("Planned" if planned else "Plan")
        expect(ada.page.locator("#plan .plan-line")).to_have_count(int(planned))
        expect(ada.page.locator("#dialog")).to_be_hidden()
        expect(button).to_be_focused()


def test_dropping_looks_unlike_swapping(meet: Meet, term: Term, section: Section) -> None:
    builders.an_open_window(term)
    ada = meet("ada").enter(term)
    ada.pick(section)
    ada.has(section, "selected")
    for place in (ada.mine, ada.cell(section)):
        swap, drop = (place.get_by_role("link", name=it) for it in ("Swap", "Drop"))
        assert swap.evaluate(COLOUR) != drop.evaluate(COLOUR)
    ada.cell(section).get_by_role("link", name="Swap").click()
    expect(ada.dialog).to_contain_text("for which section?")


def test_the_banner_is_large_only_when_minutes_count(meet: Meet, term: Term) -> None:
    builders.a_coming_window(term, minutes=120)
    ada = meet("ada")
    ada.go(f"/terms/{term.id}")
    ada.until(f"{HEIGHT} < 60")
    soon = builders.a_term(f"Soon {term.id}")
    builders.a_coming_window(soon, minutes=30)
    ada.go(f"/terms/{soon.id}")
    ada.until(f"{HEIGHT} > 100")


@pytest.mark.parametrize(("screen", "fewest"), [(LAPTOP, 12), (PHONE, 8)], ids=["laptop", "phone"])
def test_many_rows_fit_and_the_choice_of_their_size_is_kept(
    meet: Meet, term: Term, screen: Any, fewest: int
) -> None:
    for _ in range(12):
        builders.a_section(a_course("ROW"), term)
    builders.an_open_window(term, minutes=300)
    ada = meet("ada", viewport=screen)
    ada.go(f"/terms/{term.id}?q=ROW")
    compact = rows_in_sight(ada.page)
    assert compact >= fewest
    ada.page.get_by_role("button", name="Comfortable").click()
    expect(ada.page).to_have_url(re.compile("q=ROW"))
    expect(pressed(ada.page)).to_have_text("Comfortable")
    assert rows_in_sight(ada.page) * 2 <= compact + 1
    ada.page.reload()
    expect(pressed(ada.page)).to_have_text("Comfortable")
    ada.page.get_by_role("button", name="Compact").click()
    expect(pressed(ada.page)).to_have_text("Compact")
    assert rows_in_sight(ada.page) == compact


@pytest.mark.parametrize("screen", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_compact_rows_keep_their_height_and_grow_only_for_what_stands_in_the_way(
    meet: Meet, term: Term, last_seat: Section, screen: Any
) -> None:
    long = a_course("LNG", title="The Long History of a Very Long Name " * 3)
    builders.a_section(long, term)
    asks = builders.a_section(a_course("ASK"), term, consent=True)
    builders.an_open_window(term, minutes=300)
    ada, ben = (meet(name, viewport=screen).enter(term) for name in ("ada", "ben"))
    expect(ada.cell(asks)).to_contain_text("Request consent")
    before = heights(ada.page)
    higher = before.pop(f"section-{asks.id}")
    [height] = set(before.values())
    assert height < higher
    before |= {f"section-{asks.id}": higher}
    ben.pick(last_seat)
    expect(ada.cell(last_seat)).to_contain_text("Join waitlist")
    ada.pick(last_seat)
    assert heights(ada.page) == heights(ben.page) == before
    builders.set_deadlines(term, add_deadline=-2)
    expect(ada.page.locator("#deadlines")).to_contain_text("Last day to add")
    cleo = meet("cleo", viewport=screen).enter(term)
    expect(cleo.cell(last_seat)).to_contain_text("Too late to add")
    assert heights(cleo.page) == before


def test_the_counts_of_a_compact_row_stay_in_their_row_in_each_language(
    meet: Meet, term: Term, last_seat: Section
) -> None:
    builders.an_open_window(term, minutes=300)
    meet("ben").enter(term).pick(last_seat)
    ada = meet("ada", viewport=LAPTOP, locale="es-MX").enter(term)
    expect(ada.row(last_seat)).to_contain_text("Nadie en espera")
    assert not ada.row(last_seat).locator(".seats-note").evaluate(RUNS_OVER)


def test_a_compact_row_shows_both_times_of_a_class_whole(meet: Meet, term: Term) -> None:
    lecture = builders.Meets("MWF", "11:00", "11:50", kind="")
    twice = lecture, builders.Meets("R", "12:00", "13:50", kind="Lab")
    section = builders.a_section(a_course("LAB"), term, meetings=twice)
    builders.an_open_window(term, minutes=300)
    ada = meet("ada")
    when = ada.row(section).locator(".row-when")
    for screen in (LAPTOP, PHONE):
        ada.page.set_viewport_size(screen)
        ada.go(f"/terms/{term.id}")
        expect(when).to_contain_text("11:00–11:50 am")
        assert when.evaluate("it => it.scrollWidth <= it.clientWidth")


def test_many_compact_rows_are_on_the_first_screen(meet: Meet, term: Term) -> None:
    for _ in range(12):
        builders.a_section(a_course("TEN"), term)
    builders.an_open_window(term, minutes=300)
    username = f"ten{term.id}"
    builders.a_student(username)  # no note about a record takes up room
    student = meet(username)
    for screen, fewest in ((LAPTOP, 10), (PHONE, 6), (SMALL, 3)):
        student.page.evaluate("scrollTo(0, 0)")  # else a page may come back scrolled
        student.page.set_viewport_size(screen)
        student.go(f"/terms/{term.id}")
        student.page.evaluate(AS_WITH_ONE_TERM)
        assert rows_above_the_bar(student.page) >= fewest, screen


def rows_above_the_bar(page: Page) -> int:
    """How many rows the first screen shows above the bar at its foot, if it has one."""
    expect(page.locator(".section-row")).to_have_count(12)
    return int(page.evaluate(ABOVE_THE_BAR))


def test_a_compact_row_shows_title_code_credits_and_requirement_whole(
    meet: Meet, term: Term
) -> None:
    needs = {"prerequisites": {"course": "MAT-1010"}}
    plain = builders.a_section(a_course("PLN"), term)
    course = a_course("REQ", title="Quantitative Plant Biology")
    strict = builders.a_section(course, term, **needs)
    builders.an_open_window(term, minutes=300)
    ada = meet("ada")
    line = ada.row(plain).locator(".row-code")
    for screen in (LAPTOP, PHONE):
        ada.page.set_viewport_size(screen)
        ada.go(f"/terms/{term.id}")
        assert ada.row(strict).locator(".row-caution").inner_text() == (
            "Requires MAT 1010 (not on your record)."
        )
        for part in (".row-caution", ".row-code", ".row-more"):
            assert not ada.row(strict).locator(part).evaluate(RUNS_OVER)
        expect(line).to_contain_text(re.compile(rf"^{name_of(plain)} · \d+ credits"))
        assert not line.evaluate(RUNS_OVER)


def test_a_row_that_a_requirement_bars_looks_unlike_a_free_one(
    meet: Meet, term: Term, section: Section
) -> None:
    needs = {"prerequisites": {"course": "MAT-1010"}}
    strict = builders.a_section(a_course("REQ"), term, **needs)
    builders.an_open_window(term, minutes=300)
    ada = meet("ada").enter(term)
    free, barred = (ada.cell(each).get_by_role("link") for each in (section, strict))
    expect(free).to_have_text(re.compile("^Add"))
    expect(barred).to_contain_text("Can’t add yet See what to do")
    edges = [it.evaluate("it => getComputedStyle(it).borderTopStyle") for it in (free, barred)]
    assert edges == ["solid", "none"]  # a difference without colors
    barred.click()
    expect(ada.dialog).to_contain_text("Requires MAT 1010 (not on your record).")


@pytest.mark.parametrize(
    ("language", "cautions", "buttons"),
    [
        (
            "en-US",
            ("Requires MAT 1010", "Your record has no major"),
            ("With another class", "Can’t add yet Corequisite missing"),
        ),
        (
            "es-MX",
            ("Requiere MAT 1010", "En tu expediente no consta"),
            ("Con otra clase", "Aún no puedes Falta un correquisito"),
        ),
    ],
)
def test_a_compact_row_on_a_phone_says_whole_what_bars_or_delays(  # noqa: PLR0917
    meet: Meet,
    term: Term,
    last_seat: Section,
    language: str,
    cautions: tuple[str, str],
    buttons: tuple[str, str],
) -> None:
    days = (builders.Meets("MWF", "09:00", "10:50", kind=""),)
    needs = {"prerequisites": {"course": "MAT-1010"}}
    strict = builders.a_section(a_course("REQ"), term, meetings=days, **needs)
    course = a_course("MAJ")
    majors = builders.a_section(course, term, meetings=days)
    whose = {"section_id": majors.id, "rule": "must_be", "kind": "major", "value": "Biology"}
    builders.added(Restriction(**whose))
    asks = builders.a_section(course, term, consent=True)
    first, second = a_course("PAR"), a_course("PAR")
    pair, _ = (
        builders.a_section(one, term, corequisites={"course": other.code})
        for one, other in ((first, second), (second, first))
    )
    alone = builders.a_section(a_course("COR"), term, corequisites={"course": course.code})
    held = builders.a_section(a_course("HLD"), term, meetings=days)
    clash = builders.a_section(a_course("CLA"), term, meetings=days)
    builders.an_open_window(term, minutes=300)
    meet("ben").enter(term).pick(last_seat)
    meet("ada").enter(term).pick(held)
    ada = meet("ada", locale=language)
    rows = (strict, majors, asks, pair, alone, clash, last_seat, held)
    for screen in (PHONE, SMALL):
        ada.page.set_viewport_size(screen)
        ada.go(f"/terms/{term.id}")
        for each, words in zip((strict, majors), cautions, strict=True):
            expect(ada.row(each).locator(".row-caution")).to_contain_text(words)
        for each, words in zip((pair, alone), buttons, strict=True):
            expect(ada.cell(each)).to_contain_text(words)
        for each in rows:
            parts = ada.row(each).locator(PARTS)
            for part in parts.all():
                if part.is_visible():
                    assert not part.evaluate(RUNS_OVER), part.inner_text()


def test_what_a_compact_row_shortens_is_in_its_details(meet: Meet, term: Term) -> None:
    course = a_course("LNG", title="A Very Long Name of a Class " * 5)
    needs = {"prerequisites": {"course": "MAT-1010"}}
    days = builders.Meets("MWF", "09:00", "10:50"), builders.Meets("TR", "12:00", "13:20")
    section = builders.a_section(
        course, term, meetings=(*days, builders.Meets("S", "08:00", "08:50")), **needs
    )
    builders.an_open_window(term, minutes=300)
    ada = meet("ada", viewport=LAPTOP).enter(term)
    ada.row(section).locator(".row-more").click()
    for text in (course.title.strip(), "Sat 8:00–8:50 am", "Requires MAT 1010"):
        expect(ada.dialog).to_contain_text(text)


def test_without_javascript_the_size_of_rows_can_be_chosen_too(
    meet: Meet, term: Term, section: Section
) -> None:
    ada = meet("ada", java_script_enabled=False)
    ada.go(f"/terms/{term.id}")
    expect(ada.row(section)).to_be_visible()
    ada.page.get_by_role("button", name="Comfortable").click()
    expect(pressed(ada.page)).to_have_text("Comfortable")


def pressed(page: Page) -> Locator:
    return page.locator('.row-size [aria-pressed="true"]')


def heights(page: Page) -> dict[str, float]:
    """The height of each row, in pixels."""
    rows = page.locator(".section-row").all()
    return {
        str(row.get_attribute("id")): box["height"] for row in rows if (box := row.bounding_box())
    }


def rows_in_sight(page: Page) -> int:
    """How many rows fit on the screen below the search, which is at its top."""
    size = page.viewport_size
    assert size
    rows = page.locator(".section-row")
    expect(rows).to_have_count(12)
    top = page.locator("#filters").bounding_box()
    boxes = [box for row in rows.all() if (box := row.bounding_box())]
    assert top
    end = top["y"] + size["height"]
    return sum(1 for box in boxes if box["y"] + box["height"] <= end)
