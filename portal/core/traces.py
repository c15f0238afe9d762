"""Spans for OpenTelemetry, where OTEL_EXPORTER_OTLP_ENDPOINT says whom to send them to.

Without it nothing of OpenTelemetry is imported, and a span costs as much as a call.
"""

import logging
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flask import Flask
    from sqlalchemy import Engine

log = logging.getLogger(__name__)

_tracing: Any = None  # portal/core/opentelemetry.py, once spans are wanted


def begin(process: str) -> None:
    """Send the spans of this process, if they are wanted; in the process that serves."""
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


def start(app: "Flask") -> None:
    """A span for each request."""
    if _tracing:
        _tracing.start(app)


def watch(engine: "Engine") -> None:
    """A span for each statement."""
    if _tracing:
        _tracing.watch(engine)


def span(name: str, carried: Mapping[str, str] | None = None) -> AbstractContextManager[object]:
    """A block that is a span, below the one that a job carries, if it does."""
    return _tracing.span(name, carried) if _tracing else nullcontext()


def carried() -> dict[str, str]:
    """What a job has to carry so that its span is below the one of whoever called it."""
    return dict(_tracing.carried()) if _tracing else {}
