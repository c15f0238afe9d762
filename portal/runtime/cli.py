"""The `fairseat` command; each of its commands is a function in portal/runtime/commands."""

import os
from importlib import import_module
from typing import ClassVar

import click
from flask.cli import AppGroup

from portal.core.settings import SettingsError


class Commands(AppGroup):
    """Imports a command only when it is called, so that none pays for the others."""

    files: ClassVar = {
        "up": "up",
        "cluster": "cluster",
        "restart": "restart",
        "prepare": "prepare",
        "workers": "workers",
        "worker": "worker",
        "clock": "clock",
        "import": "import_",
        "export": "export",
        "token": "token",
        "account": "account",
        "override": "override",
        "audit": "audit",
        "rebuild": "rebuild",
        "repair": "repair",
        "backup": "backup",
        "restore": "restore",
        "order": "order",
        "mail": "mail",
        "jobs": "jobs",
        "rehearse": "rehearse",
    }

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """The commands, the one that newcomers need first."""
        return list(self.files)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name."""
        if cmd_name not in self.files:
            return None
        command: click.Command = import_module(
            f"portal.runtime.commands.{self.files[cmd_name]}"
        ).command
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Do it; settings with which nobody could be served are named, without a trace."""
        os.umask(0o077)  # what any command writes, and any process that it starts, is private
        try:
            return super().invoke(ctx)
        except SettingsError as wrong:
            raise click.ClickException(str(wrong)) from wrong


main = Commands("fairseat", help="Course registration for the minute when a window opens.")

if __name__ == "__main__":
    main()
