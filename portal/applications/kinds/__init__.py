"""The kinds of applications: each module of this package declares one as KIND."""

from importlib import import_module
from pkgutil import iter_modules

from portal.applications.kind import Kind


def _found() -> dict[str, Kind]:
    names = sorted(each.name for each in iter_modules(__path__))
    modules = (import_module(f"{__name__}.{name}") for name in names)
    return {module.KIND.name: module.KIND for module in modules}


KINDS = _found()
