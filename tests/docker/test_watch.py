"""Prometheus and Grafana of the profile `watch`: what Prometheus scrapes, and who lets it in."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from portal.backend import Backend
from portal.core.settings import ROOT
from portal.runtime.child_process import Child
from tests.live.nodes import a_node
from tests.operations.metrics import tools
from tests.operations.metrics.test_alerts import Prometheus
from tests.ports import free_port
from tests.recorder.processes import running, wait_for

DOCKER = ROOT / "docker"
SCRAPED = DOCKER / "prometheus" / "watch.yml"
TOKEN = "for tests alone"


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DOCKER / name).read_text())
    return found


def jobs() -> dict[str, dict[str, Any]]:
    """What is scraped, by the name of the job."""
    told = yaml.safe_load(SCRAPED.read_text())["scrape_configs"]
    return {job["job_name"]: job for job in told}


def targets(job: str) -> dict[str, str]:
    """Who is scraped there, by the name that alerts give."""
    return {
        each["labels"]["instance"]: each["targets"][0] for each in jobs()[job]["static_configs"]
    }


@pytest.mark.parametrize("name", ["compose.yml", "compose.cluster.yml"])
def test_every_process_of_the_portal_is_scraped_at_the_address_that_it_keeps(name: str) -> None:
    compose = read(name)
    assert compose["include"] == ["compose.watch.yml"]
    web, workers = dict[str, str](), dict[str, str]()
    for service, settings in compose["services"].items():
        if service.startswith("web"):
            web[service] = f"{address(settings)}:8000"
            assert "FAIRSEAT_METRICS_PORT" not in settings["environment"]
        elif service.startswith("workers"):
            port = settings["environment"]["FAIRSEAT_METRICS_PORT"]
            workers[service] = f"{address(settings)}:{port}"
    assert targets("fairseat") == web
    assert targets("fairseat-workers") == workers


def address(service: dict[str, Any]) -> str:
    found: str = service["networks"]["default"]["ipv4_address"]
    return found


def test_promtool_finds_nothing_wrong() -> None:
    tool = tools.find("promtool")
    assert tool, "make test fetches it"
    command = [tool, "check", "config", "--syntax-only", str(SCRAPED)]
    said = subprocess.run(command, check=False, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout + said.stderr


def test_prometheus_has_the_token_its_rules_and_a_place_for_what_it_knows() -> None:
    watch = read("compose.watch.yml")
    prometheus = watch["services"]["prometheus"]
    (secret,) = prometheus["secrets"]
    for job in jobs().values():
        assert job["authorization"] == {"credentials_file": f"/run/secrets/{secret}"}
    assert watch["secrets"][secret] == {"environment": "FAIRSEAT_METRICS_TOKEN"}
    assert "./prometheus:/etc/prometheus:ro" in prometheus["volumes"]
    assert f"--config.file=/etc/prometheus/{SCRAPED.name}" in prometheus["command"]


def test_grafana_has_our_dashboards_and_where_their_figures_come_from() -> None:
    grafana = read("compose.watch.yml")["services"]["grafana"]
    assert grafana["environment"]["PROMETHEUS_URL"] == "http://prometheus:9090"
    assert {each.split(":", 1)[1] for each in grafana["volumes"]} == {
        "/var/lib/grafana",
        "/etc/grafana/provisioning:ro",
        "/etc/grafana/dashboards:ro",
    }


def test_no_one_watches_unless_it_is_requested() -> None:
    services = read("compose.watch.yml")["services"].values()
    assert all(service["profiles"] == ["watch"] for service in services)


@contextmanager
def a_prometheus(folder: Path, there: dict[str, int]) -> Iterator[Prometheus]:
    """Start Prometheus with the profile's settings and these ports; others have no server."""
    told = yaml.safe_load(SCRAPED.read_text().replace("15s", "1s").replace("5s", "1s"))
    for job in told["scrape_configs"]:
        job["authorization"]["credentials_file"] = str(folder / "token")
        for each in job["static_configs"]:
            port = there.get(each["labels"]["instance"]) or free_port()
            each["targets"] = [f"127.0.0.1:{port}"]
    (folder / "token").write_text(TOKEN)
    (folder / "watch.yml").write_text(yaml.safe_dump(told))
    rules = (DOCKER / "prometheus" / "alerts.yml").read_text()
    (folder / "alerts.yml").write_text(re.sub(r"for: \d+[ms]", "for: 0s", rules))
    port, tool = free_port(), tools.find("prometheus")
    assert tool, "make test fetches it"
    settings = [f"--config.file={folder}/watch.yml", f"--storage.tsdb.path={folder}/tsdb"]
    command = [tool, *settings, f"--web.listen-address=127.0.0.1:{port}"]
    child = Child("prometheus", command, folder / "prometheus.log")
    child.start()
    try:
        yield Prometheus(port)
    finally:
        child.stop(5)


def test_a_real_prometheus_is_let_in_and_says_by_name_who_is_gone(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert backend
    monkeypatch.setenv("FAIRSEAT_METRICS_TOKEN", TOKEN)
    door = free_port()
    with a_node(tmp_path) as node:
        monkeypatch.setenv("FAIRSEAT_METRICS_PORT", str(door))
        there = {"web-1": node.port, "workers-1": door}
        with running(("scheduler",)) as (scheduler,), a_prometheus(tmp_path, there) as prometheus:
            for name, kind in (("web-1", "web"), ("workers-1", "scheduler")):
                asked = f'fairseat_processes{{instance="{name}",kind="{kind}"}}'
                wait_for(lambda asked=asked: value(prometheus, asked) == 1)
            wait_for(lambda: gone(prometheus) == {"web-2", "workers-2"})
            node.child.stop()
            scheduler.kill()
            wait_for(lambda: gone(prometheus) == {"web-1", "web-2", "workers-1", "workers-2"})


def value(prometheus: Prometheus, query: str) -> float | None:
    """What it knows; None where it does not know or answer yet."""
    try:
        return prometheus.value(query)
    except OSError:
        return None


def gone(prometheus: Prometheus) -> set[str]:
    """Return the processes that do not answer, as the alerts say."""
    told = prometheus.get("/api/v1/alerts")["alerts"]
    firing = [each["labels"] for each in told if each["state"] == "firing"]
    return {each["instance"] for each in firing if each["alertname"] == "FairseatNodeDown"}
