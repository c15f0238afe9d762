"""The Redis functions of the ledger: loaded if missing or different, and called."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from redis import Redis
from redis.exceptions import (
    BusyLoadingError,
    ClusterError,
    MovedError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import TimeoutError as LateReply

from portal.core import traces
from portal.core.batching import Batcher
from portal.core.ledger_servers import UNSERVED, Servers
from portal.core.metrics import DECISION_TIME
from portal.ledger import replicas
from portal.ledger.errors import LedgerSilent, LedgerUnavailable
from portal.ledger.types import LUA_CONSTANTS

FUNCTIONS = Path(__file__).with_name("functions")
# In this order: later files use earlier ones.
PARTS = (
    "term",
    "reserves",
    "pools",
    "refusals",
    "events",
    "idempotency",
    "submissions",
    "drops_and_waitlists",
    "adjustments",
    "adjustment_batch",
    "sections_and_windows",
    "rounds",
    "rate_limit",
    "entry_points",
    "fence",
)
NO_REPLY = (LostConnection, LateReply)  # no answer came
UNAVAILABLE = (*NO_REPLY, *UNSERVED, ReadOnlyError, OutOfMemoryError, ClusterError)
# On its own, or as the error of a command in a pipeline.
CANNOT_WRITE = re.compile(r"(?:^|caused error: )(?:NOREPLICAS|MISCONF|MASTERDOWN|FENCED|BUSY)\b")


def join_files(folder: Path, parts: Sequence[str]) -> str:
    """Return the files joined into the text that a server loads."""
    return "\n".join((folder / f"{part}.lua").read_text(encoding="utf-8") for part in parts)


def ledger_code(constants: Mapping[str, Any] = LUA_CONSTANTS) -> str:
    """Return the code of the ledger's functions, which begins with the constants of Python."""
    name, rest = join_files(FUNCTIONS, PARTS).split("\n", 1)
    given = (f"local {constant} = {_in_lua(value)}" for constant, value in constants.items())
    return "\n".join((name, *given, rest))


def _in_lua(value: int | frozenset[str] | tuple[str, ...]) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, frozenset):
        members = [f"{each} = true" for each in sorted(value)]
    else:
        members = [f'"{each}"' for each in value]
    return f"{{ {', '.join(members)} }}"


CODE = ledger_code()


def prefix(term: int) -> str:
    """Return the prefix of a term's keys; the braces keep them in one slot of a cluster."""
    return f"{{t:{term}}}"


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise LedgerUnavailable in this block if the server cannot be reached."""
    try:
        yield
    except UNAVAILABLE as error:
        raise LedgerUnavailable(str(error)) from error
    except ResponseError as error:
        if CANNOT_WRITE.search(str(error)):
            raise LedgerUnavailable(str(error)) from error
        raise


@dataclass(eq=False)
class Call:
    """A call of a function, and whether it may have been done without its caller knowing."""

    command: str  # FCALL or FCALL_RO
    function: str
    prefix: str
    payload: str
    may_be_done: bool = False


@dataclass
class RoundTrip:
    """Calls that are sent together."""

    calls: Sequence[Call]
    replicas: int = 0  # replicas that must have the decisions before their answers count

    def send(self, redis: Redis) -> list[Any]:
        """Return the server's raw replies. The error of a function is the reply to its call."""
        pool: Any = redis.connection_pool
        # It is connected now or has raised: nothing was sent.
        connection: Any = pool.get_connection()
        replies: list[Any] = []
        try:
            self._send_on(connection, pool, replies)
        except BaseException:
            self.note_done([*replies, *self.calls[len(replies) :]])
            raise
        finally:
            pool.release(connection)
        return replies[: len(self.calls)]

    def note_done(self, replies: Sequence[Any]) -> None:
        """Note which calls may have been done: all but those with an error as their reply."""
        for call, reply in zip(self.calls, replies, strict=False):
            call.may_be_done |= not isinstance(reply, RedisError)

    def _send_on(self, connection: Any, pool: Any, replies: list[Any]) -> None:
        behind = replicas.behind(pool, self.replicas)
        commands = [(it.command, it.function, 1, it.prefix, it.payload) for it in self.calls]
        connection.send_packed_command(connection.pack_commands([*commands, *behind]))
        for _ in (*commands, *behind):  # those before an error are kept
            replies.append(_answer(connection))  # noqa: PERF401
        for each in replies:
            if isinstance(each, BusyLoadingError):
                raise each
        done = not all(isinstance(each, ResponseError) for each in replies[: len(commands)])
        if behind and done:
            try:
                others = replies[len(commands) :]
                replicas.check(others, self.replicas, pool, pool.server_of(connection))
            except replicas.TooFewReplicas:
                connection.mark_for_reconnect()  # another server may be the primary now
                raise


def _answer(connection: Any) -> Any:
    """Return the next reply; a server error is a reply too, and others may follow it."""
    try:
        return connection.read_response(disconnect_on_error=False)
    except (ResponseError, BusyLoadingError) as error:
        return error
    except BaseException:
        connection.disconnect()
        raise


