"""A stand-in for clamd that speaks INSTREAM and finds the EICAR test file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingUnixStreamServer
from threading import Thread

from tests.applications.files import EICAR


class Handler(StreamRequestHandler):
    """One command of one client."""

    def handle(self) -> None:
        assert self.rfile.read(10) == b"zINSTREAM\0"
        content = b""
        while size := int.from_bytes(self.rfile.read(4)):
            content += self.rfile.read(size)
        said = b"stream: Eicar-Signature FOUND" if EICAR in content else b"stream: OK"
        self.wfile.write(said + b"\0")


class Confused(StreamRequestHandler):
    """Reads nothing, and says what clamd says of files that are too large."""

    def handle(self) -> None:
        while int.from_bytes(self.rfile.read(4)):
            break
        self.wfile.write(b"INSTREAM size limit exceeded. ERROR\0")


@contextmanager
def clamd(folder: Path, handler: type[StreamRequestHandler] = Handler) -> Iterator[str]:
    """It runs; gives its address."""
    path = folder / "clamd.ctl"
    with ThreadingUnixStreamServer(str(path), handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"unix:{path}"
        finally:
            server.shutdown()
