"""Changes that wait for each other: who goes round together, and who waits in vain."""

from portal.exchange.importing.seating.moves import Move, Old
from portal.exchange.importing.seating.rings import find


def moves(text: str, pools: dict[str, int] | None = None) -> list[Move]:
    """Changes of the students 1, 2 and so on, such as `AB` from A to B, or `-B` into B alone."""
    return [
        move(number, each[0], each[1], pools or {}) for number, each in enumerate(text.split(), 1)
    ]


def move(number: int, out: str, into: str, pools: dict[str, int]) -> Move:
    old = Old(100 + number, "", 0, "", ord(out), pools.get(out)) if out != "-" else None
    return Move(number, False, "", 0, "", 1, ord(into), pools.get(into), number, None, old)  # noqa: FBT003


def found(waiting: list[Move], shut: set[tuple[int, int]] | None = None) -> tuple[object, object]:
    """The numbers of those in each ring, and of those who wait in vain."""
    both = find(waiting, shut or set())
    rings = sorted(sorted(each.id for each in ring) for ring in both.rings)
    return rings, sorted(each.id for each in both.vain)


def test_each_in_a_ring_leaves_what_the_one_before_enters() -> None:
    [ring] = find(moves("AB CA BC"), set()).rings
    after = [*ring[1:], ring[0]]
    assert [each.section for each in ring] == [each.old and each.old.section for each in after]


def test_rings_are_found_side_by_side() -> None:
    assert found(moves("AB BA AB BA CD DC")) == ([[1, 2], [3, 4], [5, 6]], [])


def test_who_would_have_the_seat_of_nobody_waits_in_vain_and_so_do_those_behind() -> None:
    assert found(moves("AB BC CD -A")) == ([], [1, 2, 3, 4])


def test_who_is_behind_a_ring_may_still_hope() -> None:
    assert found(moves("CA AB BA")) == ([[2, 3]], [])


def test_whoever_has_two_ways_takes_the_one_that_comes_back() -> None:
    assert found(moves("AB BC BA")) == ([[1, 3]], [2])


def test_who_can_not_have_the_seat_of_one_takes_that_of_another() -> None:
    waiting = moves("AB BA BA")
    assert found(waiting, {(1, 2)}) == ([[1, 3]], [])
    assert found(waiting, {(1, 2), (1, 3)})[0] == []


def test_a_seat_of_a_pool_is_left_by_whoever_leaves_any_of_its_sections() -> None:
    assert found(moves("AB CA")) == ([], [1, 2])
    assert found(moves("AB CA", {"B": 8, "C": 8})) == ([[1, 2]], [])


def test_nobody_has_the_seat_that_is_the_own_one() -> None:
    assert found(moves("BC", {"B": 8, "C": 8})) == ([], [1])
    assert found(moves("BC CB", {"B": 8, "C": 8})) == ([[1, 2]], [])
