"""What `make bench-peers` says of what it measured."""

import json
from pathlib import Path

import pytest

from bench.peers import installation, table

SIDES = {
    "peers_claim": 10.0,
    "pretix_celery": 2.0,
    "pretix_eager": 4.0,
    "peers_picker": 90.0,
    "pretix_shop": 3.0,
}


def run(factor: float = 1.0) -> dict[str, float]:
    """Return the figures of one run, made up."""
    kinds = ("per_s", "p99_ms", "took_us")
    found = {f"{side}_{kind}": rate * factor for side, rate in SIDES.items() for kind in kinds}
    return {**found, "peers_hello_per_s": 500.0, "peers_oversold": 0, "pretix_oversold": 0}


@pytest.fixture
def rows() -> dict[str, list[str]]:
    """Return the cells of each row of the table, by its first cell."""
    lines = table.summary(table.figures_of([run(), run(1.5), run(0.5)])).splitlines()
    cells = [[each.strip() for each in line.strip("|").split("|")] for line in lines]
    return {first: rest for first, *rest in cells}


def test_the_ratio_of_rates_takes_the_better_way_of_pretix(rows: dict[str, list[str]]) -> None:
    assert rows["claims a second"][-2:] == ["2.5", "40: not reached"]
    assert rows["pages a second"][-2:] == ["30", "30: reached"]


def test_the_ratio_of_times_is_of_pretix_over_the_portal(rows: dict[str, list[str]]) -> None:
    assert rows["processor time of a claim, µs"][-2:] == ["0.2", ""]


def test_a_cell_is_the_median_with_the_spread(rows: dict[str, list[str]]) -> None:
    assert rows["claims a second"][:3] == ["10 (5 to 15)", "2 (1 to 3)", "4 (2 to 6)"]
    assert rows["seats oversold"][:2] == ["0", "0"]


def test_the_section_has_versions_settings_and_the_steps_of_both_set_ups() -> None:
    result = {
        "began": "commit 1234567",
        "size": {"shoppers": 400, "places": 100, "rushes": 6},
        "versions": {"pretix": "1.2.3", "Valkey": "9.0"},
        "steps": {
            "Fairseat": [{"command": "make run", "seconds": 49.4}],
            "pretix": [{"command": "a; c", "seconds": 1.0}, {"command": "b", "seconds": 2.0}],
        },
        "figures": table.figures_of([run()]),
    }
    told = table.section(result)
    assert "commit 1234567, runs: 1, 500 hellos a second. pretix 1.2.3, Valkey 9.0." in told
    assert "a crowd of 400 asks for one section or item with 100 places" in told
    assert "| Fairseat | 1 | 49 | make run (49 s) |" in told
    assert "| pretix | 3 | 3 | a; c (1 s), b (2 s) |" in told


def test_only_the_section_of_the_page_is_replaced(tmp_path: Path) -> None:
    old = f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n"
    assert table.put(old, table.shown(tmp_path)) == old.replace("old", "Not measured yet.")


def test_the_page_shows_the_stored_result() -> None:
    folder = Path(table.__file__).parents[1]
    page = (folder.parent / "docs/benchmarks.md").read_text(encoding="utf-8")
    assert table.shown(folder) in page


def test_every_package_of_pretix_is_locked_with_hashes_and_without_addresses() -> None:
    locked = installation.LOCK.read_text(encoding="utf-8")
    wanted = (installation.LOCK.parent / "pretix.in").read_text(encoding="utf-8").split()
    assert all(f"{each} \\" in locked for each in wanted)
    assert "://" not in locked


def test_a_step_runs_once_and_its_time_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "VENV", tmp_path)
    made = tmp_path / "made"
    first = installation.once("make a folder", ["mkdir", str(made)])
    again = installation.once("make a folder", ["mkdir", str(made)])
    assert (made.is_dir(), first) == (True, again)
    assert json.loads((tmp_path / installation.STEPS).read_text())["lock"]


def test_a_step_that_fails_says_why() -> None:
    with pytest.raises(SystemExit, match=r"Looking failed:\n.*missing"):
        installation.timed("Looking", ["ls", "missing"])
