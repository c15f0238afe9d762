"""The portal, which checks only one password at a time."""

from portal.people import passwords
from wsgi import app

passwords.MAX_HASHES = 1

__all__ = ["app"]
