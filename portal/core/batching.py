"""Batched calls: many callers of the same moment share one call to a server.

The first caller calls at once. The callers that arrive meanwhile form a batch. The first of them
sends it as soon as the previous call is answered. If that caller is killed, the others ask again:
a question must be one that may be asked twice.
"""

from collections.abc import Callable, Sequence
from copy import copy
from threading import Event, Lock
from typing import Generic, TypeVar

MOST = 200  # questions in one call: others need the server, too
LONGEST = 0.5  # seconds that a batch waits for the previous call, which may hang

Question = TypeVar("Question")
Reply = TypeVar("Reply")


class Batcher(Generic[Question, Reply]):
    """Answers single questions with `ask`, which takes many."""

    def __init__(self, ask: Callable[[Sequence[Question]], Sequence[Reply]]) -> None:
        self._ask = ask
        self._next: _Batch[Question, Reply] = _Batch()
        self._lock, self._asking = Lock(), Lock()

    def __call__(self, question: Question) -> Reply:
        """Return the reply to this question; raises what `ask` raises."""
        with self._lock:
            if len(self._next.questions) == MOST:
                self._next = _Batch()
            batch, number = self._next, len(self._next.questions)
            batch.questions.append(question)
        if number:
            batch.done.wait()
        else:
            self._run(batch)
        if batch.error:  # each caller gets its own traceback
            raise copy(batch.error).with_traceback(None) from batch.error.__cause__ or batch.error
        # Without replies the greenlet that asked was killed: ask again.
        return batch.replies[number] if batch.replies else self(question)

    def _run(self, batch: "_Batch[Question, Reply]") -> None:
        acquired = False
        try:
            acquired = self._asking.acquire(timeout=LONGEST)
            self._close(batch)
            batch.replies = self._ask(batch.questions)
        except Exception as error:  # noqa: BLE001 - each caller raises it
            batch.error = error
        finally:
            self._close(batch)
            if acquired:
                self._asking.release()
            batch.done.set()

    def _close(self, batch: "_Batch[Question, Reply]") -> None:
        """Accept no more questions in the batch."""
        with self._lock:
            if self._next is batch:
                self._next = _Batch()


class _Batch(Generic[Question, Reply]):
    """Questions that are sent together."""

    def __init__(self) -> None:
        self.questions: list[Question] = []
        self.replies: Sequence[Reply] = ()
        self.error: Exception | None = None
        self.done = Event()
