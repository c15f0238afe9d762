"""The portal with little patience, so that its tests need little too."""

from portal.edge import patience

patience.BODY_SECONDS = 5.0
patience.TAKE_SECONDS = 5.0

from wsgi import app  # noqa: E402  only now

__all__ = ["app"]
