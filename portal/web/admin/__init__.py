"""Pages for admins: every module here with a blueprint `bp`, below /admin."""

from importlib import import_module
from pkgutil import iter_modules

from flask import Blueprint

bp = Blueprint("admin", __name__, url_prefix="/admin")
for module in iter_modules(__path__):
    part = import_module(f"{__name__}.{module.name}")
    if hasattr(part, "bp"):
        bp.register_blueprint(part.bp)
