"""GET and POST /terms/<t>/sections/<s>/drop?along=<b>."""

from dataclasses import dataclass
from typing import Any

import pytest
from flask.testing import FlaskClient

from portal.backend import backend as parts
from portal.recorder.consistency.audit import audit_term
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.cast import Cast
from tests.web.pages import DIALOG, address, held, hidden, press, seat, words


@dataclass(frozen=True)
class Pair:
    """A lecture and its lab, which need each other; Ada has both."""

    lecture: Any  # BIO 1-01
    lab: Any  # BIO 2-02

    def both(self) -> str:
        return f"drop?along={self.lab.id}"


@pytest.fixture
def pair(ada: FlaskClient, term: Any) -> Pair:
    lecture, lab = builders.a_course("BIO-1"), builders.a_course("BIO-2")
    made = Pair(
        builders.a_section(lecture, term, corequisites={"course": "BIO-2"}),
        builders.a_section(lab, term, corequisites={"course": "BIO-1"}),
    )
    press(ada, made.lecture, "pick", **{"with-1": str(made.lab.id)})
    return made


def test_needed_section_is_kept_and_the_next_step_shown(
    ada: FlaskClient, term: Any, pair: Pair, cast: Cast
) -> None:
    page = ada.get(address(pair.lecture, "drop")).text
    assert 'data-reason="needed_by"' in page
    assert f'href="{address(pair.lecture, pair.both())}"' in page
    assert "Drop both</a>" in page
    answer = ada.post(address(pair.lecture, "drop"))
    assert answer.status_code == 422
    assert f'href="{address(pair.lecture, pair.both())}"' in answer.text
    assert held(term, cast.ada) == [pair.lecture.id, pair.lab.id]


def test_form_names_both_sections(ada: FlaskClient, pair: Pair) -> None:
    text = words(ada.get(address(pair.lecture, pair.both())).text)
    assert "Drop BIO 1-01 and BIO 2-02?" in text
    assert "This counts as one drop." in text
    assert "Keep both" in text


def test_linked_sections_drop_as_one_without_javascript(
    ada: FlaskClient, term: Any, pair: Pair, cast: Cast
) -> None:
    page = words(ada.get(press(ada, pair.lecture, pair.both()).location).text)
    assert "You dropped BIO 1-01 and BIO 2-02. You can drop 2 more classes today. Receipt" in page
    assert held(term, cast.ada) == []
    assert list(parts().ledger.drops(term.id, cast.ada.id).values()) == [1]


def test_htmx_response_updates_both(ada: FlaskClient, pair: Pair) -> None:
    where = address(pair.lecture, pair.both())
    form = hidden(ada.get(where, headers=DIALOG).text)
    answer = ada.post(where, data=form, headers=DIALOG)
    for section in (pair.lecture, pair.lab):
        for kind in ("act", "seats"):
            assert f'hx-swap-oob="true" id="{kind}-{section.id}"' in answer.text


def test_form_sent_twice_has_one_effect(
    ada: FlaskClient, term: Any, pair: Pair, cast: Cast
) -> None:
    where = address(pair.lecture, pair.both())
    form = hidden(ada.get(where).text)
    for _ in range(2):
        answer = ada.post(where, data=form)
        assert "You dropped" in words(ada.get(answer.location).text)
    assert list(parts().ledger.drops(term.id, cast.ada.id).values()) == [1]


def test_section_not_held_is_not_dropped_along(
    ada: FlaskClient, term: Any, pair: Pair, cast: Cast
) -> None:
    assert ada.get(address(pair.lecture, "drop?along=999999")).status_code == 404
    press(ada, pair.lecture, pair.both())
    seat(cast.ada, pair.lecture)
    answer = ada.post(address(pair.lecture, pair.both()))
    assert answer.status_code == 422
    assert "You don’t have BIO 2-02" in words(answer.text)
    assert held(term, cast.ada) == [pair.lecture.id]


def test_all_dependents_are_dropped_in_one_step(ada: FlaskClient, term: Any, cast: Cast) -> None:
    lecture = builders.a_section(builders.a_course("PHY-1"), term)
    needs = {"corequisites": {"course": "PHY-1"}}
    labs = [builders.a_section(builders.a_course(f"PHY-{n}"), term, **needs) for n in (2, 3)]
    for section in (lecture, *labs):
        press(ada, section, "pick")
    page = ada.get(address(lecture, "drop")).text
    all_of_them = f"drop?along={labs[0].id}&amp;along={labs[1].id}"
    assert page.count('class="reason-step"') == 1
    assert f'href="{address(lecture, all_of_them)}"' in page
    press(ada, lecture, all_of_them.replace("&amp;", "&"))
    assert held(term, cast.ada) == []


def test_unrelated_sections_count_separately(ada: FlaskClient, term: Any, cast: Cast) -> None:
    made = [builders.a_section(builders.a_course(f"MAT-{n}"), term) for n in range(4)]
    for section in made:
        press(ada, section, "pick")
    one, *others = made
    everything = "drop?" + "&".join(f"along={each.id}" for each in others)
    page = words(ada.get(address(one, everything)).text)
    assert "This counts as 4 drops, but you have 3 left today." in page
    refused = ada.post(address(one, everything), data={"request": "all-of-them"})
    assert refused.status_code == 422
    assert 'data-reason="drop_limit"' in refused.text
    assert len(held(term, cast.ada)) == 4
    two = f"drop?along={others[0].id}"
    assert "This counts as 2 drops." in words(ada.get(address(one, two)).text)
    page = words(ada.get(press(ada, one, two).location).text)
    assert "You can drop 1 more class today." in page
    drain(term.id)
    assert audit_term(term.id)["clean"]


def test_section_named_twice_is_dropped_once(
    ada: FlaskClient, term: Any, pair: Pair, cast: Cast
) -> None:
    twice = f"drop?along={pair.lab.id}&along=0{pair.lab.id}&along={pair.lecture.id}"
    assert press(ada, pair.lecture, twice).status_code == 303
    assert held(term, cast.ada) == []
    drain(term.id)
    assert audit_term(term.id)["clean"]


def test_link_to_drop_all_names_every_section(ada: FlaskClient, term: Any, cast: Cast) -> None:
    course = builders.a_course
    lecture = builders.a_section(course("BIO-1"), term)
    lab, seminar = (
        builders.a_section(course(f"BIO-{n}"), term, corequisites={"course": "BIO-1"})
        for n in (2, 3)
    )
    for section in (lecture, lab, seminar):
        seat(cast.ada, section)
    page = ada.get(address(lecture, f"drop?along={lab.id}")).text
    everything = f"drop?along={lab.id}&amp;along={seminar.id}"
    assert f'href="{address(lecture, everything)}"' in page
    assert "Drop all 3" in words(page)
