"""manifest.csv: which version the files are of, and which of them are whole or changes alone."""

from dataclasses import dataclass

from portal.core.i18n import _k
from portal.exchange.importing import tables
from portal.exchange.importing.failure import ImportFailedError
from portal.exchange.importing.oneroster.columns import COLUMNS, spelt
from portal.exchange.importing.report import Report
from portal.exchange.importing.sources import Source
from portal.exchange.importing.tables import Progress, Row, Shape

NAME = "manifest.csv"
VERSIONS = ("1.1", "1.2")
BULK, DELTA, ABSENT = "bulk", "delta", "absent"
# What other programs also write, and the portal has no use for.
NEEDLESS = {"demographics", "userProfiles"}


@dataclass(frozen=True)
class Manifest:
    """The version, and by file such as `users`: bulk, delta or absent."""

    version: str
    files: dict[str, str]

    def has(self, file: str, mode: str = "") -> bool:
        """Whether a file is there, and in this mode if one is asked for."""
        found = self.files.get(file, ABSENT)
        return found == mode if mode else found != ABSENT


def read_manifest(source: Source, report: Report, progress: Progress) -> Manifest:
    """The manifest; raises ImportFailed where there is none, or files are not as it says."""
    if NAME not in source.names():
        raise ImportFailedError(_k("%(file)s is not there: a OneRoster import has one."), file=NAME)
    shape = Shape(("propertyName", "value"), spelt)
    found = {row["propertyName"]: row for row in tables.rows(source, NAME, shape, report, progress)}
    version = found["oneroster.version"]["value"] if "oneroster.version" in found else ""
    if not version.startswith(VERSIONS):
        raise ImportFailedError(
            _k("%(file)s: version “%(version)s” is none of %(known)s."),
            file=NAME,
            version=version,
            known=", ".join(VERSIONS),
        )
    files = {file: _mode(file, found, source) for file in COLUMNS}
    for name in NEEDLESS:
        row = found.get(f"file.{name}")
        if row and row["value"].lower() in {BULK, DELTA}:
            report.note("file_needless", Row(f"{name}.csv", 0, {}))
    return Manifest(version[:3], files)


def _mode(file: str, found: dict[str, Row], source: Source) -> str:
    row = found.get(f"file.{file}")
    mode = row["value"].lower() if row else ABSENT
    if row and mode not in {BULK, DELTA, ABSENT}:
        raise ImportFailedError(
            _k("%(file)s, line %(line)s: “%(mode)s” is not bulk, delta or absent."),
            file=NAME,
            line=row.line,
            mode=row["value"],
        )
    if mode != ABSENT and f"{file}.csv" not in source.names():
        raise ImportFailedError(
            _k("%(file)s is not there, though %(manifest)s says that it is %(mode)s."),
            file=f"{file}.csv",
            manifest=NAME,
            mode=mode,
        )
    return mode
