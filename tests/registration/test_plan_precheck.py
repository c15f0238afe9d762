"""What is foreseen of a whole plan, each option beside the first ones of the other lines."""

from portal.ledger.types import Standing
from portal.registration.plans import Plan
from portal.registration.precheck import Precheck
from portal.registration.requests import Choice, SectionRequest
from tests.registration.makers import a_board, a_card, a_meeting, a_profile


def test_a_fallback_is_looked_at_beside_the_first_choices_of_the_others() -> None:
    early, late = (a_meeting(1, start, start + 60) for start in (540, 720))
    cards = [a_card(f"CSC-{n}", meetings=(each,)) for n, each in enumerate((early, late, early))]
    first, fallback, other = ((SectionRequest(card.id),) for card in cards)
    plan = Plan((Choice((fallback, first)), Choice((other,))))
    checks = Precheck(a_profile(), a_board(*cards), Standing(), 2100)
    [mine, [theirs]] = checks.refusals_of_plan(plan)
    codes = [[reason.code for found in each.values() for reason in found] for each in mine]
    assert codes == [[], ["time_conflict"]]
    assert theirs == {cards[2].id: []}
