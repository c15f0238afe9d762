"""What the model and the ledger may be asked: students, sections, windows, credits."""

from hypothesis import strategies as some

from portal.seats.ledger import Candidate, Reason, SectionSpec
from tests.ledger.desk import OPEN

STUDENTS = range(501, 506)
SECTIONS = some.sampled_from([1, 1, 2, 2, 3, 4])
students = some.sampled_from(STUDENTS)
windows = some.sampled_from([(OPEN,)] * 6 + [(), (2,), (2, 3), (3, 4), (OPEN, 2), (4, 9)])
limits = some.sampled_from([2100] * 5 + [800, 700, 300])
trees = some.sampled_from(
    [None] * 6 + [{"course": 1}, {"any": [{"course": 1}, {"course": 3}]}, {"all": [{"course": 2}]}]
)
rules_ = some.sampled_from([()] * 8 + [(Reason("hold", {"kind": "bursar"}),)])
candidates = some.builds(Candidate, students, windows, limits, trees, rules_)
credits_ = some.sampled_from([400, 400, 300, 500])
requests = some.sampled_from([None] * 6 + ["k1", "k2"])
meetings = some.tuples(
    some.sampled_from([1, 2, 3, 4, 64]),
    some.sampled_from([0, 2]),
    some.sampled_from([3, 4]),
    some.integers(4, 12),
    some.integers(8, 20),
)
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
)
moments = some.integers(-15, 25)  # ms from now
