"""How the portal as a whole stands, read when somebody scrapes, and no oftener than that is good.

A part that is away leaves its figures out; one that hangs keeps no scrape waiting.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock, Thread
from time import monotonic

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from portal.metrics import families
from portal.operations.figures import AWAY

log = logging.getLogger(__name__)

FRESH = 4.0  # seconds for which what was read is told again
PATIENCE = 2.0  # seconds that a scrape waits
STALE = 60.0  # seconds after which what was read is told no more


@dataclass(eq=False)
class Gathering(Collector):
    """What was read last, and the reading under way, of which there is one at a time."""

    known: list[Metric] = field(default_factory=list)
    at: float = 0.0
    under_way: Thread | None = None
    lock: Lock = field(default_factory=Lock)

    def collect(self) -> Iterable[Metric]:
        """The figures, and how old they are."""
        if reading := self._begun():
            reading.join(PATIENCE)
        age = monotonic() - self.at
        yield GaugeMetricFamily("fairseat_gathered_age_seconds", "Age of these figures", value=age)
        if age < STALE:
            yield from self.known

    def _begun(self) -> Thread | None:
        with self.lock:
            if self.under_way is None and monotonic() - self.at > FRESH:
                self.under_way = Thread(target=self._read, daemon=True, name="gathers")
                self.under_way.start()
            return self.under_way

    def _read(self) -> None:
        try:
            self.known = list(families.read())
            self.at = monotonic()
        except AWAY as error:  # since it was looked whether it is there
            log.warning("The figures could not be read: %s", error)
        finally:
            self.under_way = None


def registry() -> CollectorRegistry:
    """The registry that has nothing else."""
    return _registry


_registry = CollectorRegistry()
_registry.register(Gathering())
