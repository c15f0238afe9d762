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
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
)
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import TimeoutError as LateReply

from portal.core import traces
from portal.core.metrics import DECISION_TIME
from portal.ledger import replicas
from portal.ledger.errors import LedgerSilent, LedgerUnavailable
from portal.ledger.types import NOT_OVERRIDABLE, SECTION_FIELDS

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
UNAVAILABLE = (*NO_REPLY, ReadOnlyError, OutOfMemoryError, ClusterError)
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
    lists = f"local FIELDS = {{ {listed} }}\nlocal NOT_OVERRIDABLE = {{ {codes} }}"
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
        pool = redis.connection_pool
        # It is connected now or has raised: nothing was sent.
        connection: Any = pool.get_connection()
        try:
            return self._send_on(connection)
        except BusyLoadingError:
            raise  # an answer: nothing was done
        except NO_REPLY:
            self.unanswered = True
            raise
        finally:
            pool.release(connection)

    def _send_on(self, connection: Any) -> Any:
        behind = replicas.behind(self.replicas)
        commands = [("FCALL", *self.arguments), *behind]
        connection.send_packed_command(connection.pack_commands(commands))
        reply, *others = [_answer(connection) for _ in range(1 + len(behind))]
        if isinstance(reply, ResponseError):
            raise reply
        if others:
            try:
                replicas.check(others[-2], others[-1], self.replicas)
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

    An answer counts once as many `replicas` have the decision.
    """

    def __init__(
        self, redis: Redis, name: str = "fairseat", code: str = CODE, *, replicas: int = 0
    ) -> None:
        self.redis = redis
        self.replicas = replicas
        self.name = name
        self.code = code
        self.loaded = False
        with suppress(LedgerUnavailable), translate_errors():
            self.load()

    def load(self) -> None:
        """Load the code unless this version is there; many processes may do so at once."""
        libraries = self.redis.function_list(library=self.name, withcode=True)
        if not any(self.code.encode() in library for library in libraries):
            self.redis.function_load(self.code, replace=True)
        self.loaded = True

    def ask(self, op: str, term: int, payload: dict[str, Any], *, again: bool = False) -> Any:
        """Return the reply to a decision; `again` says that asking twice is safe.

        Raises LedgerSilent if the decision may have been made without an answer.
        """
        arguments = (f"{self.name}_{op}", 1, prefix(term), encode(payload))
        call = FunctionCall(arguments, self.replicas)
        try:
            name = f"{self.name} {op}"
            with DECISION_TIME.labels(name).time(), traces.span(name):
                reply = self._send_once_or_twice(lambda: call.send(self.redis), again=again)
            return orjson.loads(reply)
        except LedgerUnavailable as error:
            if call.unanswered:
                raise LedgerSilent(str(error)) from error
            raise

    def read(self, op: str, term: int, payload: dict[str, Any]) -> Any:
        """Return the reply of a function that changes nothing."""
        arguments = (f"{self.name}_{op}", 1, prefix(term), encode(payload))
        reply = self._send_once_or_twice(lambda: self.redis.fcall_ro(*arguments), again=True)
        return orjson.loads(reply)

    def ask_all(self, op: str, term: int, payloads: Sequence[dict[str, Any]]) -> list[Any]:
        """Return the replies to many decisions that are safe to repeat, in one round trip."""

        def send() -> list[Any]:
            with self.redis.pipeline(transaction=False) as pipe:
                for payload in payloads:
                    pipe.fcall(f"{self.name}_{op}", 1, prefix(term), encode(payload))
                return replicas.execute(pipe, self.replicas)

        return [orjson.loads(reply) for reply in self._send_once_or_twice(send, again=True)]

    def _send_once_or_twice(self, send: Callable[[], Reply], *, again: bool) -> Reply:
        with translate_errors():
            try:
                return self._load_and_send(send)
            except NO_REPLY:
                if not again:
                    raise
                return self._load_and_send(send)

    def _load_and_send(self, send: Callable[[], Reply]) -> Reply:
        if not self.loaded:
            self.load()
        try:
            return send()
        except ReadOnlyError:  # no longer the primary: nothing was done
            return send()
        except ResponseError as error:  # the server restarted without its functions
            if "Function not found" not in str(error):
                raise
        self.load()
        return send()


def encode(payload: dict[str, Any]) -> str:
    """Return JSON for the ledger."""
    return orjson.dumps(without_none(payload)).decode()


def without_none(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are not None: the ledger knows no null."""
    return {name: value for name, value in fields.items() if value is not None}
