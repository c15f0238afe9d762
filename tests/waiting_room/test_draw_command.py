"""`fairseat order TERM WINDOW` checks a draw, from the ledger or from the published text."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from portal.runtime.cli import main
from portal.waiting_room import draw
from tests import cast as builders
from tests.waiting_room.conftest import Enter


def command(*arguments: object, text: str = "") -> Result:
    return CliRunner().invoke(main, ["order", *map(str, arguments)], input=text)


@pytest.fixture
def window(term: Any, enter: Enter) -> Any:
    found = builders.a_coming_window(term)
    for student in range(1, 10):
        enter(found, student)
    return found


@pytest.fixture
def text(term: Any, window: Any) -> str:
    return draw.published(term.id, window.id, opened=True).text


def test_command_checks_the_ledgers_draw(term: Any, window: Any) -> None:
    done = command(term.id, window.id)
    assert done.output == "seed: OK\norder: OK\nrequests: 9\n"
    assert done.exit_code == 0


def test_command_checks_a_text_from_a_file_or_address(text: str, tmp_path: Path) -> None:
    (tmp_path / "order.txt").write_text(text)
    assert command("--text", tmp_path / "order.txt").exit_code == 0
    assert command("--text", "-", text=text).exit_code == 0


def test_command_exits_with_1_if_the_order_differs(text: str) -> None:
    *head, one, two = text.split()
    done = command("--text", "-", text=" ".join([*head, two, one]))
    assert "order: does not follow from the seed" in done.output
    assert done.exit_code == 1


def test_command_exits_with_1_if_the_seed_differs(text: str) -> None:
    seed = text.split()[3]
    done = command("--text", "-", text=text.replace(seed, "0" * 64))
    assert "seed: does not match its commitment" in done.output
    assert done.exit_code == 1


def test_command_reports_an_invalid_text(tmp_path: Path) -> None:
    assert "This is no order." in command("--text", "-", text="# fingerprint a b").output
    assert command("--text", tmp_path / "none.txt").exit_code == 1


def test_command_needs_a_window(term: Any) -> None:
    assert command(term.id).exit_code == 2
