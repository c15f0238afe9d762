"""Spans for OpenTelemetry, sent to OTEL_EXPORTER_OTLP_ENDPOINT.

If that is unset, nothing of OpenTelemetry is imported, and a span costs as much as a call.
"""

import logging
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import Engine

log = logging.getLogger(__name__)

_tracing: Any = None  # portal/core/opentelemetry.py, once spans are enabled


def begin(process: str) -> None:
    """Send the spans of this process if enabled; call it in the process that serves."""
    global _tracing  # noqa: PLW0603  one for the process
    if _tracing or not os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        return
    try:
        found = import_module("portal.core.opentelemetry")
    except ImportError as error:
        log.error("No traces: %s. They need `pip install fairseat[otel]`.", error)  # noqa: TRY400
        return
    found.begin(process)
    _tracing = found


def enabled() -> bool:
    """Return whether this process sends spans."""
    return _tracing is not None


def watch(engine: "Engine") -> None:
    """Make a span for each statement."""
    if _tracing:
        _tracing.watch(engine)


def span(name: str, carried: Mapping[str, str] | None = None) -> AbstractContextManager[object]:
    """Open a span for the block, below the one that a job carries, if any."""
    return _tracing.span(name, carried) if _tracing else nullcontext()


def carried() -> dict[str, str]:
    """Return what a job carries so that its span is below its sender's."""
    return dict(_tracing.carried()) if _tracing else {}
