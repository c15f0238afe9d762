"""Hypothesis strategies for the model and the ledger: students, sections, windows, credits."""

from hypothesis import strategies as some

from portal.ledger.types import (
    DEADLINES,
    NOT_OVERRIDABLE,
    Candidate,
    Claim,
    LedgerChoice,
    PoolSpec,
    Reason,
    ReserveSpec,
    RoundMove,
    SectionSpec,
    SkipRule,
)
from portal.registration.reasons import OUT_OF_TIME, PERMISSIONS
from tests.ledger.requests import OPEN

STUDENTS = range(501, 506)
HOUR = 3_600_000
SECTIONS = some.sampled_from([1, 1, 2, 2, 3, 4])
students = some.sampled_from(STUDENTS)
windows = some.sampled_from([(OPEN,)] * 6 + [(), (2,), (2, 3), (3, 4), (OPEN, 2), (4, 9)])
limits = some.sampled_from([2100] * 5 + [800, 700, 300])
trees = some.sampled_from(
    [None] * 6 + [{"course": 1}, {"any": [{"course": 1}, {"course": 3}]}, {"all": [{"course": 2}]}]
)
overrides_ = some.lists(
    some.sampled_from(
        [*PERMISSIONS, *OUT_OF_TIME, "full", "hold", "drop_limit", "needed_by", *NOT_OVERRIDABLE]
    ),
    max_size=6,
)
rules_ = some.sampled_from([()] * 8 + [(Reason("hold", {"kind": "bursar"}),)])
waived_ = some.sampled_from(
    [()] * 6 + [("time_conflict",), ("credit_limit", "same_course"), ("corequisite", "hold")]
)
passes = some.sampled_from(
    [None, None, SkipRule(1), SkipRule(2), SkipRule(1, ("hold", "credit_limit"))]
)
reserves_ = some.sampled_from([()] * 3 + [(61,), (62,), (61, 62)])
rule_facts = {
    "corequisites": trees,
    "rules": rules_,
    "waived": waived_,
    "reserves": reserves_,
    "waived_corequisites": trees,
}
candidates = some.builds(Candidate, students, windows, limits, **rule_facts)
credits_ = some.sampled_from([400, 400, 300, 500])
bands = some.sampled_from([None, None, 2, 3])
parts = some.builds(Claim, SECTIONS, credits_, bands, **rule_facts)
options = some.lists(parts, min_size=1, max_size=2, unique_by=lambda part: part.section).map(tuple)
wishes = some.builds(
    LedgerChoice,
    alternatives=some.lists(options, min_size=1, max_size=3).map(tuple),
    wait=some.booleans(),
    swap_out=some.sampled_from([None, None, 1, 2, 3]),
)
rounds_ = some.sampled_from([71, 71, 72])
turns = some.integers(0, 2)
seat_moves = some.builds(RoundMove, some.sampled_from("abk"), students, options, limits, turns)
waitlist_moves = some.builds(
    RoundMove,
    some.sampled_from("wk"),
    students,
    some.tuples(parts),
    limits,
    wait=some.just(value=True),
)
moves = seat_moves | waitlist_moves
requests = some.sampled_from([None] * 6 + ["k1", "k2"])
meetings = some.tuples(
    some.sampled_from([1, 2, 3, 4, 64]),
    some.sampled_from([0, 2]),
    some.sampled_from([3, 4]),
    some.integers(4, 12),
    some.integers(8, 20),
)
# The capacity of a pool follows from its version.
pools = some.sampled_from([None, None, *(PoolSpec(8, each % 4, each) for each in range(1, 9))])
specs = some.builds(
    SectionSpec,
    section=SECTIONS,
    capacity=some.integers(1, 3),
    waitlist=some.integers(0, 4),
    prior=some.sampled_from([0, 0, 1]),
    status=some.sampled_from(["OPEN"] * 18 + ["NEW", "CONFIRMED", "CANCELED"]),
    course=some.integers(1, 3),
    credits_min=some.sampled_from([300, 300, 400]),
    credits_max=some.sampled_from([400, 500, 500]),
    times=some.lists(meetings, max_size=1).map(tuple),
    version=some.just(0),
    pool=pools,
    reserves=some.sampled_from(
        [(), (), (ReserveSpec(61, 1),), (ReserveSpec(61, 1), ReserveSpec(62, 2))]
    ),
)
# Numbers choose among what exists: drawn values must not depend on the clock.
picks = some.integers(0, 20)
moments = some.integers(-15, 25)  # ms from now


# The ends of deadlines in ms from now; few of them come soon.
deadlines = some.dictionaries(
    some.sampled_from(DEADLINES), some.sampled_from([HOUR] * 5 + [-5, 5, 20]), max_size=2
)
# The ends of two reserves; 0 = never.
ends = some.tuples(*[some.sampled_from([0] * 9 + [5, 20])] * 2).map(list)


def bare(line: LedgerChoice) -> tuple[object, ...]:
    """Return only what a student requests."""
    options = [[(part.section, part.credits) for part in option] for option in line.alternatives]
    return options, line.wait, line.swap_out
