"""One question for all who ask in the same moment, so that a rush is answered as it comes.

Nobody waits for others to come: who is first asks at once, and those who come meanwhile are asked
for together, by the first of them, as soon as that is answered.
"""

from collections.abc import Callable, Sequence
from copy import copy
from threading import Event, Lock
from typing import Generic, TypeVar

MOST = 200  # in one question: others are to be answered meanwhile
LONGEST = 0.5  # seconds for which the next wait: where a ledger is silent, all are to hear soon

Asked = TypeVar("Asked")
Told = TypeVar("Told")


class Batcher(Generic[Asked, Told]):
    """What `ask` says to many, asked by each for himself."""

    def __init__(self, ask: Callable[[Sequence[Asked]], Sequence[Told]]) -> None:
        self._ask = ask
        self._coming: _Party[Asked, Told] = _Party()
        self._lock, self._asking = Lock(), Lock()

    def __call__(self, asked: Asked) -> Told:
        """The answer to this one; raises what `ask` raises."""
        with self._lock:
            if len(self._coming.asked) == MOST:
                self._coming = _Party()
            party, number = self._coming, len(self._coming.asked)
            party.asked.append(asked)
        if number:
            party.done.wait()
        else:
            self._go(party)
        if party.error:
            raise copy(party.error).with_traceback(None)  # each with a trace of its own
        return party.told[number] if party.told else self(asked)  # who asked was ended: once more

    def _go(self, party: "_Party[Asked, Told]") -> None:
        mine = False
        try:
            mine = self._asking.acquire(timeout=LONGEST)
            self._set_out(party)
            party.told = self._ask(party.asked)
        except Exception as error:  # noqa: BLE001 - raised by each of them
            party.error = error
        finally:
            self._set_out(party)
            if mine:
                self._asking.release()
            party.done.set()

    def _set_out(self, party: "_Party[Asked, Told]") -> None:
        """Take in no more."""
        with self._lock:
            if self._coming is party:
                self._coming = _Party()


class _Party(Generic[Asked, Told]):
    """Those who are asked for together."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.told: Sequence[Told] = ()
        self.error: Exception | None = None
        self.done = Event()
