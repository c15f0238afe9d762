"""Run a fault during a rush, and return its figures with everything that is wrong."""

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from portal.recorder.consistency.audit import audit_term
from tests.faults import application_checks, history, mail_check
from tests.faults.applicants import Applicants
from tests.faults.checker import Verdict, judge
from tests.faults.client import Rush
from tests.faults.deciders import Deciders
from tests.faults.faults import Fault
from tests.faults.history import AWAY, UNKNOWN, Request
from tests.faults.trial import TIMEOUT, Trial, log_of, selections, until


@dataclass(frozen=True)
class Row:
    """The result of a fault; times in seconds."""

    fault: str
    decided: int
    away: int  # requests that were clearly refused for now. They were decided later.
    unknown: int  # requests whose answer was unknown for a time.
    silence: float  # the longest time without any answer.
    wait: float  # the longest wait of a student.
    recorded: float  # from the last answer until all is in PostgreSQL
    verdict: Verdict
    differences: tuple[str, ...] = ()
    round: int = 1
    mailed: int = 0
    applied: int = 0  # applications, all to be approved
    interrupted: int = 0  # approvals whose answer never came
    during: int = 0  # applications that were being made while the fault lasted
    repeated: int = 0  # requests of applicants that were sent again, their answer being unknown

    @property
    def green(self) -> bool:
        """Return whether nothing was lost, oversold, out of order, twice or odd."""
        return self.verdict.clean and not self.differences

    def figures(self) -> dict[str, Any]:
        """Return the figures to store: of what is wrong, how much."""
        kept = asdict(self)
        wrong = {kind: len(found) for kind, found in kept.pop("verdict").items()}
        return kept | wrong | {"differences": len(self.differences), "green": self.green}

    def summary(self) -> str:
        """Return it in one line."""
        what = f"{self.decided} decided, {self.away} refused for now, {self.unknown} unknown"
        what += f", {self.mailed} mails, {self.applied} applications"
        what += f" ({self.during} during the fault, {self.interrupted} approvals interrupted,"
        what += f" {self.repeated} requests repeated)"
        times = f"silence {self.silence:.1f} s, wait {self.wait:.1f} s, drained {self.recorded:.1f}"
        wrong = [] if self.green else [str(vars(self.verdict)), *self.differences]
        return "; ".join([f"{'ok ' if self.green else 'BAD'} {self.fault}", what, times, *wrong])


def run(trial: Trial, faults: Sequence[Fault], keep: Path | None = None) -> Row:
    """Do them in the middle of a rush, undo each, and judge once all is recorded."""
    rush = trial.a_rush()
    applicants = trial.applicants(rush)
    deciders = Deciders(trial.deciders, applicants.begun)
    seen: list[str] = []
    with ExitStack() as parts:  # each ends, also if this process is asked to end meanwhile
        if keep:
            parts.callback(history.write, keep, rush.requests)
        for part in (rush, deciders, applicants):
            parts.callback(part.end)
        rush.begin()
        applicants.begin()
        _everyone(rush, 0)
        until(applicants.late_adds_are_sent, "the late adds are not sent")
        # So that the fault comes while documents are checked, fees charged and seats approved.
        until(trial.provider.repeated.is_set, "no charge is made again")
        deciders.begin()
        until(deciders.pressed.is_set, "no admin approves")
        began = time.time()
        for fault in faults:
            seen += _suffer(trial, rush, fault)
        ended = time.time()
    until(lambda: application_checks.approved(applicants.begun), "approvals are not carried out")
    row = _judged(trial, rush, applicants, ", ".join(each.name for each in faults), (began, ended))
    row.verdict.odd.extend([*seen, *deciders.odd])
    return replace(row, interrupted=len(deciders.interrupted))


def _suffer(trial: Trial, rush: Rush, fault: Fault) -> list[str]:
    """Until everyone is answered again, and nothing is missing; what was wrong while it lasted."""
    undo, began = fault.do(trial), time.monotonic()
    try:
        seen = list(fault.look(trial, rush))
        time.sleep(max(0.0, fault.lasts - (time.monotonic() - began)))
    finally:
        undo()
    _everyone(rush, time.time())
    until(trial.ready, "the portal is not ready again")
    _everyone(rush, time.time())
    return seen


def _judged(
    trial: Trial, rush: Rush, applicants: Applicants, name: str, span: tuple[float, float]
) -> Row:
    began, ended = span
    drained = until(lambda: trial.settled(rush.term), "the workers don't catch up")
    until(trial.mailed, "mails are not sent")
    for applicant in applicants.begun:
        if applicant.sent:
            applicant.download(rush.term)
    students = [*rush.students, *(each.person for each in applicants.people if each.section)]
    held, waiting = selections(rush.term, students)
    log = log_of(rush.term)
    verdict = judge(rush.requests, log, held, waiting)
    application_checks.judge(applicants.begun, log, verdict)
    came = trial.mail.came()
    verdict.mails += mail_check.wrong(trial.outbox(), map(mail_check.read, came))
    report = audit_term(rush.term)
    differences = (*map(str, report["differences"]), *["unrecorded"] * report["unrecorded"])
    since = [
        request for request in rush.requests if request.tries and request.tries[-1].answered > began
    ]
    silence = history.longest_silence(rush.requests, began, ended)
    wait = history.longest_wait(rush.requests, began)
    counts = _counts(since)
    return Row(
        name,
        len(since),
        counts[AWAY],
        counts[UNKNOWN],
        silence,
        wait,
        drained,
        verdict,
        differences,
        mailed=len(came),
        applied=sum(each.sent for each in applicants.begun),
        during=sum(each.begun < ended and each.done > began for each in applicants.begun),
        repeated=sum(each.repeated for each in applicants.begun),
    )


def _everyone(rush: Rush, since: float) -> None:
    """Wait until every student has an answer to a request that was sent after `since`."""
    numbers = {student.number for student in rush.students}
    until(lambda: rush.decided(since) >= numbers, "students are not answered", TIMEOUT)


def _counts(requests: list[Request]) -> Counter[str]:
    return Counter(said for request in requests for said in {each.said for each in request.tries})
