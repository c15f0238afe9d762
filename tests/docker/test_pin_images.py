"""Images are pinned by digest for a release; a stand-in answers for docker and the registries."""

import os
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from portal.core.settings import ROOT

BIN = Path(sys.executable).parent
ANSWERS = """#!/bin/sh
[ "$1 $2 $3 $5 $6" = "buildx imagetools inspect --format {{json .Manifest}}" ] || exit 64
echo "$4" >>"$ASKED"
if [ "$4" = "$UNKNOWN" ]; then
    echo "ERROR: $4: not found" >&2
    exit 1
fi
digest=$(printf '%s%s' "$4" "$SALT" | sha256sum | cut -d' ' -f1)
printf '{"schemaVersion": 2, "digest": "sha256:%s", "size": 1}\\n' "$digest"
"""
NAMED = re.compile(r"^(?:ARG (?:PYTHON|NODE)=|\s*image: )(\S+)$", re.MULTILINE)


class Pinning:
    """A copy of docker/ and a docker that knows the digest of every tag but one."""

    def __init__(self, folder: Path) -> None:
        self.docker = folder / "docker"
        shutil.copytree(ROOT / "docker", self.docker)
        self.asked = folder / "asked"
        (folder / "bin").mkdir()
        answers = folder / "bin" / "docker"
        answers.write_text(ANSWERS)
        answers.chmod(0o755)
        path = f"{answers.parent}:{os.environ['PATH']}"
        self.env = {"PATH": path, "ASKED": str(self.asked), "UNKNOWN": "", "SALT": ""}

    def run(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        script = self.docker / "pin_images.py"
        return subprocess.run(
            [sys.executable, str(script), *arguments],
            check=False,
            capture_output=True,
            text=True,
            env=self.env | env,
        )

    def files(self) -> dict[str, str]:
        files = (self.docker / "Dockerfile", *self.docker.glob("compose*.yml"))
        return {file.name: file.read_text() for file in files}

    def images(self) -> set[str]:
        """Every image that is not our own."""
        named = (each for text in self.files().values() for each in NAMED.findall(text))
        return {each for each in named if not each.startswith("fairseat:")}


@pytest.fixture
def pinning(tmp_path: Path) -> Pinning:
    return Pinning(tmp_path)


def digest(tag: str, salt: str = "") -> str:
    return f"sha256:{sha256(f'{tag}{salt}'.encode()).hexdigest()}"


def tag(image: str) -> str:
    return image.partition("@")[0]


def test_every_image_gets_the_digest_of_its_tag_and_each_is_asked_for_once(
    pinning: Pinning,
) -> None:
    tags = {tag(image) for image in pinning.images()}
    assert len(tags) > 6
    done = pinning.run()
    assert done.returncode == 0, done.stderr
    assert pinning.images() == {f"{each}@{digest(each)}" for each in tags}
    assert sorted(pinning.asked.read_text().split()) == sorted(tags)
    assert pinning.run("--check").returncode == 0


def test_nothing_but_the_digests_changes_and_the_files_are_still_right(pinning: Pinning) -> None:
    before = pinning.files()
    assert pinning.run().returncode == 0
    bare = {name: re.sub(r"@sha256:\w{64}", "", text) for name, text in pinning.files().items()}
    assert bare == {name: re.sub(r"@sha256:\w{64}", "", text) for name, text in before.items()}
    compose = [str(pinning.docker / name) for name in before if name != "Dockerfile"]
    _right(f"{BIN}/check-jsonschema", "--builtin-schema", "vendor.compose-spec", *compose)
    _right(f"{BIN}/hadolint", str(pinning.docker / "Dockerfile"))


def test_called_again_it_renews_what_has_moved(pinning: Pinning) -> None:
    assert pinning.run().returncode == 0
    assert pinning.run(SALT="a later build").returncode == 0
    tags = {tag(image) for image in pinning.images()}
    assert pinning.images() == {f"{each}@{digest(each, 'a later build')}" for each in tags}


@pytest.mark.parametrize("unknown", ["valkey/valkey:9.0", "python:3.11-slim-bookworm"])
def test_where_one_can_not_be_resolved_nothing_is_changed(pinning: Pinning, unknown: str) -> None:
    before = pinning.files()
    done = pinning.run(UNKNOWN=unknown)
    assert done.returncode == 1
    assert f"{unknown}: not found" in done.stderr
    assert pinning.files() == before


def test_a_check_names_what_has_no_digest(pinning: Pinning) -> None:
    assert pinning.run().returncode == 0
    text = (pinning.docker / "compose.yml").read_text()
    (pinning.docker / "compose.yml").write_text(re.sub(r"(postgres:\S+)@\S+", r"\1", text))
    done = pinning.run("--check")
    assert done.returncode == 1
    assert done.stderr == "Without a digest: postgres:18-bookworm. Call `make pin-images`.\n"


def _right(*command: str) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
