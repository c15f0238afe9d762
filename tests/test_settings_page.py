"""docs/settings.md names the variables that the portal reads, all and no others."""

import re

from portal.core.settings import ROOT

ROW = re.compile(r"^\| (`[A-Z].+?) \|", re.MULTILINE)
NAME = re.compile(r"`([A-Z][A-Z0-9_]+)`")
READ = re.compile(r"""(?:environ|\benv)(?:\.get\(|\[)["']([A-Z][A-Z0-9_]+)["']""")
# Of WSGI and other programs, or handed from one process of the portal to the next.
OTHERS = {
    *("HTTP_AUTHORIZATION", "PATH_INFO"),
    *("FAIRSEAT_BIND", "FAIRSEAT_PREPARED", "FAIRSEAT_STARTED", "PROMETHEUS_MULTIPROC_DIR"),
    *("OTEL_SERVICE_NAME", "OTEL_TRACES_SAMPLER_ARG"),
}


def test_every_variable_is_on_the_page() -> None:
    page = (ROOT / "docs/settings.md").read_text("utf-8")
    named = {name for row in ROW.findall(page) for name in NAME.findall(row)}
    code = [each.read_text("utf-8") for each in (ROOT / "portal").rglob("*.py")]
    read = {name for text in code for name in READ.findall(text)}
    assert named == read - OTHERS
