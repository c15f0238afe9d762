"""gunicorn with every module that the portal's web processes import: see tests/live/nodes.py."""

import os
import sys
from collections.abc import Sequence
from shutil import rmtree
from tempfile import mkdtemp

from gevent import monkey

# As portal/runtime/gunicorn_settings.py does it: first gevent's patches, and a folder of metrics.
monkey.patch_all(os=False, signal=False)
_folder = os.environ["PROMETHEUS_MULTIPROC_DIR"] = mkdtemp()

from gunicorn.app.wsgiapp import run  # noqa: E402
from sqlalchemy.orm import configure_mappers  # noqa: E402

import portal.app  # noqa: E402
import portal.live.hub  # noqa: E402
import portal.runtime.gunicorn_worker  # noqa: E402
import portal.web.api  # noqa: E402
import portal.web.blueprints  # noqa: E402
import portal.windows.readiness  # noqa: E402, F401
from tests import compiled_templates  # noqa: E402

configure_mappers()
compiled_templates.use()
rmtree(_folder)


def main(arguments: Sequence[str]) -> None:
    """Be gunicorn."""
    sys.argv = ["gunicorn", *arguments]
    run()
