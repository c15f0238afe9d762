"""Doors that tell who comes: they let all others pass, and those who are cut off hear nothing.

What those say while a door is shut is not lost, as with a network that drops packets: it comes
through once the door is open again, when nobody waits for its answer any more.
"""

import socket
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

Calls = Callable[[], socket.socket]
Held = Callable[[set[int]], set[int]]  # which of these callers are, known by port or process
TCP = Path("/proc/net/tcp")
CREDENTIALS = struct.Struct("3i")  # of a process: itself, its user, its group


@dataclass
class Door:
    """Stands where a server has listened, and calls it where it listens now."""

    open_to: socket.socket
    behind: Calls
    name: Callable[[socket.socket], int]  # what a caller is known by
    held: Held
    passes: Event = field(default_factory=Event)
    carried: Event = field(default_factory=Event)  # whether one who will be cut off has come

    def __post_init__(self) -> None:
        self.passes.set()
        Thread(target=self._stand, daemon=True).start()

    def shut(self) -> None:
        """From now on those who are held hear nothing, and are not heard."""
        self.passes.clear()

    def leave(self) -> None:
        """Take in nobody any more; whoever has come in goes on."""
        self.open_to.shutdown(socket.SHUT_RDWR)  # which wakes who waits for the next
        self.open_to.close()
        self.passes.set()

    def _stand(self) -> None:
        with suppress(OSError):
            while True:
                caller, _ = self.open_to.accept()
                Thread(target=self._take_in, args=(caller,), daemon=True).start()

    def _take_in(self, caller: socket.socket) -> None:
        with caller, suppress(OSError):
            waits = self.passes if self.held({self.name(caller)}) else None
            if waits:
                self.carried.set()
                waits.wait()
            with self.behind() as server:
                back = Thread(target=_carry, args=(server, caller, waits), daemon=True)
                back.start()
                _carry(caller, server, waits)
                back.join()


def _carry(source: socket.socket, target: socket.socket, waits: Event | None) -> None:
    """What one says to the other, to the end."""
    with suppress(OSError):
        while said := source.recv(1 << 16):
            if waits:
                waits.wait()
            target.sendall(said)
    if waits:
        waits.wait()
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def of_port(port: int, behind: int, held: Held) -> Door:
    """A door at a port of this machine; callers are known by the port that they call from."""
    here = socket.create_server(("127.0.0.1", port), backlog=512)
    call = ("127.0.0.1", behind)
    return Door(
        here, lambda: socket.create_connection(call), lambda who: who.getpeername()[1], held
    )


def of_path(path: Path, behind: Path, held: Held) -> Door:
    """A door at the path of a socket; callers are known by their process."""
    here = socket.socket(socket.AF_UNIX)
    here.bind(str(path))
    path.chmod(0o777)
    here.listen(512)
    return Door(here, lambda: _called(behind), _process, held)


def ports(processes: Iterable[int], to: int) -> set[int]:
    """The ports of this machine that these processes call another one of it from."""
    sockets = {each for process in processes for each in _sockets(process)}
    called, found = f":{to:04X} ", set()
    for line in TCP.read_text().splitlines():
        if called in line:  # few are taken apart, as there may be thousands
            parts = line.split()
            own, other, number = parts[1], parts[2], parts[9]
            if number in sockets and called.startswith(other[8:]):
                found.add(int(own[9:], 16))
    return found


def _sockets(process: int) -> Iterator[str]:
    """The numbers of a process's sockets."""
    with suppress(OSError):  # it may end, or close one, while it is looked at
        for file in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):
                kind, _, number = str(file.readlink()).partition(":")
                if kind == "socket":
                    yield number.strip("[]")


def _called(path: Path) -> socket.socket:
    with ExitStack() as undo:
        server = undo.enter_context(socket.socket(socket.AF_UNIX))
        server.connect(str(path))
        undo.pop_all()
    return server


def _process(caller: socket.socket) -> int:
    given = caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    process, _, _ = CREDENTIALS.unpack(given)
    return int(process)
