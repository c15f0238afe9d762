"""Dashboards and alerts name nothing that no scrape has, and ask nothing that Prometheus can't."""

import json
import re
import subprocess
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from portal.core.settings import ROOT
from portal.operations import prometheus
from tests.operations.metrics import tools

DASHBOARDS = sorted((ROOT / "docker" / "grafana" / "dashboards").glob("*.json"))
ALERTS = ROOT / "docker" / "prometheus" / "alerts.yml"
PARTS = {"counter": ("",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
NAME = re.compile(r"fairseat_\w+")


def panels(file: Path) -> list[Any]:
    return list(json.loads(file.read_text())["panels"])


def asked(file: Path) -> list[str]:
    """What a dashboard asks Prometheus, with what Grafana puts in filled in."""
    targets = [target for panel in panels(file) for target in panel["targets"]]
    return [target["expr"].replace("$__rate_interval", "1m") for target in targets]


@pytest.mark.usefixtures("term")
def test_every_metric_that_is_named_is_scraped(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prometheus, "FRESH", -1.0)
    types = re.findall(r"^# TYPE (\w+) (\w+)$", client.get("/metrics").text, re.MULTILINE)
    scraped = {name + part for name, kind in types for part in PARTS.get(kind, ("",))}
    named = {name for file in DASHBOARDS for each in asked(file) for name in NAME.findall(each)}
    named |= set(NAME.findall(ALERTS.read_text()))
    assert len(named) > 25
    assert named <= scraped


def test_prometheus_understands_every_question(tmp_path: Path) -> None:
    questions = [each for file in DASHBOARDS for each in asked(file)]
    rules = [{"record": f"panel:{number}", "expr": each} for number, each in enumerate(questions)]
    file = tmp_path / "rules.yml"
    file.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    tool = tools.find("promtool")
    assert tool, "make test fetches it"
    said = subprocess.run(
        [tool, "check", "rules", file], check=False, capture_output=True, text=True
    )
    assert said.returncode == 0, said.stdout + said.stderr


@pytest.mark.parametrize("file", DASHBOARDS, ids=lambda file: file.stem)
def test_panels_have_places_of_their_own(file: Path) -> None:
    shown = panels(file)
    assert len({panel["id"] for panel in shown}) == len(shown)
    for panel in shown:
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
        assert panel["title"]
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
    for one, other in combinations((panel["gridPos"] for panel in shown), 2):
        apart_x = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        apart_y = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert apart_x or apart_y, (one, other)


def test_dashboards_have_names_of_their_own() -> None:
    heads = [json.loads(file.read_text()) for file in DASHBOARDS]
    assert len({head["uid"] for head in heads}) == len(heads) == 2
    for head in heads:
        (variable,) = head["templating"]["list"]
        assert (variable["type"], variable["query"]) == ("datasource", "prometheus")
        for panel in head["panels"]:
            assert panel["datasource"]["uid"] == "${datasource}"
