"""The list of workers, as every process may ask for it."""

from portal.backend import Backend
from portal.operations import workers
from tests.recorder.processes import running, wait_for


def test_whoever_asks_for_the_workers_stays_as_impatient_with_the_ledger(backend: Backend) -> None:
    patience = backend.redis.connection_pool.connection_kwargs["socket_timeout"]
    with running(("worker", "record")):
        wait_for(lambda: any(queue.workers for queue in workers.queues(backend.redis)))
    assert backend.redis.connection_pool.connection_kwargs["socket_timeout"] == patience
