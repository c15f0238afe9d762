"""The ledger as it is, read and written in steps so that no decision waits long."""

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any

from portal.backend import backend
from portal.ledger.function_library import prefix, translate_errors
from portal.recorder.consistency.fence import Command
from portal.recorder.consistency.ledger_image import (
    BY_NAME,
    TEXT,
    Entries,
    Keys,
    Shape,
    plain,
    split,
    stored,
)

KEYS_PER_STEP = 2000
# Per command: a function can pass on only some thousand arguments at once.
MEMBERS_PER_COMMAND = 1000
ARGUMENTS_PER_STEP = 2000

Step = tuple[int, Keys]  # the number of the last event, and the keys at that moment


def key_names(term: int) -> set[str]:
    """Return every key of the term, without its prefix."""
    at = f"{prefix(term)}:"
    with translate_errors():
        found = backend().ledger.redis(term).scan_iter(match=f"{at}*", count=KEYS_PER_STEP)
        return {name.decode()[len(at) :] for name in found}


def sections_of(term: int) -> set[int]:
    """Return the sections that the ledger lists."""
    with translate_errors():
        found = backend().ledger.redis(term).hkeys(f"{prefix(term)}:seats")
    return {int(section) for section in found}


def pools_of(term: int) -> set[int]:
    """Return the pools that the ledger lists."""
    with translate_errors():
        return {int(pool) for pool in backend().ledger.redis(term).hkeys(f"{prefix(term)}:pools")}


def students(term: int, sections: Iterable[int]) -> set[int]:
    """Return the students with a seat or a waitlist position in these sections."""
    at = prefix(term)
    with translate_errors(), backend().ledger.redis(term).pipeline(transaction=False) as pipe:
        for section in sections:
            pipe.hkeys(f"{at}:roster:{section}")
            pipe.zrange(f"{at}:queue:{section}", 0, -1)
        return {int(student) for found in pipe.execute() for student in found}


def read_keys(term: int, keys: Collection[str]) -> list[Step]:
    """Return these keys, each step read atomically; keys of the whole term come first."""
    first = [key for key in keys if ":" not in key or split(key)[0] == "aside"]
    steps = list(batches(sorted(set(keys) - set(first)), KEYS_PER_STEP)) or [[]]
    steps[0] = [*first, *steps[0]]
    return [_read_step(term, step) for step in steps]


def _read_step(term: int, keys: list[str]) -> Step:
    at = prefix(term)
    shapes = [BY_NAME[split(key)[0]].shape for key in keys]
    with translate_errors(), backend().ledger.redis(term).pipeline(transaction=True) as pipe:
        pipe.get(f"{at}:seq")
        for key, shape in zip(keys, shapes, strict=True):
            match shape:
                case "hash":
                    pipe.hgetall(f"{at}:{key}")
                case "set":
                    pipe.smembers(f"{at}:{key}")
                case "sorted set":
                    pipe.zrange(f"{at}:{key}", 0, -1, withscores=True)
                case "text":
                    pipe.get(f"{at}:{key}")
        seq, *replies = pipe.execute()
    found = zip(keys, shapes, replies, strict=True)
    return int(seq or 0), {key: _entries(shape, reply) for key, shape, reply in found}


def _entries(shape: Shape, reply: Any) -> Entries:
    match shape:
        case "hash":
            return {name.decode(): plain(value) for name, value in reply.items()}
        case "set":
            return {member.decode(): True for member in reply}
        case "sorted set":
            return {member.decode(): int(score) for member, score in reply}
        case "text":
            return {} if reply is None else {TEXT: plain(reply)}


def write_commands(name: str, shape: Shape, entries: Entries) -> Iterator[Command]:
    """Yield the commands that write a key that does not exist yet."""
    match shape:
        case "hash":
            yield from _pieces("HSET", name, ((each, stored(entries[each])) for each in entries))
        case "set":
            yield from _pieces("SADD", name, ((each,) for each in entries))
        case "sorted set":
            yield from _pieces("ZADD", name, ((entries[each], each) for each in entries))
        case "text":
            yield ["SET", name, stored(entries[TEXT])]


def _pieces(verb: str, name: str, members: Iterable[tuple[Any, ...]]) -> Iterator[Command]:
    for piece in batches(members, MEMBERS_PER_COMMAND):
        yield [verb, name, *(str(word) for member in piece for word in member)]


def command_steps(found: Iterable[Command]) -> Iterator[list[Command]]:
    """Yield the commands in order, in steps short enough not to delay decisions."""
    step: list[Command] = []
    arguments = 0
    for command in found:
        step.append(command)
        arguments += len(command)
        if arguments >= ARGUMENTS_PER_STEP:
            yield step
            step, arguments = [], 0
    if step:
        yield step


def batches(entries: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Yield the entries in order, `size` at a time."""
    entries = iter(entries)
    while batch := list(islice(entries, size)):
        yield batch
