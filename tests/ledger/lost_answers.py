"""A connection to the ledger that loses answers: the decision is made, but no client gets it."""

import socket
from dataclasses import dataclass
from pathlib import Path
from threading import Semaphore, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable


LOADING = b"-LOADING Valkey is loading the dataset in memory\r\n"


class LossyWire:
    """A proxy that drops the connection instead of the next `lose` answers to `call`.

    After an answer to `cut_after` it forwards nothing more.
    """

    def __init__(self, address: str, folder: Path) -> None:
        folder.mkdir()
        self.far = address.removeprefix("unix://")
        self.address = f"unix://{folder}/wire.sock"
        self.lose, self.call = 0, b"fairseat_submit"
        self.on_loss: Callable[[], object] = lambda: None  # called when an answer is lost
        self.carried = Semaphore(0)  # a release for each request for a `call`
        self.is_loading = False  # then it answers each `call` itself, like a server that starts
        self.cut_after = b""
        self.is_cut = False
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(f"{folder}/wire.sock")
        self.listener.listen()
        self.threads = [Thread(target=self._accept, daemon=True)]

    def __enter__(self) -> Self:
        self.threads[0].start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near: socket.socket) -> None:
        with near, socket.socket(socket.AF_UNIX) as far:
            far.connect(self.far)
            talk = Talk(near, far)
            back = Thread(target=self._answer, args=(talk,), daemon=True)
            back.start()
            while (requested := _next(near)) and not self.is_cut:
                if self.call in requested and self.is_loading:
                    near.sendall(LOADING * requested.count(self.call))
                    continue
                if self.call in requested:
                    self.carried.release()
                    if self.lose and not talk.loses:
                        self.lose -= 1
                        talk.loses = True
                talk.last = bool(self.cut_after) and self.cut_after in requested
                far.sendall(requested)
            far.shutdown(socket.SHUT_RDWR)
            back.join()

    def _answer(self, talk: "Talk") -> None:
        while answer := _next(talk.far):
            if talk.loses:
                self.on_loss()
                talk.near.shutdown(socket.SHUT_RDWR)
                return
            self.is_cut = self.is_cut or talk.last
            talk.near.sendall(answer)


@dataclass
class Talk:
    """One connection: whether its next answer is lost, or is the last one."""

    near: socket.socket
    far: socket.socket
    loses: bool = False
    last: bool = False


def _next(line: socket.socket) -> bytes:
    try:
        return line.recv(65536)
    except OSError:
        return b""
