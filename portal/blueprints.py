"""The blueprints of the portal, one per kind of visitor or purpose."""

from portal import admin, api, instructor, live, student
from portal.ops import health
from portal.people import home, login

BLUEPRINTS = tuple(part.bp for part in (login, home, student, instructor, admin, live, health, api))
