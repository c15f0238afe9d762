"""Selection windows, their waiting rooms and their reports."""

from portal.admin.windows import changes, fairness, pages, reports

PARTS = (changes, fairness, pages, reports)
