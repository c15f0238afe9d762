"""Upgrades: the database and the ledger that each earlier release left are carried on."""

import json
from pathlib import Path

import pytest

from portal.backend import Backend
from portal.catalog.models import Term
from portal.core import scaling
from portal.core.db import transaction
from portal.ledger.function_library import prefix
from portal.ledger.types import Outcome
from portal.operations import autoscaler
from portal.operations.autoscaler import Autoscaler, Target
from portal.recorder.consistency.audit import audit
from portal.recorder.recorder import drain
from portal.runtime import backup
from portal.windows import readiness
from tests.cast import a_term, an_open_window
from tests.recorder.rush import Rush, claim
from tests.second_portal import fairseat, spare
from tests.upgrade.release import EXPECTED, FOLDER, LEDGER, held, load, waiting

__all__ = ["spare"]
RELEASES = sorted(FOLDER.glob("*/backup.json"))


@pytest.fixture(params=RELEASES, ids=lambda path: path.parent.name)
def release(request: pytest.FixtureRequest, spare: Backend) -> Path:
    """Load what a release has left behind."""
    folder: Path = request.param.parent
    backup.check(folder)
    backup.load(spare.settings.owner_url, folder)
    load(spare.redis, json.loads((folder / LEDGER).read_text()))
    return folder


def test_there_is_a_release() -> None:
    assert [each.parent.name for each in RELEASES][:1] == ["1.0.0"]


def test_it_carries_on_where_the_release_stopped(release: Path, spare: Backend) -> None:
    expected = json.loads((release / EXPECTED).read_text())
    term = expected["term"]
    prepared = fairseat(spare, "prepare")
    assert prepared.returncode == 0, prepared.stderr

    drain(term)
    assert audit()["clean"]
    assert held(term) == {tuple(each) for each in expected["held"]}
    assert waiting(term) == {tuple(each) for each in expected["waiting"]}

    again = expected["answered"]
    rush = Rush(term, (), (), expected["window"])
    said = claim(rush, again["student"], again["section"], again["request"])
    assert said.outcome == Outcome.ENROLLED, said.reasons
    assert len(held(term)) == len(expected["held"])

    with transaction() as session:
        window = an_open_window(session.get_one(Term, term))
    fresh = Rush(term, (), (), window.id)
    free = expected["free"]
    assert claim(fresh, free["student"], free["section"]).outcome == Outcome.ENROLLED
    drain(term)
    assert audit()["clean"]


def test_targets_of_the_release_are_read(backend: Backend) -> None:
    target = json.dumps({"workers": 2, "at": 7.0, "why": "quiet"})
    backend.redis.hset(autoscaler.KEY, "notify", target)
    assert autoscaler.targets(backend.redis) == {"notify": Target(2, 7.0)}
    Autoscaler(backend.redis, scaling.pools()).check()


def test_a_term_that_the_release_prepared_is_prepared_again(backend: Backend) -> None:
    term = a_term("Fall 2030").id
    known = {"version": 0, "opening": 0, "begun": 5, "told": 6, "sections": 3, "done": 3}
    backend.redis.hset(f"{prefix(term)}:warmup", mapping={**known, "wanted": 4})
    process = {"wish": 4, "profiles": 2, "read": 5, "at": backend.ledger.now()}
    backend.redis.hset("warm:processes", "of the release", json.dumps(process))
    before = readiness.readiness(term)
    assert before
    assert not before.sent
    assert readiness.processes() == []
    assert readiness.make_ready(term)
    after = readiness.readiness(term)
    assert after
    assert after.sent
