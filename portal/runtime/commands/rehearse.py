"""`fairseat rehearse`: simulated students play an opening against the running portal."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from jinja2 import Environment, FileSystemLoader
from rich.console import Console
from rich.table import Table

from portal.backend import backend
from portal.core.settings import ROOT, var_folder
from portal.operations.rehearsal import play
from portal.runtime.command_context import connected
from portal.runtime.listener import not_ready

COLUMNS = {
    "name": "Phase",
    "answers": "Responses",
    "per_second": "Responses per second",
    "p50": "Median (ms)",
    "p99": "99th percentile (ms)",
    "refused": "Refused",
    "turned_away": "Turned away",
    "failed": "Failed",
}
MEANINGS = {
    "Responses": "answers of the portal to the simulated browsers",
    "Median and 99th percentile": "half of the responses took at most the median, 99 of 100 at"
    " most the 99th percentile, in milliseconds",
    "Refused": "a rule or a full section prevented it, as it should",
    "Turned away": "the portal asked the student to try again later",
    "Failed": "no answer, or a server error",
}
PROGRESS = "{phase}: {come} arrived, {admitted} admitted, {answers} responses so far"
WAITS = (
    "Waiting room: {admitted} students admitted. Wait: median {p50} s, 99th percentile {p99} s."
    " Not admitted: {not_admitted}."
)
SEATS = "Seats: {taken} of {of} taken, {waiting} students on waitlists, {oversold} seats oversold."
AUDIT = "Audit: {differences} differences in {events} events."
ADVICE = (
    "Advice: set FAIRSEAT_ROOM={per_minute}/{at_once} for {processes_now} web processes. To admit"
    " {students} students within ten minutes, run {processes} web processes. Throughput now:"
    " {answers_per_second} responses per second. Each student needs {answers_per_student} responses"
    " during the rush. "
)
NO_ADVICE = "No advice: no student was admitted before the end of the rush."
LIMITS = {
    "web": "This is measured: the web processes were at their limit.",
    "crowd": "The throughput may be higher: the process that simulated the students was at its"
    " limit. Run it on another machine to measure more.",
    "none": "This is an estimate: the web processes were not at their limit. Use more students.",
}


@click.command("rehearse")
@click.option(
    "--students",
    default=100,
    show_default=True,
    type=click.IntRange(play.MIN_STUDENTS, play.MAX_STUDENTS),
    help="Number of students.",
)
@click.option(
    "--minutes",
    default=3.0,
    show_default=True,
    type=click.FloatRange(play.MIN_SECONDS / 60, play.MAX_SECONDS / 60),
    help="Total duration; the lobby is a quarter of it.",
)
@click.option("--anyway", is_flag=True, help="Run even while real students register.")
@click.option(
    "--report",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for the report page; default: a file in rehearsals/ in the data folder.",
)
def rehearse_command(students: int, minutes: float, *, anyway: bool, path: Path | None) -> None:
    """Simulate an opening with many students.

    They use a practice term, which is deleted afterwards. Exit status 1 if a section was oversold
    or the audit found a difference. Ctrl-C ends it.
    """
    console = Console()
    now = datetime.now(UTC)
    path = path or var_folder() / "rehearsals" / f"{now:%Y-%m-%dT%H%M%SZ}.html"
    with connected(), console.status("Creating the practice term.") as status:
        settings = backend().settings
        if missing := not_ready(settings.url):
            raise click.ClickException(f"The portal is not ready at {settings.url}: {missing}.")
        report = play.play(
            students,
            round(60 * minutes),
            lambda progress: status.update(PROGRESS.format(**progress)),
            anyway=anyway,
        )
        page = render(report, settings.institution, now)
    _print(report, console)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    console.print(f"Report: {path}", soft_wrap=True, highlight=False)
    raise SystemExit(bool(report["audit"]["differences"] or report["seats"]["oversold"]))


def render(report: dict[str, Any], institution: str, now: datetime) -> str:
    """Render the report as a page that needs no other file."""
    templates = Environment(loader=FileSystemLoader(ROOT / "templates"), autoescape=True)
    return templates.get_template("rehearsal_report.html").render(
        report=report,
        summary=summary(report),
        columns=COLUMNS,
        meanings=MEANINGS,
        institution=institution,
        date=f"{now:%Y-%m-%d %H:%M} UTC",
    )


def summary(report: dict[str, Any]) -> list[str]:
    """Return the report's main points, in sentences."""
    advice = report["advice"]
    return [
        WAITS.format(**report["waits"]),
        SEATS.format(**report["seats"]),
        AUDIT.format(**report["audit"]),
        ADVICE.format(**advice) + LIMITS[advice["limit"]] if advice else NO_ADVICE,
    ]


def _print(report: dict[str, Any], console: Console) -> None:
    table = Table(*COLUMNS.values(), box=None, pad_edge=False)
    for phase in report["phases"]:
        table.add_row(*(str(phase[name]) for name in COLUMNS))
    console.print(table)
    for line in summary(report):
        console.print(line, soft_wrap=True, highlight=False)
