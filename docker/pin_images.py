"""Pin the images of the Dockerfile and the compose files by digest: `make pin-images`.

Asks the registries for the digest of each tag (`docker buildx imagetools inspect`, of all platforms
together) and writes it behind the tag: `postgres:18-bookworm@sha256:…`. Called again it renews
them. With --check it changes nothing, and fails while an image has no digest.
"""
# ruff: noqa: INP001  a script beside the files that it writes

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

DIGEST = r"sha256:[0-9a-f]{64}"
NAMES = rf"(?P<tag>(?!fairseat:)[a-z0-9][a-z0-9./_-]*:[\w.-]+)(?P<digest>@{DIGEST})?[ \t]*$"
# An ARG of the Dockerfile that FROM goes by, or the image of a service; our own has no registry.
PLACES = re.compile(rf"^(?P<before>ARG [A-Z]+=|\s*image:[ \t]*){NAMES}", re.MULTILINE)


class PinError(Exception):
    """An image has no digest; nothing was changed."""


def images(folder: Path) -> dict[Path, str]:
    """Return the files that name images, with their contents."""
    return {
        file: file.read_text() for file in (folder / "Dockerfile", *folder.glob("compose*.yml"))
    }


def digest_of(tag: str) -> str:
    """Return the registry's current digest of a tag; raise PinError if there is none."""
    command = ["docker", "buildx", "imagetools", "inspect", tag, "--format", "{{json .Manifest}}"]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
        found = str(json.loads(done.stdout)["digest"])
    except subprocess.CalledProcessError as error:
        raise PinError(f"{tag} can't be resolved: {error.stderr.strip()}") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PinError(f"{tag} can't be resolved: {error!r}") from error
    if not re.fullmatch(DIGEST, found):
        raise PinError(f"{tag} can't be resolved: {found!r} is no digest")
    return found


def pin(folder: Path) -> list[str]:
    """Write the digests of all images and return the pinned tags.

    Raise PinError, and write nothing, if a digest is missing.
    """
    files = images(folder)
    tags = sorted({found["tag"] for text in files.values() for found in PLACES.finditer(text)})
    digests = {tag: digest_of(tag) for tag in tags}
    for file, text in files.items():
        file.write_text(
            PLACES.sub(lambda at: f"{at['before']}{at['tag']}@{digests[at['tag']]}", text)
        )
    return [f"{tag}@{digest}" for tag, digest in digests.items()]


def check(folder: Path) -> None:
    """Raise PinError where an image is named by its tag alone."""
    found = [at for text in images(folder).values() for at in PLACES.finditer(text)]
    if bare := sorted({at["tag"] for at in found if not at["digest"]}):
        raise PinError(f"Without a digest: {', '.join(bare)}. Call `make pin-images`.")


def main() -> None:
    """Pin, or check, the files beside this one or those of the folder given."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path, nargs="?", default=Path(__file__).parent)
    arguments.add_argument("--check", action="store_true", help="only say what has no digest")
    given = arguments.parse_args()
    try:
        if given.check:
            check(given.folder)
        else:
            sys.stdout.writelines(f"{each}\n" for each in pin(given.folder))
    except PinError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
