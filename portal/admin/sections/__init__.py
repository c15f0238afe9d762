"""Sections: made, changed, shared, published, confirmed, canceled."""

from portal.admin.sections import deeds, edit, new, pages, share

PARTS = (deeds, edit, new, pages, share)
