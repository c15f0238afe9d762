"""Every table, so that `Base.metadata` is whole for migrations."""

from portal.catalog import models as catalog
from portal.db import Base
from portal.notices import models as notices
from portal.people import models as people
from portal.plans import models as plans
from portal.record import models as record
from portal.schedule import models as schedule
from portal.windows import models as windows

__all__ = ["Base", "catalog", "notices", "people", "plans", "record", "schedule", "windows"]
