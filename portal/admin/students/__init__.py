"""Students as the registrar sees them: record, holds, permits, privacy."""

from portal.admin.students import completed, holds, permits, privacy, record

PARTS = (completed, holds, permits, privacy, record)
