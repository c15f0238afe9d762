"""A semester with other spellings of everything becomes what it means."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from portal.backend import Backend
from portal.catalog import requisites
from portal.catalog.search import Query
from portal.catalog.term_catalog import SectionView, TermCatalog, catalog_of
from portal.windows.warmup import warm_up
from tests.exchange.campus import Campus, Made, imported, kinds

DATES = {"date_start": "Jan 06, 2021", "date_end": "Apr 30, 2021"}
COURSES = [
    {"course_id": "CSC 225", "dept_code": "CSC", "title": "Algorithms", "credits": "1.5"},
    {"course_id": "csc226", "dept_code": "CSC", "title": "Graphs", "credits": "1.5 | 3.0"},
    {"course_id": "MATH_122", "dept_code": "MATH", "title": "Logic", "credits": "1.00 TO 3.00"},
]
DEPARTMENTS = [
    {"dept_code": "CSC", "dept_name": "Computer Science", "school": "Engineering"},
    {"dept_code": "MATH", "dept_name": "Mathematics", "school": "Science"},
]
LECTURES = {
    "meeting_type": "Lecture",
    "frequency": "Every Week",
    "days": "TWF",
    "start_time": "2:30 pm",
    "end_time": "3:20 pm",
    "location": "Elliott Building 167",
    "instructors": "Thomo/ Berg",
}
WEEKEND = {"days": "S U", "start_time": "0900", "end_time": "1220", "location": "TBA"}
HALF = {
    "days": "Mon Thu",
    "start_time": "14:30",
    "end_time": "15:50",
    "date_start": "01/06/2021",
    "date_end": "27 February 2021",
}
NOTHING = {"days": "TBA", "start_time": "TBA", "end_time": "TBA", "instructors": "TBD"}
OTHERS = [
    ("20552", WEEKEND, {"course_id": "csc 226", "term": "SPRING 2021", "credits": "1.5"}),
    ("20553", HALF, {"course_id": "Math-122", "credits": "1.00 TO 3.00"}),
    ("20554", NOTHING, {"course_id": "MATH122", "credits": "1.5", "section": "A02"}),
]


def a_semester() -> Campus:
    """Four sections as a Western university's system might export them."""
    campus = Campus(
        crn="20551",
        course_id="CSC 225",
        section="A01",
        section_title="Algorithms & Data Structures I",
        schedule_type="Lecture",
        credits="1.50",
        capacity="120",
        enrolled="118",
        remaining="2",
        wait_capacity="50",
        wait_count="3",
        campus="Main Campus",
        method="Face-to-face",
        levels="Undergraduate, Graduate",
        attributes="Science Elective",
        registration_dates="Nov 16, 2020 to Jan 20, 2021",
        note="Bring your own laptop.",
    )
    campus.rows["courses.csv"] = COURSES
    campus.rows["departments.csv"] = DEPARTMENTS
    campus.meets(crn="20551", **LECTURES, **DATES)
    for crn, meets, fields in OTHERS:
        campus.section(crn, DATES | meets, **fields)
    campus.prerequisites = {
        "20552": {"prerequisites": {"type": "or", "solo": ["csc 225", "MATH 122"], "nested": []}}
    }
    return campus.cross_list("math 122", "20551").restriction(
        "Must Be", "Major", "Physics", "20551"
    )


@pytest.fixture(scope="module")
def made(empty_portal: Callable[[], None], tmp_path_factory: pytest.TempPathFactory) -> Made:
    """What it becomes, for tests that only look at it."""
    empty_portal()
    return imported(a_semester().write(tmp_path_factory.mktemp("other")))


@pytest.fixture
def offered(made: Made) -> TermCatalog:
    return catalog_of(made.term)


def view(offered: TermCatalog, crn: str) -> SectionView:
    return next(each for each in offered.sections if each.crn == crn)


def test_a_section_has_everything_that_the_columns_say(offered: TermCatalog) -> None:
    found = view(offered, "20551")
    assert (found.course_code, found.number) == ("CSC-225", "A01")
    assert (found.title, found.course_title) == ("Algorithms & Data Structures I", "Algorithms")
    assert found.credits_min == found.credits_max == Decimal("1.5")
    assert (found.capacity, found.waitlist) == (120, 50)
    assert (found.kind, found.campus, found.method) == ("Lecture", "Main Campus", "Face-to-face")
    assert found.note == "Bring your own laptop."
    assert found.categories == ("Science Elective",)
    assert found.instructors == ("Berg", "Thomo")
    assert found.cross_lists == ("MATH-122",)
    assert found.restrictions == (
        ("must_be", "level", "Graduate"),
        ("must_be", "level", "Undergraduate"),
        ("must_be", "major", "Physics"),
    )
    assert found.department == "Computer Science"


@pytest.mark.parametrize(
    ("crn", "expected"),
    [
        ("20551", ("Tue Wed Fri", "2:30–3:20 pm", "", "Elliott Building 167")),
        ("20552", ("Sat Sun", "9:00 am–12:20 pm", "", "")),
        ("20553", ("Mon Thu", "2:30–3:50 pm", "Jan 6 – Feb 27", "")),
        ("20554", ("", "TBA", "", "")),
    ],
)
def test_meetings_are_shown_right(
    offered: TermCatalog, crn: str, expected: tuple[str, ...]
) -> None:
    [meeting] = view(offered, crn).meetings
    assert (meeting.days, meeting.times, meeting.dates, meeting.room) == expected


def test_prerequisites_are_a_tree_of_canonical_codes(offered: TermCatalog) -> None:
    tree = view(offered, "20552").prerequisites
    assert tree == {"any": [{"course": "CSC-225"}, {"course": "MATH-122"}]}
    assert list(requisites.codes(tree)) == ["CSC-225", "MATH-122"]


def test_credits_that_differ_span(offered: TermCatalog) -> None:
    found = view(offered, "20553")
    assert (found.credits_min, found.credits_max) == (1, 3)


def test_it_can_be_searched_and_registered_for(offered: TermCatalog, connected: Backend) -> None:
    warm_up(offered.term.id)
    seats = connected.ledger.seats(offered.term.id)
    assert [each.crn for each in offered.search(Query(text="csc225", open_only=True), seats)] == [
        "20551"
    ]
    assert seats[view(offered, "20551").id].open == 2


def test_what_has_no_place_is_named(made: Made) -> None:
    assert kinds(made.report) == {"not_represented": 3, "several_credits": 1, "major_added": 1}
    columns = {note.column for note in made.report.of("not_represented")}
    assert columns == {"wait_count", "registration_dates", "frequency"}
