"""Put templates, static files and migrations into the wheel: they are not inside a package."""

from pathlib import Path
from shutil import copytree, ignore_patterns

from setuptools import setup
from setuptools.command.build_py import build_py

RESOURCES = ("templates", "static", "migrations")


class BuildWithResources(build_py):
    """Copy them to portal/resources, where portal/core/settings.py looks for them."""

    def run(self) -> None:
        """Build the packages, then add the resources, unless the repository itself is installed."""
        super().run()
        if not self.editable_mode:
            for name in RESOURCES:
                target = Path(self.build_lib, "portal", "resources", name)
                copytree(name, target, ignore=ignore_patterns("__pycache__"), dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithResources})
