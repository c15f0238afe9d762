"""Every table, so that `Base.metadata` is whole for migrations."""

from portal.catalog import models as catalog
from portal.db import Base
from portal.people import models as people
from portal.record import models as record
from portal.windows import models as windows

__all__ = ["Base", "catalog", "people", "record", "windows"]
