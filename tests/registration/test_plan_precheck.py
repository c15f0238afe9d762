"""The precheck of a whole plan."""

from portal.ledger.types import Registrations
from portal.registration.plans import Plan
from portal.registration.precheck import Precheck
from portal.registration.requests import Choice, SectionRequest
from tests.registration.makers import a_catalog, a_meeting, a_profile, a_view


def test_alternative_is_checked_beside_the_first_alternatives_of_other_choices() -> None:
    early, late = (a_meeting(1, start, start + 60) for start in (540, 720))
    views = [a_view(f"CSC-{n}", meetings=(each,)) for n, each in enumerate((early, late, early))]
    first, fallback, other = ((SectionRequest(view.id),) for view in views)
    plan = Plan((Choice((fallback, first)), Choice((other,))))
    checks = Precheck(a_profile(), a_catalog(*views), Registrations(), 2100)
    [mine, [theirs]] = checks.refusals_of_plan(plan)
    codes = [[reason.code for found in each.values() for reason in found] for each in mine]
    assert codes == [[], ["time_conflict"]]
    assert theirs == {views[2].id: []}
