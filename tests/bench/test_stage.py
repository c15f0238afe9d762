"""What measurements run against."""

import sys
from pathlib import Path

import pytest

from bench import stage
from bench.site import by_turns
from portal.runtime.child_process import Child


def test_a_server_that_has_exited_is_not_waited_for(tmp_path: Path) -> None:
    def refused() -> None:
        raise ConnectionError

    gone = Child("gone", [sys.executable, "-c", "print('no port')"], tmp_path / "gone.log")
    gone.start()
    with pytest.raises(SystemExit, match="gone did not come up: no port"):
        stage.patiently(gone, refused, seconds=float("inf"))


def test_sides_change_places_with_each_run() -> None:
    order: list[str] = []

    def side(name: str) -> str:
        order.append(name)
        return name

    for run in range(2):
        ours, theirs = by_turns(run, lambda: side("ours"), lambda: side("theirs"))
        assert (ours, theirs) == ("ours", "theirs")
    assert order == ["ours", "theirs", "theirs", "ours"]
