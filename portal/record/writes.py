"""Values as the commands that write them into the ledger, in steps that hold nobody up for long."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from portal.record.fence import Command
from portal.record.inscription import Ordered, Value

MEMBERS = 1000  # of a command: a function can pass on some thousand words at once
AT_ONCE = 2000  # words of a step


def commands(name: str, value: Value) -> Iterator[Command]:
    """What writes a value where there is none."""
    match value:
        case str():
            yield ["SET", name, value]
        case frozenset():
            yield from _pieces("SADD", name, ((each,) for each in value))
        case Ordered(scores):
            yield from _pieces("ZADD", name, ((score, each) for each, score in scores.items()))
        case _:
            yield from _pieces("HSET", name, value.items())


def steps(found: Iterable[Command]) -> Iterator[list[Command]]:
    """The commands, in order, some at a time."""
    step: list[Command] = []
    words = 0
    for command in found:
        step.append(command)
        words += len(command)
        if words >= AT_ONCE:
            yield step
            step, words = [], 0
    if step:
        yield step


def batches(entries: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """The entries, in order, as many at a time."""
    entries = iter(entries)
    while batch := list(islice(entries, size)):
        yield batch


def _pieces(verb: str, name: str, members: Iterable[tuple[Any, ...]]) -> Iterator[Command]:
    for piece in batches(members, MEMBERS):
        yield [verb, name, *(str(word) for member in piece for word in member)]
