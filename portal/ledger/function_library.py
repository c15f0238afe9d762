"""The Redis functions of the ledger: loaded if missing or different, and called."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import orjson
from redis import Redis
from redis.exceptions import (
    BusyLoadingError,
    ClusterError,
    MovedError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
)
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import TimeoutError as LateReply

from portal.core import traces
from portal.core.ledger_servers import UNSERVED, Servers
from portal.core.metrics import DECISION_TIME
from portal.ledger import replicas
from portal.ledger.errors import LedgerSilent, LedgerUnavailable
from portal.ledger.types import COUNTS, NOT_OVERRIDABLE, SECTION_FIELDS

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
CANNOT_WRITE = re.compile(r"(?:^|caused error: )(?:NOREPLICAS|MISCONF|MASTERDOWN|FENCED)\b")

Reply = TypeVar("Reply")


def join_files(folder: Path, parts: Sequence[str]) -> str:
    """Return the files joined into the text that a server loads."""
    return "\n".join((folder / f"{part}.lua").read_text(encoding="utf-8") for part in parts)


def ledger_code(section_fields: Sequence[str] = SECTION_FIELDS) -> str:
    """Return the code of the ledger's functions, with the lists that Python hands to them."""
    name, rest = join_files(FUNCTIONS, PARTS).split("\n", 1)
    listed = ", ".join(f'"{each}"' for each in section_fields)
    codes = ", ".join(f"{each} = true" for each in sorted(NOT_OVERRIDABLE))
    names = ", ".join(each.upper() for each in COUNTS)
    places = ", ".join(str(place) for place, _name in enumerate(COUNTS, start=1))
    lists = (
        f"local FIELDS = {{ {listed} }}\nlocal NOT_OVERRIDABLE = {{ {codes} }}"
        f"\nlocal {names} = {places}"
    )
    return f"{name}\n{lists}\n{rest}"


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


@dataclass
class FunctionCall:
    """A request for a decision, and whether it was sent once without an answer."""

    arguments: tuple[str, int, str, str]
    replicas: int = 0  # replicas that must have the decision before its answer counts
    unanswered: bool = False

    def send(self, redis: Redis) -> Any:
        """Return the server's raw reply."""
        pool: Any = redis.connection_pool
        # It is connected now or has raised: nothing was sent.
        connection: Any = pool.get_connection()
        try:
            return self._send_on(connection, pool)
        except BusyLoadingError:
            raise  # an answer: nothing was done
        except NO_REPLY:
            self.unanswered = True
            raise
        finally:
            pool.release(connection)

    def _send_on(self, connection: Any, pool: Any) -> Any:
        behind = replicas.behind(pool, self.replicas)
        commands = [("FCALL", *self.arguments), *behind]
        connection.send_packed_command(connection.pack_commands(commands))
        reply, *others = [_answer(connection) for _ in range(1 + len(behind))]
        if isinstance(reply, ResponseError):
            raise reply
        if others:
            try:
                replicas.check(others, self.replicas, pool, pool.server_of(connection))
            except replicas.TooFewReplicas:
                connection.mark_for_reconnect()  # another server may be the primary now
                raise
        return reply


def _answer(connection: Any) -> Any:
    """Return the next reply; a server error is a reply too, and others may follow it."""
    try:
        return connection.read_response()
    except ResponseError as error:
        return error


class FunctionLibrary:
    """Loads the functions at startup, or at the first call if the ledger was unavailable.

    Each primary of a cluster has them: a term may move to any. An answer counts once as many
    `replicas` have the decision.
    """

    def __init__(
        self, servers: Servers, name: str = "fairseat", code: str = CODE, *, replicas: int = 0
    ) -> None:
        self.servers = servers
        self.replicas = replicas
        self.name = name
        self.code = code
        self._loaded: set[Redis] = set()
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
        arguments = (f"{self.name}_{op}", 1, prefix(term), encode(payload))
        call, redis = FunctionCall(arguments, self.replicas), self.servers.of(prefix(term))
        try:
            name = f"{self.name} {op}"
            with DECISION_TIME.labels(name).time(), traces.span(name):
                reply = self._send_once_or_twice(redis, call.send, again=again)
            return orjson.loads(reply)
        except LedgerUnavailable as error:
            if call.unanswered:
                raise LedgerSilent(str(error)) from error
            raise

    def read(self, op: str, term: int, payload: dict[str, Any]) -> Any:
        """Return the reply of a function that changes nothing."""
        arguments = (f"{self.name}_{op}", 1, prefix(term), encode(payload))
        reply = self._send_once_or_twice(
            self.servers.of(prefix(term)), lambda redis: redis.fcall_ro(*arguments), again=True
        )
        return orjson.loads(reply)

    def ask_all(self, op: str, term: int, payloads: Sequence[dict[str, Any]]) -> list[Any]:
        """Return the replies to many decisions that are safe to repeat, in one round trip."""

        def send(redis: Redis) -> list[Any]:
            with redis.pipeline(transaction=False) as pipe:
                for payload in payloads:
                    pipe.fcall(f"{self.name}_{op}", 1, prefix(term), encode(payload))
                return replicas.execute(pipe, self.replicas)

        redis = self.servers.of(prefix(term))
        return [orjson.loads(reply) for reply in self._send_once_or_twice(redis, send, again=True)]

    def _send_once_or_twice(
        self, redis: Redis, send: Callable[[Redis], Reply], *, again: bool
    ) -> Reply:
        with translate_errors():
            try:
                return self._load_and_send(redis, send)
            except NO_REPLY:
                if not again:
                    raise
                return self._load_and_send(redis, send)

    def _load_and_send(self, redis: Redis, send: Callable[[Redis], Reply]) -> Reply:
        if redis not in self._loaded:
            self._load_into(redis)
        try:
            return send(redis)
        except (ReadOnlyError, MovedError):  # another server is the primary now: nothing was done
            pass
        except ResponseError as error:  # the server restarted without its functions
            if "Function not found" not in str(error):
                raise
        self._load_into(redis)
        return send(redis)


def encode(payload: dict[str, Any]) -> str:
    """Return JSON for the ledger."""
    return orjson.dumps(without_none(payload)).decode()


def without_none(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are not None: the ledger knows no null."""
    return {name: value for name, value in fields.items() if value is not None}
