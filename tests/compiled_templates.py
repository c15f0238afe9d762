"""Templates that are compiled once for all processes of a test run, which takes 10 ms each."""

import os
from pathlib import Path

from flask import Flask
from jinja2 import FileSystemBytecodeCache

FOLDER = "TESTS_COMPILED_TEMPLATES"


def share(base: Path) -> None:
    """Let this process, and those that tests start, keep compiled templates below `base`.

    It must be a folder of this run, because Jinja only notices changes of the templates themselves.
    """
    folder = base / "compiled-templates"
    folder.mkdir(exist_ok=True)
    os.environ[FOLDER] = str(folder)
    use()


def use() -> None:
    """Take compiled templates from the folder that the environment names, if any."""
    if folder := os.environ.get(FOLDER):
        cache = FileSystemBytecodeCache(folder)
        Flask.jinja_options = {**Flask.jinja_options, "bytecode_cache": cache}
