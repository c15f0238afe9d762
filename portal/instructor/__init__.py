"""Pages for those who teach: their sections, rosters and waitlists, and what they ask for."""

from portal.instructor import asking, files, requests
from portal.instructor.views import bp

for part in (files, asking, requests):
    bp.register_blueprint(part.bp)

__all__ = ["bp"]
