"""The figures of the whole portal, as Prometheus knows them."""

from collections.abc import Iterable, Iterator, Sequence

from prometheus_client.core import GaugeMetricFamily, Metric

from portal.core import flags
from portal.metrics import stores
from portal.operations import figures as operations
from portal.operations.figures import Figures, Jobs, TermNow

STATES = {"closed": 0, "half-open": 1, "open": 2}


def read() -> Iterator[Metric]:
    """All of them; parts that are away are left out."""
    figures = operations.read_figures()
    yield _gauge("fairseat_ledger_up", "Whether the ledger answers", figures.at > 0)
    yield _gauge("fairseat_postgresql_up", "Whether PostgreSQL answers", figures.postgresql)
    if figures.postgresql:
        yield from stores.remembered(figures.all_terms, ledger=figures.at > 0)
    if figures.at:
        yield from stores.replicas()
    if figures.jobs:
        yield from _queues(figures.jobs)
    if figures.fenced is not None:
        yield _fenced(figures)
    if figures.terms:
        yield from _rooms(figures.terms)
    yield from _parts(figures)


def _queues(jobs: Jobs) -> Iterable[Metric]:
    waiting = _labelled("fairseat_queue_jobs", "Jobs that wait", "queue")
    workers = _labelled("fairseat_queue_workers", "Workers that can be counted on", "queue")
    dead = _labelled("fairseat_dead_letters", "Jobs that were given up", "queue")
    oldest = _labelled("fairseat_queue_oldest_seconds", "Age of the job that is next", "queue")
    ages = stores.oldest_jobs([queue.name for queue in jobs.queues])
    for queue in jobs.queues:
        name = [queue.name]
        waiting.add_metric(name, queue.waiting + queue.later)
        workers.add_metric(name, sum(hand.alive for hand in queue.hands))
        dead.add_metric(name, queue.dead)
        oldest.add_metric(name, ages[queue.name])
    clock = _gauge("fairseat_clock_ticks", "Whether a clock has the lease", jobs.ticking)
    return waiting, workers, dead, oldest, clock


def _fenced(figures: Figures) -> Metric:
    found = _labelled("fairseat_fenced", "Whether nothing is decided until it is restored", "term")
    for term in figures.all_terms:
        found.add_metric([str(term.id)], term in (figures.fenced or ()))
    return found


def _rooms(terms: Sequence[TermNow]) -> Iterable[Metric]:
    families = {
        what: _labelled(f"fairseat_room_{what}", text, "term", "window")
        for what, text in (
            ("waiting", "Students who wait"),
            ("inside", "Students who were let in and may still claim"),
            ("per_minute", "How many are let in a minute"),
            ("at_once", "How many may be in at once"),
        )
    }
    for term in terms:
        for each in term.windows:
            for what, family in families.items():
                if each.room:
                    labels = [str(term.term.id), str(each.window.id)]
                    family.add_metric(labels, getattr(each.room, what))
    return families.values()


def _parts(figures: Figures) -> Iterable[Metric]:
    breakers = _labelled("fairseat_breaker_state", "0 closed, 1 half-open, 2 open", "part")
    for breaker in [*operations.breakers(figures), *operations.webhook_breakers(figures)]:
        breakers.add_metric([breaker.part], STATES[breaker.state])
    switched = _labelled("fairseat_flag_on", "Whether a part is switched on", "part")
    for name in flags.NAMES:
        switched.add_metric([name], flags.on(name))
    return breakers, switched


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=float(value))


def _labelled(name: str, text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, labels=labels)
