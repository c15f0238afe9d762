"""Who is in a section, changed by hand; sections that too few have chosen."""

from portal.admin.results import adjusting, few, pages

PARTS = (adjusting, few, pages)