def _not_here(reply: Any) -> bool:
    """Return whether another server is the primary now, or this one restarted without functions."""
    return isinstance(reply, (ReadOnlyError, MovedError)) or (
        isinstance(reply, ResponseError) and "Function not found" in str(reply)
    )


class FunctionLibrary:
    """Loads the functions at startup, or at the first call if the ledger was unavailable.

    Each primary of a cluster has them: a term may move to any. An answer counts once as many
    `replicas` have the decision. Calls of the same moment that are safe to repeat share a round
    trip.
    """

    def __init__(
        self, servers: Servers, name: str = "fairseat", code: str = CODE, *, replicas: int = 0
    ) -> None:
        self.servers = servers
        self.replicas = replicas
        self.name = name
        self.code = code
        self._loaded: set[Redis] = set()
        self._batchers: dict[tuple[Redis, str], Batcher[Call, Any]] = {}
        with suppress(LedgerUnavailable), translate_errors():
            self.load()

    def load(self) -> None:
        """Load the code into every primary."""
        for primary in self.servers.primaries():
            self._load_into(primary.redis)

    def _load_into(self, redis: Redis) -> None:
        """Load the code unless this version is there; many processes may do so at once."""
        name, rest = self.code.split("\n", 1)
        code = f'{name}\nlocal PUBLISH = "{self.servers.publish}"\n{rest}'
        libraries = redis.function_list(library=self.name, withcode=True)
        if not any(code.encode() in library for library in libraries):
            redis.function_load(code, replace=True)
        self._loaded.add(redis)

    def ask(self, op: str, term: int, payload: dict[str, Any], *, again: bool = False) -> Any:
        """Return the reply to a decision; `again` says that asking twice is safe.

        Raises LedgerSilent if the decision may have been made without an answer.
        """
        call, redis = self._call("FCALL", op, term, payload), self.servers.of(prefix(term))
        name = f"{self.name} {op}"
        with _outcome_of([call]), DECISION_TIME.labels(name).time(), traces.span(name):
            # Only these are shared: if an answer is lost, all are sent again.
            return _decoded(self._share(redis, call) if again else self._send(redis, [call])[0])

    def read(self, op: str, term: int, payload: dict[str, Any]) -> Any:
        """Return the reply of a function that changes nothing."""
        call, redis = self._call("FCALL_RO", op, term, payload), self.servers.of(prefix(term))
        with traces.span(f"{self.name} {op}"):
            return _decoded(self._share(redis, call))

    def ask_all(self, op: str, term: int, payloads: Sequence[dict[str, Any]]) -> list[Any]:
        """Return the replies to many decisions that are safe to repeat, in one round trip.

        Raises LedgerSilent as `ask` does.
        """
        if not payloads:
            return []
        calls = [self._call("FCALL", op, term, each) for each in payloads]
        with _outcome_of(calls), traces.span(f"{self.name} {op}"):
            replies = self._send(self.servers.of(prefix(term)), calls, again=True)
            return [_decoded(each) for each in replies]

    def _call(self, command: str, op: str, term: int, payload: dict[str, Any]) -> Call:
        return Call(command, f"{self.name}_{op}", prefix(term), encode(payload))

    def _share(self, redis: Redis, call: Call) -> Any:
        """Return the raw reply to a call that is sent with others of the same moment."""
        key = redis, call.command
        if not (batcher := self._batchers.get(key)):
            send = partial(self._send, redis, again=True)
            batcher = self._batchers.setdefault(key, Batcher(send))
        return batcher(call)

    def _send(self, redis: Redis, calls: Sequence[Call], *, again: bool = False) -> list[Any]:
        """Return the raw replies; `again` says that sending twice is safe."""
        writes = calls[0].command == "FCALL"
        trip = RoundTrip(calls, self.replicas if writes else 0)
        with translate_errors():
            try:
                return self._load_and_send(redis, trip)
            except NO_REPLY:
                if not again:
                    raise
                return self._load_and_send(redis, trip)

    def _load_and_send(self, redis: Redis, trip: RoundTrip) -> list[Any]:
        if redis not in self._loaded:
            self._load_into(redis)
        replies = trip.send(redis)
        if any(map(_not_here, replies)):
            trip.note_done(replies)
            self._load_into(redis)
            replies = trip.send(redis)
        return replies


@contextmanager
def _outcome_of(calls: Sequence[Call]) -> Iterator[None]:
    """Raise LedgerSilent, not LedgerUnavailable, in this block if a call may have been done."""
    try:
        yield
    except LedgerUnavailable as error:
        if any(call.may_be_done for call in calls):
            raise LedgerSilent(str(error)) from error.__cause__
        raise


def _decoded(reply: Any) -> Any:
    """Return what a function answered; raise its error."""
    if isinstance(reply, ResponseError):
        with translate_errors():
            raise reply
    return orjson.loads(reply)


def encode(payload: dict[str, Any]) -> str:
    """Return JSON for the ledger."""
    return orjson.dumps(without_none(payload)).decode()


def without_none(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are not None: the ledger knows no null."""
    return {name: value for name, value in fields.items() if value is not None}
