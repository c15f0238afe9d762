"""`make cluster`: what its nodes count."""

import re
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
import requests

from portal import backend as connections
from portal.backend import Backend
from tests.faults import trial as trials
from tests.faults.trial import Trial
from tests.soak import only_in_soak

pytestmark = [pytest.mark.slow, only_in_soak]
TOKEN = "for tests alone"
NODES = ("web-1", "web-2")
STUDENTS = 6


@pytest.fixture(scope="module")
def trial(connected: Backend) -> Iterator[Trial]:
    """A cluster, some students who are logged in, and this process connected to its servers."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY"):  # which a trial sets for itself
            patch.setenv(name, "")
        patch.setenv("FAIRSEAT_METRICS_TOKEN", TOKEN)
        try:
            with trials.running("cluster", STUDENTS, lambda _: nullcontext()) as trial:
                yield trial
        finally:
            connections.connect(connected.settings)


def scraped(trial: Trial, node: str) -> str:
    answer = requests.get(
        f"{trial.up.address}/metrics",
        {"node": node},
        headers={"Authorization": f"Bearer {TOKEN}"},
        timeout=60,
    )
    assert answer.status_code == 200
    return answer.text


def count(trial: Trial, metric: str) -> float:
    """The sum of a metric over the nodes."""
    text = "\n".join(scraped(trial, node) for node in NODES)
    values = re.findall(rf"^{re.escape(metric)} (\S+)$", text, re.MULTILINE)
    return sum(map(float, values))


def test_what_happens_once_is_counted_once_by_all_nodes_together(trial: Trial) -> None:
    asked = 'fairseat_requests_total{method="GET",route="/login",status="200"}'
    before = count(trial, asked)
    for _ in range(10):
        requests.get(f"{trial.up.address}/login", timeout=60)
    assert count(trial, asked) == before + 10
    for kind, number in (("scheduler", 2), ("record", 2), ("maintain", 1)):
        assert count(trial, f'fairseat_processes{{kind="{kind}"}}') == number


def test_a_node_tells_of_its_own_processes_alone(trial: Trial) -> None:
    for node in NODES:
        assert 'fairseat_processes{kind="scheduler"} 1.0' in scraped(trial, node)
