"""A job of RQ that outlives the worker that had it, and the names of jobs."""

import re
from contextlib import suppress
from secrets import token_hex

from rq.executions import Execution, ExecutionRegistry
from rq.job import Job as RqJob

AGAIN = 5  # seconds after which a job that failed three times in a row is tried a last time

TOKEN = re.compile(r"-[0-9a-f]{16}$")


def named(about: str) -> str:
    """A name for one more job about that."""
    return f"{about}-{token_hex(8)}"


def about(name: str) -> str:
    """What a job of that name is about, the same for all of them: `7` (a term), `import-5`."""
    return TOKEN.sub("", name)


class Executions(ExecutionRegistry):
    """Those of a job. RQ lists one a minute longer than it keeps it, and stumbles over it then."""

    def get_executions(self, start: int = 0, end: int = -1) -> list[Execution]:
        """Those that are still known of."""
        found = []
        for each in self.get_execution_ids(start, end):
            with suppress(ValueError):
                found.append(Execution.fetch(each, self.job_id, self.connection))
        return found


class Job(RqJob):
    """One that can be done or deleted, whatever its first worker has left behind."""

    @property
    def execution_registry(self) -> Executions:
        """Its executions."""
        return Executions(self.id, connection=self.connection)
