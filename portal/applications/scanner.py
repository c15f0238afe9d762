"""The virus scanner: clamd, asked by its INSTREAM command."""

import socket
from pathlib import Path
from urllib.parse import urlsplit

from portal.core.i18n import _k

PATIENCE = 30.0  # seconds for each part of the exchange
PIECE = 64 * 1024
LONGEST = 4096  # bytes of an answer


class ScannerFailed(Exception):
    """The scanner gave no verdict; the message says why."""


def is_infected(address: str, file: Path) -> bool:
    """Return whether clamd at the address finds a virus in the file; raise ScannerFailed."""
    try:
        with _connected(address) as wire:
            wire.sendall(b"zINSTREAM\0")
            with file.open("rb") as content:
                while piece := content.read(PIECE):
                    wire.sendall(len(piece).to_bytes(4) + piece)
            wire.sendall(bytes(4))
            answer = _answer(wire)
    except OSError as error:
        raise ScannerFailed(str(error) or type(error).__name__) from error
    if answer.endswith(" FOUND"):
        return True
    if answer.endswith(" OK"):
        return False
    raise ScannerFailed(answer or _k("The virus scanner did not respond."))


def _connected(address: str) -> socket.socket:
    if address.startswith("unix:"):
        wire = socket.socket(socket.AF_UNIX)
        wire.settimeout(PATIENCE)
        try:
            wire.connect(address.removeprefix("unix:"))
        except OSError:
            wire.close()
            raise
        return wire
    found = urlsplit(address)
    return socket.create_connection((found.hostname or "", found.port or 3310), PATIENCE)


def _answer(wire: socket.socket) -> str:
    answer = b""
    while len(answer) < LONGEST and (piece := wire.recv(LONGEST)):
        answer += piece
    return answer.rstrip(b"\0\n").decode(errors="replace")
