"""A child that ends is started again: at once the first time, then later and later."""

import sys
import time
from pathlib import Path

import pytest

from portal.running.children import Child
from portal.running.kept import Kept


@pytest.fixture
def hopeless(tmp_path: Path) -> Kept:
    """A child that ends as soon as it is started."""
    return Kept(Child("hopeless", [sys.executable, "-S", "-c", ""], tmp_path / "log"))


def ended(kept: Kept) -> None:
    assert kept.child.process
    kept.child.process.wait()
    kept.look_after()


def test_it_comes_back_at_once(hopeless: Kept) -> None:
    hopeless.start()
    ended(hopeless)
    assert hopeless.due
    assert hopeless.due <= time.monotonic()


def test_it_waits_longer_each_time_it_fails_at_its_start(
    hopeless: Kept, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRSEAT_LOG", "text")
    waits = []
    for _ in range(4):
        hopeless.start()
        ended(hopeless)
        assert hopeless.due
        waits.append(round(hopeless.due - time.monotonic()))
    assert waits == [0, 2, 4, 8]
    assert "hopeless ended (status 0); starting it again in 8 s." in capsys.readouterr().out


def test_it_is_forgiven_once_it_has_lived(hopeless: Kept) -> None:
    hopeless.failures = 5
    hopeless.start()
    hopeless.started -= 60
    ended(hopeless)
    assert hopeless.failures == 0
