"""Ada looks at her week: on a screen, on a phone, on paper and far away."""

import re

import pytest
from playwright.sync_api import Locator, expect

from e2e import axe
from e2e.contrast import DESKTOP, NARROW
from e2e.courses import a_course
from e2e.person import Meet, Person
from e2e.sizes import too_wide
from portal.catalog.models import Course, Section, Term
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.soak import in_soak

SHEET = {"width": 718, "height": 1040}  # what A4 leaves between margins of a centimetre
TWICE_A_WEEK = (Meets("MR", "10:00", "11:50", room="Alder Hall 101"),)


@pytest.fixture
def section(course: Course, term: Term, cast: Cast) -> Section:
    return builders.a_section(
        course, term, capacity=20, meetings=TWICE_A_WEEK, instructor=cast.iris
    )


def look(person: Person, term: Term) -> Person:
    """The page of the schedule, with its socket open."""
    return person.listen(f"/terms/{term.id}/schedule")


def day(person: Person, name: str) -> Locator:
    """A column of the week."""
    return person.page.get_by_role("group", name=name, exact=True)


def block(person: Person, name: str) -> Locator:
    """The first block of a day."""
    return day(person, name).get_by_role("listitem").first


def test_what_ada_picks_on_one_page_is_in_her_week_on_another(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    picker, schedule = meet("ada").enter(term), look(meet("ada"), term)
    expect(schedule.page.locator("#schedule")).to_contain_text("No classes yet")
    picker.pick(section)
    expect(block(schedule, "Monday")).to_contain_text("Alder Hall 101")
    expect(block(schedule, "Thursday")).to_contain_text("10:00–11:50 am")
    picker.ask(section)
    picker.confirm()
    expect(schedule.page.locator("#schedule")).to_contain_text("No classes yet")


def test_a_seat_that_comes_to_who_waits_moves_into_the_week_by_itself(
    meet: Meet, term: Term, course: Course
) -> None:
    last_seat = builders.a_section(course, term, capacity=1, meetings=TWICE_A_WEEK)
    builders.an_open_window(term)
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    ada.pick(last_seat)
    ben.pick(last_seat)
    look(ben, term)
    waiting = ben.page.get_by_role("region", name="On the waitlist")
    expect(waiting).to_contain_text("position 1 of 1")
    expect(ben.page.locator(".week")).to_have_count(0)
    ada.ask(last_seat)
    ada.confirm()
    expect(block(ben, "Monday")).to_contain_text("Alder Hall 101")
    expect(waiting).to_have_count(0)


def test_the_week_is_a_grid_on_a_screen_and_a_list_by_day_on_a_phone(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada = meet("ada").enter(term)
    ada.pick(section)
    look(ada, term)
    monday, thursday = (block(ada, name).bounding_box() for name in ("Monday", "Thursday"))
    assert monday
    assert thursday
    assert monday["y"] == thursday["y"]
    assert monday["x"] < thursday["x"]
    ada.page.set_viewport_size(NARROW)
    assert not too_wide(ada.page)
    monday, thursday = (block(ada, name).bounding_box() for name in ("Monday", "Thursday"))
    assert monday
    assert thursday
    assert monday["x"] == thursday["x"]
    assert monday["y"] < thursday["y"]


def test_a_block_is_as_long_as_its_meeting(meet: Meet, term: Term, course: Course) -> None:
    meets = (
        Meets("M", "09:00", "09:50"),
        Meets("T", "09:30", "11:10"),
        Meets("W", "09:00", "11:10"),
    )
    section = builders.a_section(course, term, meetings=meets)
    builders.an_open_window(term)
    ada = meet("ada").enter(term)
    ada.pick(section)
    look(ada, term)
    boxes = [block(ada, name).bounding_box() for name in ("Monday", "Tuesday", "Wednesday")]
    (one, two, three) = [(box["y"], box["y"] + box["height"]) for box in boxes if box]
    assert one[0] == three[0] < two[0] < one[1] < two[1] == three[1]


def test_a_screen_reader_reads_day_time_and_name(meet: Meet, term: Term, section: Section) -> None:
    builders.an_open_window(term)
    ada = meet("ada").enter(term)
    ada.pick(section)
    look(ada, term)
    code = f"{section.number}"
    expect(day(ada, "Monday")).to_match_aria_snapshot(f"""
      - heading "Monday" [level=3]
      - list:
        - listitem:
          - paragraph: 10:00–11:50 am
          - paragraph: /CSC \\d+-{code} Course/
          - paragraph: Alder Hall 101
    """)
    expect(day(ada, "Tuesday")).to_contain_text("No classes")
    for size in (DESKTOP, NARROW):
        ada.page.set_viewport_size(size)
        assert not axe.barriers(ada.page), size


def test_it_prints_on_one_sheet_with_name_and_term(meet: Meet, term: Term) -> None:
    full = [
        builders.a_section(a_course(subject), term, meetings=(meets,))
        for subject, meets in (
            ("AAA", Meets("MWF", "08:00", "08:50", room="Alder Hall 101")),
            ("BBB", Meets("MWF", "09:00", "09:50", room="Alder Hall 102")),
            ("CCC", Meets("TR", "11:00", "12:20", room="Alder Hall 103")),
            ("DDD", Meets("TR", "14:00", "15:20", room="Alder Hall 104")),
            ("EEE", Meets("W", "18:00", "21:50", room="Alder Hall 105")),
        )
    ]
    builders.an_open_window(term)
    ada = meet("ada", viewport=SHEET).enter(term)
    for section in full:
        ada.pick(section)
    look(ada, term)
    expect(block(ada, "Monday")).to_be_visible()
    margins = dict.fromkeys(("top", "right", "bottom", "left"), "10mm")
    for paper in ("A4", "Letter"):
        printed = ada.page.pdf(format=paper, margin=margins)
        assert re.search(rb"/Count (\d+)", printed)[1] == b"1", paper
    ada.page.emulate_media(media="print")
    expect(ada.page.get_by_text("Ada, as of")).to_be_visible()
    expect(ada.page.locator(".topbar")).to_be_hidden()
    expect(ada.page.get_by_role("link", name="Add to my calendar")).to_be_hidden()
    monday, friday = (block(ada, name).bounding_box() for name in ("Monday", "Friday"))
    assert monday
    assert friday
    assert monday["y"] == friday["y"]


@pytest.mark.parametrize(
    ("zone", "note", "varies"),
    [
        (
            "Europe/Berlin",
            "Central European Time, where clocks are 6 hours ahead of these times.",
            True,
        ),
        ("America/Toronto", "", False),
        *in_soak(
            (
                "America/Los_Angeles",
                "Pacific Time, where clocks are 3 hours behind these times.",
                False,
            ),
            ("Asia/Kolkata", "India Time, where clocks are 9.5 hours ahead", True),
        ),
    ],
)
def test_a_device_in_another_zone_reads_by_how_much_it_differs(
    meet: Meet, term: Term, zone: str, note: str, *, varies: bool
) -> None:
    """On the first visit already, when the portal does not know the zone yet."""
    ada = look(meet("ada", timezone_id=zone), term)
    expect(ada.page.get_by_text("Times are in Eastern Time")).to_be_visible()
    told = ada.page.locator("#zone")
    if note:
        expect(told).to_contain_text(note)
        assert ("The difference changes during the term" in told.inner_text()) is varies
    else:
        expect(told).to_be_hidden()


def test_without_scripts_all_of_it_is_there(meet: Meet, term: Term, section: Section) -> None:
    builders.an_open_window(term)
    ada = meet("ada", java_script_enabled=False)
    ada.go(f"/terms/{term.id}")
    ada.cell(section).get_by_role("link").first.click()
    ada.page.locator("form button[type=submit]", has_text="Add").click()
    ada.go(f"/terms/{term.id}/schedule")
    expect(block(ada, "Monday")).to_contain_text("Alder Hall 101")
    expect(ada.page.get_by_role("button", name="Print")).to_be_hidden()
    expect(ada.page.get_by_role("link", name="Add to my calendar")).to_be_visible()
