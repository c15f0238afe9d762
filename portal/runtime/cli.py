"""The `fairseat` command: `NAME_command` of a module in portal/runtime/commands for each NAME."""

import gc
import os
from importlib import import_module

import click
from flask.cli import AppGroup

from portal.core.correlation import name_process
from portal.core.errors import CommandError

# The module of each command, in the order of the help.
MODULES = {
    **dict.fromkeys(("up", "restart"), "supervisors"),
    "prepare": "processes",
    "workers": "supervisors",
    **dict.fromkeys(("worker", "scheduler"), "processes"),
    **dict.fromkeys(("import", "export"), "exchange"),
    **dict.fromkeys(("catalog", "term"), "catalog"),
    **dict.fromkeys(("token", "keys", "account", "override"), "people"),
    **dict.fromkeys(("audit", "rebuild", "repair"), "consistency"),
    **dict.fromkeys(("backup", "restore"), "backups"),
    **dict.fromkeys(("order", "mail", "jobs", "queues"), "operations"),
    "logs": "logs",
    "rehearse": "rehearse",
}


class Commands(AppGroup):
    """Imports a command's module only when it is called, so that each starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in MODULES:
            return None
        name_process(cmd_name)
        gc.disable()  # imports leave no garbage: collecting takes a sixth of the time
        try:
            module = import_module(f"portal.runtime.commands.{MODULES[cmd_name]}")
        finally:
            gc.enable()
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; report in one line what makes it impossible."""
        os.umask(0o077)  # what a command and its child processes write is private
        try:
            return super().invoke(ctx)
        except CommandError as wrong:
            raise click.ClickException(str(wrong)) from wrong


main = Commands("fairseat", help="Course registration for the minute when a window opens.")

if __name__ == "__main__":
    main()
