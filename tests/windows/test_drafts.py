"""Drafts: forms that were filled in but not confirmed."""

import pytest
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import RequestEntityTooLarge

from portal.backend import Backend
from portal.web import drafts
from portal.web.drafts import LAST, LONGEST
from portal.web.forms import Sent

MAX, OTTO = 1, 2


def a_form(text: str) -> Sent:
    return MultiDict([("name", text), ("years", "Junior"), ("years", "Senior")])


@pytest.mark.usefixtures("backend")
def test_draft_keeps_the_form_as_filled_in() -> None:
    drafts.save(MAX, "/a", 7, a_form("Seniors first"))
    assert drafts.load(MAX, "/a", 7) == a_form("Seniors first")
    for account, position, draft in ((OTTO, "/a", 7), (MAX, "/b", 7), (MAX, "/a", 8)):
        assert drafts.load(account, position, draft) is None


def test_only_the_latest_drafts_of_an_account_are_stored(backend: Backend) -> None:
    drafts.save(OTTO, "/a", 0, a_form("Otto's"))
    for draft in range(LAST + 3):
        drafts.save(MAX, "/a", draft, a_form(str(draft)))
        drafts.save(MAX, "/a", 0, a_form("again and again"))
    found = [draft for draft in range(LAST + 3) if drafts.load(MAX, "/a", draft)]
    assert found == [0, *range(4, LAST + 3)]
    assert drafts.load(OTTO, "/a", 0) == a_form("Otto's")
    assert all(backend.redis.ttl(key) > 0 for key in backend.redis.scan_iter("draft*"))


@pytest.mark.usefixtures("backend")
def test_draft_that_is_too_long_is_not_stored() -> None:
    with pytest.raises(RequestEntityTooLarge):
        drafts.save(MAX, "/a", 7, a_form("1" * LONGEST))
    assert drafts.load(MAX, "/a", 7) is None
