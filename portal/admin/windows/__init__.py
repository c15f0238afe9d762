"""Reports of selection windows."""

from portal.admin.windows import fairness, reports

PARTS = (fairness, reports)
