"""What a visitor looks for: read leniently, kept in links, matched against views."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.datastructures import MultiDict

from portal.catalog.search import Query, correct_words, index
from portal.catalog.views import MeetingView, SectionView
from portal.ledger.types import SeatCounts

HOUR = 60


def meets(days: int, start: int | None, end: int | None, *, clashes: bool = True) -> MeetingView:
    return MeetingView("LEC", "", clashes, days, start, end)


MORNING = meets(0b1001, 10 * HOUR, 12 * HOUR)  # Monday and Thursday
EXAM = meets(0b100, 8 * HOUR, 22 * HOUR, clashes=False)
UNKNOWN = meets(0b1, None, None)


def a_view(**fields: object) -> SectionView:
    bare = SectionView(
        id=1, term_id=1, crn="25790", number="01", title="ALGO", course_id=1,
        course_code="CSC-225", course_title="Algorithms I", description="", subject_code="CSC",
        subject_name="Computing", department="Computing", credits_min=Decimal(3),
        credits_max=Decimal(4), kind="Lecture", campus="", method="", note="", status="OPEN",
        capacity=2, waitlist=2, meetings=(MORNING, EXAM), instructors=("Núñez", "O’Brien"),
        instructor_ids=(1, 2), prerequisites=None, corequisites=None, restrictions=(),
        cross_lists=(), public=True, restricted_to=frozenset(), levels=frozenset(),
        years=frozenset(),
        search_index=index("CSC-225", "CSC-225-01", "Algorithms I", "25790", "Núñez", "O’Brien"),
    )  # fmt: skip
    return replace(bare, **fields)


CARD = a_view()


def query(**args: str | list[str]) -> Query:
    return Query.parse(MultiDict({name.rstrip("_"): value for name, value in args.items()}))


def found(
    asked: Query, view: SectionView = CARD, seats: dict[int, SeatCounts] | None = None
) -> bool:
    return asked.pick([view], seats) == [view]


@pytest.mark.parametrize(
    "text",
    ["", "csc 225", "CSC-225", "csc225", "csc-225-01", "algo", "ALGORITHMS", "nunez", "NÚÑEZ",
     "o'brien", "obrien", "brien", "25790", "nunez csc", "225"],
)  # fmt: skip
def test_words_find_a_section(text: str) -> None:
    assert found(query(q=text))


KNOWN = ["algorithms", "computing", "csc", "csc225", "nunez"]


@pytest.mark.parametrize(
    ("typed", "corrected"),
    [
        ("algorthms", "algorithms"),
        ("ALGORITMHS csc", "algorithms csc"),
        ("Núnes", "nunez"),
        ("comp algoritms", "comp algorithms"),
        ("algorithms", ""),  # nothing to correct
        ("csc226", ""),  # another course, not a mistake
        ("alx", ""),
        ("zebra", ""),
        ("", ""),
    ],
)
def test_typing_mistakes_are_corrected(typed: str, corrected: str) -> None:
    assert correct_words(typed, KNOWN) == corrected


@pytest.mark.parametrize("text", ["csc 226", "nunez smith", "gorithms", "5790", "mat225"])
def test_all_words_must_begin_some_word(text: str) -> None:
    assert not found(query(q=text))


def test_the_subject_must_be_the_one() -> None:
    assert found(query(subject="csc"))
    assert not found(query(subject="CS"))


@pytest.mark.parametrize(("days", "fits"), [("M", False), ("MR", True), ("MTWRF", True)])
def test_it_meets_on_no_other_days(days: str, *, fits: bool) -> None:
    assert found(query(days=days)) is fits


def test_days_add_up_over_several_boxes() -> None:
    assert found(query(days=["Mon", "Thu"]))


@pytest.mark.parametrize(
    ("start", "end", "fits"),
    [("10:00", "", True), ("10:01", "", False), ("", "12:00", True), ("", "11:59", False),
     ("9:00", "13:00", True)],
)  # fmt: skip
def test_it_meets_within_the_hours(start: str, end: str, *, fits: bool) -> None:
    assert found(query(from_=start, to=end)) is fits


def test_exam_blocks_do_not_count_as_meetings() -> None:
    assert found(query(days="MR", to="13:00"))


def test_what_is_to_be_announced_fits_no_days_or_hours() -> None:
    assert not found(query(days="M"), a_view(meetings=(UNKNOWN,)))
    assert not found(query(from_="8:00"), a_view(meetings=()))
    assert found(query(), a_view(meetings=()))


@pytest.mark.parametrize(
    ("amount", "fits"), [("2", False), ("3", True), ("3.5", True), ("5", False)]
)
def test_credits_must_be_possible(amount: str, *, fits: bool) -> None:
    assert found(query(credits=amount)) is fits


@pytest.mark.parametrize(("taken", "waiting", "fits"), [(1, 0, True), (2, 0, False), (1, 1, False)])
def test_open_means_that_a_newcomer_could_have_a_seat(
    taken: int, waiting: int, *, fits: bool
) -> None:
    seats = {1: SeatCounts(1, 2, taken, waiting, 2, "OPEN", 1)}
    assert found(query(open="1"), seats=seats) is fits


def test_open_counts_for_nothing_while_seats_are_unknown() -> None:
    assert found(query(open="1"), seats=None)


def test_garbage_is_ignored_and_reported() -> None:
    asked = query(days="Xyz", from_="25:00", credits="many", open="maybe", subject="x" * 99)
    assert asked == Query(ignored=asked.ignored)
    assert {name for name, _ in asked.ignored} == {"days", "from", "credits", "open", "subject"}


def test_links_keep_what_was_asked() -> None:
    asked = query(q="algo", subject="csc", days="MR", from_="8:00", open="on", credits="1.5")
    assert Query.parse(MultiDict(asked.args())) == asked
    assert asked.narrowed
    assert not Query().narrowed


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["q", "subject", "days", "from", "to", "open", "credits"]), st.text()
        )
    )
)
def test_no_address_crashes_it(args: list[tuple[str, str]]) -> None:
    asked = Query.parse(MultiDict(args))
    asked.pick([CARD], {})
    again = Query.parse(MultiDict(asked.args()))
    assert again == replace(asked, ignored=())
