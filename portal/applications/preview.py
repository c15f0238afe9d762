"""Draw a page of a checked document as a picture, so that no browser opens the document itself.

`python -m portal.applications.preview FILE TYPE PAGE` runs in a process of its own, with limits of
memory and time, and writes a PNG.
"""

import os
import resource
import subprocess
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image

MEMORY = 2**30  # bytes
CPU = 10  # seconds
SECONDS = 20.0
WIDTH, HEIGHT = 1000, 1600  # pixels at most


class NoPreview(Exception):
    """The page can't be drawn."""


def draw(file: Path, kind: str, page: int) -> bytes:
    """Return a page, from 0 on, as a PNG; raise NoPreview."""
    command = [sys.executable, "-m", "portal.applications.preview", str(file), kind, str(page)]
    try:
        done = subprocess.run(  # noqa: S603  our own module
            command, capture_output=True, timeout=SECONDS, check=False, env={"PATH": os.defpath}
        )
    except subprocess.TimeoutExpired as error:
        raise NoPreview from error
    if done.returncode:
        raise NoPreview
    return done.stdout


def _drawn(file: Path, kind: str, page: int) -> Image.Image:
    if kind != "pdf":
        with Image.open(file, formats=["JPEG" if kind == "jpg" else "PNG"]) as picture:
            picture.draft("RGB", (WIDTH, HEIGHT))
            return picture.convert("RGB")
    # Only this process needs it.
    import pypdfium2  # type: ignore[import-untyped]  # noqa: PLC0415

    found = pypdfium2.PdfDocument(file)[page]
    width, height = found.get_size()
    scale = min(WIDTH / max(width, 1), HEIGHT / max(height, 1), 4)
    drawn: Image.Image = found.render(scale=scale).to_pil().convert("RGB")
    return drawn


def main() -> None:
    """Draw the page named on the command line."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    Image.MAX_IMAGE_PIXELS = None  # the inspection has limited them
    drawn, out = _drawn(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])), BytesIO()
    drawn.thumbnail((WIDTH, HEIGHT))
    drawn.info.clear()  # colour profiles and comments: only the pixels are shown
    drawn.save(out, "PNG")
    sys.stdout.buffer.write(out.getvalue())


if __name__ == "__main__":
    main()
