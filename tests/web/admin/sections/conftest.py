"""An admin and a term with one open section."""

import pytest

from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.cast import Cast, Meets

MORNING = Meets("MR", "10:00", "11:50", kind="LEC", room="Hall 1")


@pytest.fixture
def section(term: Term, cast: Cast) -> Section:
    """Return CSC-1100-01: two seats, a waitlist of five, Mondays and Thursdays, taught by Iris."""
    course = builders.a_course("CSC-1100")
    return builders.a_section(course, term, meetings=(MORNING,), instructor=cast.iris)
