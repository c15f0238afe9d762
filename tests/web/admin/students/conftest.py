"""An admin, a term with sections, and students whose selections can be adjusted."""

import pytest

from portal.catalog.models import Section, Term
from tests import cast as builders


@pytest.fixture
def section(term: Term) -> Section:
    """Return CSC-1100-01 with one seat."""
    return builders.a_section(builders.a_course("CSC-1100"), term, capacity=1)


@pytest.fixture
def other(term: Term, section: Section) -> Section:  # noqa: ARG001  it is the second
    """Return CSC-1200-02 with two seats."""
    return builders.a_section(builders.a_course("CSC-1200"), term)
