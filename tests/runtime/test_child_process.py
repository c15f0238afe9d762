"""A child that ends is started again: at once, and later and later where it keeps dying young."""

import os
import sys
import time
from pathlib import Path

import pytest

from portal.runtime import child_process
from portal.runtime.child_process import LONGEST_WAIT_OF_SERVERS, YOUNG, Child, SupervisedChild


@pytest.fixture
def hopeless(tmp_path: Path) -> SupervisedChild:
    """A child that ends as soon as it is started."""
    return SupervisedChild(Child("hopeless", [sys.executable, "-S", "-c", ""], tmp_path / "log"))


def ended(kept: SupervisedChild) -> None:
    assert kept.child.process
    kept.child.process.wait()
    kept.check()


def test_it_comes_back_at_once(hopeless: SupervisedChild) -> None:
    hopeless.start()
    ended(hopeless)
    assert hopeless.due
    assert hopeless.due <= time.monotonic()


def waits(hopeless: SupervisedChild, *seconds: int) -> None:
    """See that it is left alone for so long after each of its ends."""
    for each in seconds:
        hopeless.start()
        before = time.monotonic()
        ended(hopeless)
        assert hopeless.due
        least, most = hopeless.due - time.monotonic(), hopeless.due - before
        assert least - 0.001 <= each <= most + 0.001


def test_it_is_left_alone_only_when_it_has_died_young_several_times(
    hopeless: SupervisedChild, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRSEAT_LOG", "text")
    waits(hopeless, 0, 0, 0, 1, 2, 4, 8, 16, 30)
    assert "hopeless ended (status 0); starting it again in 8 s." in capsys.readouterr().out


def test_a_server_for_which_all_else_waits_is_never_left_alone_for_long(
    hopeless: SupervisedChild,
) -> None:
    hopeless.longest_wait = LONGEST_WAIT_OF_SERVERS
    waits(hopeless, 0, 0, 0, 1, 2, 4, 5, 5)


def test_it_is_forgiven_once_it_has_lived(hopeless: SupervisedChild) -> None:
    hopeless.failures = 5
    hopeless.start()
    hopeless.started -= YOUNG
    ended(hopeless)
    assert hopeless.failures == 0
    assert hopeless.due
    assert hopeless.due <= time.monotonic()


def test_one_that_can_not_be_started_is_tried_again(
    hopeless: SupervisedChild, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRSEAT_LOG", "text")
    log, hopeless.child.log = hopeless.child.log, Path("/dev/full/log")
    hopeless.due = time.monotonic()
    hopeless.check()
    assert "hopeless can't be started (File exists); starting it again now." in (
        capsys.readouterr().out
    )
    hopeless.child.log = log
    hopeless.check()
    ended(hopeless)


def test_an_error_shows_only_the_output_since_the_last_start(tmp_path: Path) -> None:
    child = Child("x", [sys.executable, "-S", "-c", "print('new')"], tmp_path / "log")
    child.log.write_text("old\n")
    child.start()
    assert child.process
    child.process.wait()
    assert child.last_output() == "new"
    assert child.log.read_text() == "old\nnew\n"


def test_a_long_log_is_put_aside_while_its_process_writes_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_process, "LOG_LIMIT", 3)
    read, write = os.pipe()
    code = f"import os\nwhile os.read({read}, 1): os.write(1, b'line\\n')"
    command = [sys.executable, "-S", "-c", code]
    kept = SupervisedChild(Child("x", command, tmp_path / "log", keep_open=(read,)))
    kept.start()
    for _ in range(child_process.OLD_LOGS + 2):
        os.write(write, b"1")
        while not kept.child.log.stat().st_size:
            time.sleep(0.01)
        kept.check()
    assert kept.child.log.read_text() == ""
    old = sorted(each.name for each in tmp_path.iterdir())
    assert old == ["log", *(f"log.{number}" for number in range(1, child_process.OLD_LOGS + 1))]
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in old} == {0o600}
    assert {(tmp_path / name).read_text() for name in old[1:]} == {"line\n"}
    os.close(write)
    os.close(read)
    kept.child.stop()
