"""Refusals in plain words: what is wrong, and the next step as a link where there is one."""

from collections.abc import Iterable
from dataclasses import dataclass

from portal.seats.answers import Reason
from portal.seats.case import Case, Step
from portal.seats.sentences import SENTENCES, unknown


@dataclass(frozen=True)
class Told:
    """A reason as a student reads it; `code` stays for those who test or count it."""

    code: str
    text: str
    step: Step | None = None


def told(reasons: Iterable[Reason], case: Case) -> list[Told]:
    """Each reason with its sentence and next step, in the order given."""
    return [
        Told(reason.code, *SENTENCES.get(reason.code, unknown)(reason.facts, case))
        for reason in reasons
    ]
