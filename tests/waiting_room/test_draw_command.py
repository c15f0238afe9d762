"""`fairseat order TERM WINDOW` recomputes a draw, of the ledger or of the published text."""

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


def test_it_recomputes_what_the_ledger_has(term: Any, window: Any) -> None:
    done = command(term.id, window.id)
    assert done.output == "seed: OK\norder: OK\nrequests: 9\n"
    assert done.exit_code == 0


def test_it_recomputes_a_text_from_a_file_or_from_elsewhere(text: str, tmp_path: Path) -> None:
    (tmp_path / "order.txt").write_text(text)
    assert command("--text", tmp_path / "order.txt").exit_code == 0
    assert command("--text", "-", text=text).exit_code == 0


def test_it_ends_with_1_where_the_order_is_another(text: str) -> None:
    *head, one, two = text.split()
    done = command("--text", "-", text=" ".join([*head, two, one]))
    assert "order: does not follow from the seed" in done.output
    assert done.exit_code == 1


def test_it_ends_with_1_where_the_seed_is_another(text: str) -> None:
    seed = text.split()[3]
    done = command("--text", "-", text=text.replace(seed, "0" * 64))
    assert "seed: does not match its commitment" in done.output
    assert done.exit_code == 1


def test_it_says_so_where_the_text_is_none(tmp_path: Path) -> None:
    assert "This is no order." in command("--text", "-", text="# fingerprint a b").output
    assert command("--text", tmp_path / "none.txt").exit_code == 1


def test_it_wants_to_know_which(term: Any) -> None:
    assert command(term.id).exit_code == 2
