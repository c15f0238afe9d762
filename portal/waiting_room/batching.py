"""One call for all who ask in the same moment, so that a rush is answered as it comes.

The first caller asks at once. Those who come meanwhile are asked for together, by the first of
them, as soon as the call before is answered.
"""

from collections.abc import Callable, Sequence
from copy import copy
from threading import Event, Lock
from typing import Generic, TypeVar

MOST = 200  # in one call: others need the ledger meanwhile
LONGEST = 0.5  # seconds that the next batch waits: a silent ledger must not silence everyone

Question = TypeVar("Question")
Reply = TypeVar("Reply")


class Batcher(Generic[Question, Reply]):
    """Answers single questions by `ask`, which takes many."""

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
        if batch.error:
            raise copy(batch.error).with_traceback(None)  # each caller with a trace of its own
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
        """Let no more questions into the batch."""
        with self._lock:
            if self._next is batch:
                self._next = _Batch()


class _Batch(Generic[Question, Reply]):
    """Questions that are asked together."""

    def __init__(self) -> None:
        self.questions: list[Question] = []
        self.replies: Sequence[Reply] = ()
        self.error: Exception | None = None
        self.done = Event()
