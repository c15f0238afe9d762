"""Traces by OpenTelemetry, imported only where they are enabled; see traces.py."""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from opentelemetry import propagate, trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.redis import RedisInstrumentor
from opentelemetry.instrumentation.sqlalchemy import SQLAlchemyInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import (
    Decision,
    ParentBased,
    Sampler,
    SamplingResult,
    TraceIdRatioBased,
)
from opentelemetry.trace import Link, SpanKind, TraceState
from opentelemetry.util.types import Attributes
from sqlalchemy import Engine

from portal.core.correlation import correlation

_tracer = trace.get_tracer("fairseat")


class Correlated(SpanProcessor):
    """Adds the correlation id to each span."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:  # noqa: ARG002
        span.set_attribute("correlation", correlation())


class Rooted(Sampler):
    """Samples a share of the traces that begin with a request or job; skips idle workers' polls."""

    def __init__(self, share: float) -> None:
        self.share = TraceIdRatioBased(share)

    def should_sample(  # noqa: PLR0913, PLR0917  OpenTelemetry's signature
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        """Return whether a span without a parent is sampled."""
        if kind is SpanKind.CLIENT:
            return SamplingResult(Decision.DROP)
        return self.share.should_sample(
            parent_context, trace_id, name, kind, attributes, links, trace_state
        )

    def get_description(self) -> str:
        """Return the sampler's name."""
        return f"Rooted({self.share.get_description()})"


def begin(process: str) -> None:
    """Send spans as OTEL_EXPORTER_OTLP_* says; OTEL_TRACES_SAMPLER_ARG is the sampled share."""
    share = float(os.environ.get("OTEL_TRACES_SAMPLER_ARG") or 1)
    service = {"service.name": os.environ.get("OTEL_SERVICE_NAME") or "fairseat"}
    provider = TracerProvider(
        sampler=ParentBased(Rooted(share)),
        resource=Resource.create(service | {"service.instance.id": f"{process}-{os.getpid()}"}),
    )
    provider.add_span_processor(Correlated())
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    RedisInstrumentor().instrument()


def watch(engine: Engine) -> None:
    """Make a span for each statement, without parameters; the version we use works too."""
    SQLAlchemyInstrumentor().instrument(engine=engine, skip_dep_check=True)


def span(name: str, carried: Mapping[str, str] | None) -> AbstractContextManager[Any]:
    """Open a span for the block."""
    parent = propagate.extract(carried) if carried else None
    kind = SpanKind.CONSUMER if carried is not None else SpanKind.INTERNAL
    return _tracer.start_as_current_span(name, context=parent, kind=kind)


def carried() -> dict[str, str]:
    """Return the current span, for a job to carry."""
    found: dict[str, str] = {}
    propagate.inject(found)
    return found
