"""One description covers the whole ledger: every difference from it is found and repaired."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson
import pytest
from click.testing import CliRunner
from redis.exceptions import ResponseError
from sqlalchemy import delete, select

from portal.backend import Backend, backend
from portal.core.db import transaction
from portal.ledger import function_library, types
from portal.ledger.function_library import prefix
from portal.ledger.types import SectionSpec
from portal.recorder import idempotency
from portal.recorder.consistency import continuous_audit, ledger_keys
from portal.recorder.consistency.audit import audit_term
from portal.recorder.consistency.differences import Difference
from portal.recorder.consistency.ledger_image import BY_NAME, KINDS, NOT_IN_LOG, Kind, split
from portal.recorder.consistency.restore import restore
from portal.recorder.models import StoredAnswer
from portal.runtime.commands.consistency import repair_command
from tests.recorder import full_term
from tests.recorder.ledger_dump import dump
from tests.recorder.rush import Rush, a_rush, claim, spec

STRANGER = 999_999


@pytest.fixture
def full(backend: Backend) -> tuple[Rush, full_term.Answered]:  # noqa: ARG001
    return full_term.a_term_with_everything()


@pytest.fixture
def rush(full: tuple[Rush, full_term.Answered]) -> Rush:
    return full[0]


def found(rush: Rush) -> set[tuple[str, str]]:
    """Return where a full audit finds differences; the continuous audit finds the same."""
    differences = audit_term(rush.term)["differences"]
    assert places(continuous_audit.audit_next_part(rush.term)) == places(differences)
    return places(differences)


def places(differences: list[Difference]) -> set[tuple[str, str]]:
    return {(each["where"], each["what"]) for each in differences}


def repair(rush: Rush) -> None:
    result = CliRunner().invoke(repair_command, ["--yes"])
    assert result.exit_code == 0, result.output
    assert audit_term(rush.term)["clean"]


# Changes in the ledger --------------------------------------------------------------------------


@dataclass(frozen=True)
class Key:
    """A key of the ledger."""

    term: int
    kind: Kind
    name: str

    @property
    def full(self) -> str:
        return f"{prefix(self.term)}:{self.name}"

    def entries(self) -> dict[str, Any]:
        """Return its entries as they are stored."""
        redis: Any = backend().redis
        match self.kind.shape:
            case "hash":
                return {each.decode(): value for each, value in redis.hgetall(self.full).items()}
            case "set":
                return {each.decode(): None for each in redis.smembers(self.full)}
            case "sorted set":
                stored = redis.zrange(self.full, 0, -1, withscores=True)
                return {each.decode(): score for each, score in stored}
            case _:
                return {"value": redis.get(self.full)}

    def put(self, entry: str, value: Any) -> None:
        redis = backend().redis
        match self.kind.shape:
            case "hash":
                redis.hset(self.full, entry, value)
            case "set":
                redis.sadd(self.full, entry)
            case "sorted set":
                redis.zadd(self.full, {entry: value})
            case _:
                redis.set(self.full, value)

    def remove(self, entry: str) -> None:
        redis = backend().redis
        match self.kind.shape:
            case "hash":
                redis.hdel(self.full, entry)
            case "set":
                redis.srem(self.full, entry)
            case "sorted set":
                redis.zrem(self.full, entry)
            case _:
                redis.delete(self.full)

    def difference_key(self, entry: str) -> tuple[str, str]:
        """Return where a difference in an entry is found."""
        _, number = split(self.name)
        entry = "value" if self.kind.shape == "text" else entry
        return f"ledger {self.kind.name}", self.kind.describe(number, entry)


def keys_of(rush: Rush, kind: Kind) -> list[Key]:
    """Return the keys of a kind, those with the most entries first."""
    names = ledger_keys.key_names(rush.term)
    keys = [Key(rush.term, kind, name) for name in sorted(names) if split(name)[0] == kind.name]
    assert keys, f"the term has no {kind.name}: add it to full_term.py"
    return sorted(keys, key=lambda key: -len(key.entries()))


def another(value: Any) -> Any:
    """Return another value of the same form."""
    if isinstance(value, float):
        return value + 1
    try:
        result = orjson.loads(value)
    except orjson.JSONDecodeError:
        return value + b"7"
    match result:
        case dict():
            return orjson.dumps(result | {"made up": 1})
        case [int(first), *rest]:
            return orjson.dumps([first + 1, *rest])
        case list():
            return orjson.dumps([*result, 1])
        case _:
            return result + 1


def changes(_rush: Rush, key: Key) -> Iterator[str]:
    """Give each entry another value, one at a time."""
    for entry, value in key.entries().items() if key.kind.shape != "set" else ():
        key.put(entry, another(value))
        yield entry
        key.put(entry, value)


def losses(_rush: Rush, key: Key) -> Iterator[str]:
    """Remove an entry."""
    entry, value = min(key.entries().items())
    key.remove(entry)
    yield entry
    key.put(entry, value)


def strays(rush: Rush, key: Key) -> Iterator[str]:
    """Add an entry without an event."""
    if key.kind.shape == "text":
        return
    empty = rush.sections[7]
    new = {"student": f"e:{empty}", "drops": "1999-12-31", "section": "colour", "seats": STRANGER}
    entry = str(new.get(key.kind.name, empty if key.kind.entry == "section" else STRANGER))
    key.put(entry, next(iter(key.entries().values())))
    yield entry
    key.remove(entry)


def stray_keys(rush: Rush, key: Key) -> Iterator[str]:
    """Add a key without an event."""
    if key.kind.per:
        name = f"{prefix(rush.term)}:{key.kind.name}:{STRANGER}"
        backend().redis.copy(key.full, name)
        yield next(iter(key.entries()))
        backend().redis.delete(name)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_difference_in_any_kind_of_key_is_found(rush: Rush, kind: Kind) -> None:
    key = keys_of(rush, kind)[0]
    for entry in changes(rush, key):
        assert found(rush) == {key.difference_key(entry)}
    for entry in losses(rush, key):
        # Only the counts show who was set aside.
        assert found(rush) == (
            of_counts(key) if kind.name == "aside" else {key.difference_key(entry)}
        )
    for entry in strays(rush, key):
        assert found(rush) == (set() if kind.extras_allowed else {key.difference_key(entry)})
    for _ in stray_keys(rush, key):
        differences = audit_term(rush.term)["differences"]
        assert {each["where"] for each in differences} == {f"ledger {kind.name}"}
    assert found(rush) == set()


def of_counts(key: Key) -> set[tuple[str, str]]:
    """Return where it shows that a student of that section is no longer set aside."""
    section = split(key.name)[1]
    return {(f"ledger {where}", f"section {section}") for where in ("seats", "vacant")}


@pytest.mark.parametrize("tamper", [changes, losses, strays, stray_keys])
def test_differences_in_all_kinds_of_keys_are_repaired(
    rush: Rush, tamper: Callable[[Rush, Key], Iterator[str]]
) -> None:
    before = dump(rush.term)
    hands = [tamper(rush, keys_of(rush, kind)[0]) for kind in KINDS]
    touched = [next(each, None) for each in hands]
    assert any(touched)
    assert not audit_term(rush.term)["clean"]
    repair(rush)
    assert dump(rush.term) == before


def test_student_missing_in_the_read_models_is_compared(rush: Rush) -> None:
    own = f"{prefix(rush.term)}:student:{rush.students[7]}"
    backend().redis.hset(own, f"e:{rush.sections[0]}", "300")
    assert [each["what"] for each in audit_term(rush.term)["differences"]] == [
        f"student {rush.students[7]}, e:{rush.sections[0]}"
    ]


def test_every_kind_of_key_is_described(rush: Rush) -> None:
    names = ledger_keys.key_names(rush.term)
    assert {split(name)[0] for name in names} - NOT_IN_LOG == BY_NAME.keys()
    backend().redis.hset(f"{prefix(rush.term)}:novelty:1", "a", 1)
    (difference,) = audit_term(rush.term)["differences"]
    assert (difference["where"], difference["what"]) == ("ledger key", "novelty:1")
    repair(rush)


# Answers under idempotency keys -----------------------------------------------------------------


@pytest.fixture
def answer(full: tuple[Rush, full_term.Answered]) -> full_term.Answered:
    return full[1]


def stored(rush: Rush, answer: full_term.Answered) -> str:
    return idempotency.answer_key(rush.term, answer.student, answer.key)


def lose(name: str) -> None:
    backend().redis.delete(name)


def change(name: str) -> None:
    backend().redis.set(name, b'{"content":"x","answer":{}}', keepttl=True)


@pytest.mark.parametrize("tamper", [lose, change])
def test_stored_answer_is_compared_and_repaired(
    rush: Rush, answer: full_term.Answered, tamper: Callable[[str], None]
) -> None:
    before = dump(rush.term)
    tamper(stored(rush, answer))
    assert found(rush) == {("ledger request", f"student {answer.student}, key {answer.key}")}
    repair(rush)
    assert dump(rush.term) == before
    assert claim(rush, answer.student, answer.section, answer.key).replayed


def test_forged_answer_is_found_by_a_full_audit(rush: Rush, answer: full_term.Answered) -> None:
    forged = idempotency.answer_key(rush.term, answer.student, "a:forged:key")
    backend().redis.copy(stored(rush, answer), forged)
    assert places(audit_term(rush.term)["differences"]) == {
        ("ledger request", f"student {answer.student}, key a:forged:key")
    }
    repair(rush)
    assert not backend().redis.exists(forged)


def test_lost_recorded_answer_is_recorded_again(rush: Rush, answer: full_term.Answered) -> None:
    with transaction() as session:
        session.execute(delete(StoredAnswer))
    before = dump(rush.term)
    assert places(audit_term(rush.term)["differences"]) == {
        ("answered", f"student {answer.student}, key {answer.key}")
    }
    repair(rush)
    assert dump(rush.term) == before
    with transaction() as session:
        assert session.scalars(select(StoredAnswer.idempotency_key)).all() == [answer.key]


# The settings of a section ----------------------------------------------------------------------


@dataclass(frozen=True)
class Wider(SectionSpec):
    """A section with an unknown field."""

    colours: tuple[str, ...] = ("red", "blue")


@pytest.fixture
def widened(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rush]:
    """Return a term of a portal whose sections have one more field."""
    rush = a_rush(sections=1, students=1)
    facts = (*types.SECTION_FIELDS, "colours")
    monkeypatch.setattr(types, "SECTION_FIELDS", facts)
    functions = backend.ledger.library
    before = functions.code
    functions.code = function_library.ledger_code(types.LUA_CONSTANTS | {"FIELDS": facts})
    functions.load()
    yield rush
    functions.code = before
    functions.load()


def test_new_section_field_is_compared_repaired_and_rebuilt(widened: Rush) -> None:
    redis, section = backend().redis, widened.sections[0]
    key = f"{prefix(widened.term)}:section:{section}"

    def colours() -> Any:
        return orjson.loads(redis.hget(key, "colours") or b"0")

    wider = Wider(**vars(spec(section, version=2)), colours=("green", "gold"))
    backend().ledger.put_section(widened.term, wider)
    assert colours() == ["green", "gold"]
    redis.hset(key, "colours", "[]")
    assert found(widened) == {("ledger section", f"section {section}, colours")}
    repair(widened)
    assert colours() == ["green", "gold"]
    redis.delete(key)
    restore(widened.term)
    assert colours() == ["green", "gold"]


def test_section_without_a_described_field_is_refused(widened: Rush) -> None:
    with pytest.raises(ResponseError):
        backend().ledger.put_section(widened.term, spec(widened.sections[0], version=2))


def test_ledger_stores_the_described_fields_of_a_section(rush: Rush) -> None:
    fields = backend().redis.hkeys(f"{prefix(rush.term)}:section:{rush.sections[0]}")
    assert {each.decode() for each in fields} == {
        *types.SECTION_FIELDS,
        "version",
        "pool",
        "reserves",
    }
