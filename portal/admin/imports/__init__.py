"""Files that come in and go out: previews, progress, reports, exports."""

from portal.admin.imports import ending, exports, pages

PARTS = (ending, exports, pages)
