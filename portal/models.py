"""Every table, so that `Base.metadata` is whole for migrations."""

from portal.applications import models as applications
from portal.calendar import models as schedule
from portal.catalog import models as catalog
from portal.catalog import section_changes
from portal.core import checkpoints, flags
from portal.core.db import Base
from portal.exchange.exporting import models as exports
from portal.exchange.importing import models as imports
from portal.instructor_requests import models as requests
from portal.notifications import models as notifications
from portal.notifications.webhooks import models as webhooks
from portal.people import models as people
from portal.recorder import models as recorder
from portal.registration import plan_store as plans
from portal.reports import models as reports
from portal.rounds import models as rounds
from portal.waiting_room import draw_codes
from portal.windows import models as windows

__all__ = [
    "Base",
    "applications",
    "catalog",
    "checkpoints",
    "draw_codes",
    "exports",
    "flags",
    "imports",
    "notifications",
    "people",
    "plans",
    "recorder",
    "reports",
    "requests",
    "rounds",
    "schedule",
    "section_changes",
    "webhooks",
    "windows",
]
