"""Keys as the commands that write them into the ledger, in steps that hold nobody up for long."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from portal.recorder.fence import Command
from portal.recorder.ledger_image import TEXT, Entries, Shape, stored

MEMBERS = 1000  # of a command: a function can pass on some thousand words at once
AT_ONCE = 2000  # words of a step


def commands(name: str, shape: Shape, entries: Entries) -> Iterator[Command]:
    """What writes a key where there is none."""
    match shape:
        case "hash":
            yield from _pieces("HSET", name, ((each, stored(entries[each])) for each in entries))
        case "set":
            yield from _pieces("SADD", name, ((each,) for each in entries))
        case "sorted set":
            yield from _pieces("ZADD", name, ((entries[each], each) for each in entries))
        case "text":
            yield ["SET", name, stored(entries[TEXT])]


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
