"""Plans are stored, and simultaneous changes do not overwrite each other."""

from threading import Barrier, Thread

import pytest
from sqlalchemy import func, select

from portal.catalog.models import Term
from portal.core.db import transaction
from portal.core.outage import postgresql
from portal.registration import plan_store
from portal.registration.plan_store import PlanRow, StalePlan, change, plan_of, settle
from portal.registration.plans import Plan, add, remove
from portal.registration.requests import SectionRequest
from tests import cast as builders
from tests.cast import Cast
from tests.registration.database_outage import away
from tests.registration.plan_makers import line


@pytest.fixture
def term(cast: Cast) -> Term:  # noqa: ARG001
    return builders.a_term()


def test_plan_is_empty_at_first(term: Term, cast: Cast) -> None:
    assert plan_of(term.id, cast.ada.id) == Plan()


def test_change_is_stored_as_a_new_version(term: Term, cast: Cast) -> None:
    change(
        term.id, cast.ada.id, 0, lambda plan: add(plan, (SectionRequest(1), SectionRequest(2, 300)))
    )
    made = change(term.id, cast.ada.id, 1, lambda plan: add(plan, (SectionRequest(3),), wait=False))
    assert made.version == 2
    plan_store._known.clear()  # noqa: SLF001 - as another process has it
    assert plan_of(term.id, cast.ada.id) == made
    assert plan_of(term.id, cast.ben.id) == Plan()


def test_change_without_effect_makes_no_version(term: Term, cast: Cast) -> None:
    made = change(term.id, cast.ada.id, 0, lambda plan: add(plan, (SectionRequest(1),)))
    assert change(term.id, cast.ada.id, 1, lambda plan: plan) == made


def test_change_to_an_older_version_is_refused_with_the_current_plan(
    term: Term, cast: Cast
) -> None:
    now = change(term.id, cast.ada.id, 0, lambda plan: add(plan, (SectionRequest(1),)))
    with pytest.raises(StalePlan) as stale:
        change(term.id, cast.ada.id, 0, lambda plan: add(plan, (SectionRequest(2),)))
    assert stale.value.plan == now == plan_of(term.id, cast.ada.id)


@pytest.mark.parametrize("first", [True, False], ids=["the first change", "a later one"])
def test_one_of_many_simultaneous_changes_wins(term: Term, cast: Cast, first: bool) -> None:  # noqa: FBT001
    version = 0
    if not first:
        version = change(
            term.id, cast.ada.id, 0, lambda plan: add(plan, (SectionRequest(99),))
        ).version
    together, outcomes = Barrier(6), []

    def press(section: int) -> None:
        together.wait()
        try:
            change(
                term.id, cast.ada.id, version, lambda plan: add(plan, (SectionRequest(section),))
            )
            outcomes.append("made")
        except StalePlan:
            outcomes.append("stale")

    pressing = [Thread(target=press, args=(section,)) for section in range(1, 7)]
    for each in pressing:
        each.start()
    for each in pressing:
        each.join()
    assert sorted(outcomes) == ["made"] + ["stale"] * 5
    plan = plan_of(term.id, cast.ada.id)
    assert plan
    assert (plan.version, len(plan.choices)) == (version + 1, 1 if first else 2)


def test_fulfilled_choice_leaves_any_version_of_the_plan(term: Term, cast: Cast) -> None:
    for at, section in enumerate((1, 2)):
        made = change(
            term.id, cast.ada.id, at, lambda plan, it=section: add(plan, (SectionRequest(it),))
        )
    left = settle(term.id, cast.ada.id, [1])
    assert left == Plan((line(2),), made.version + 1)


def test_plan_is_one_row(term: Term, cast: Cast) -> None:
    for version in range(3):
        change(
            term.id,
            cast.ada.id,
            version,
            lambda plan: add(plan, (SectionRequest(len(plan.choices) + 1),)),
        )
    change(term.id, cast.ada.id, 3, lambda plan: remove(plan, 0))
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(PlanRow)) == 1


def test_last_known_plan_is_shown_while_postgresql_is_down(term: Term, cast: Cast) -> None:
    made = change(term.id, cast.ada.id, 0, lambda plan: add(plan, (SectionRequest(1),)))
    with away():
        assert plan_of(term.id, cast.ada.id) == made
        assert plan_of(term.id, cast.ben.id) is None
        assert settle(term.id, cast.ben.id, [1]) is None


def test_fulfilled_choices_cause_no_wait_while_postgresql_is_down(term: Term, cast: Cast) -> None:
    made = change(term.id, cast.ada.id, 0, lambda plan: add(plan, (SectionRequest(1),)))
    postgresql.begin()  # a query to a silent server would take seconds to fail; here it would not
    assert settle(term.id, cast.ada.id, [1]) is None
    postgresql.end()
    assert plan_of(term.id, cast.ada.id) == made
