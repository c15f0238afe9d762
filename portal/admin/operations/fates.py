"""What can be done with what was given up, be it a job or a mail: asked about, and done once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from flask import abort, request
from flask.typing import ResponseReturnValue

from portal.admin.operations import asking
from portal.admin.operations.asking import HOME, Back, Question
from portal.admin.reasons import read_reason
from portal.admin.times import Reading


@dataclass(frozen=True)
class Fate:
    """One of two ends, in words; `gone` is for who comes second."""

    title: str
    meaning: str
    button: str
    done: str
    gone: str
    danger: bool = False

    def question(
        self,
        facts: Sequence[tuple[str, str]],
        kept: Mapping[str, object] | None = None,
        trace: str = "",
        back: Back = HOME,
    ) -> Question:
        """Whether what the facts tell of is to have it."""
        title, meaning, button = map(str, (self.title, self.meaning, self.button))
        return Question(title, facts, meaning, button, self.danger, kept or {}, trace, back)


def asked(fate: Fate, question: Question | None, back: Back = HOME) -> ResponseReturnValue:
    """What will be done; None = there is nothing any more."""
    return asking.ask(question, Reading()) if question else _gone(fate, back)


def settled(
    fate: Fate, question: Question | None, act: Callable[[str], object], back: Back = HOME
) -> ResponseReturnValue:
    """Do it for a reason; `act` says whether there was anything still."""
    if question is None:
        return _gone(fate, back)
    reading = Reading()
    reason = read_reason(reading, request.form)
    if reading.errors:
        return asking.ask(question, reading, 422)
    return asking.done(str(fate.done), back) if act(reason) else _gone(fate, back)


def seen_through() -> datetime:
    """When the last of those that the form told of was given up; 400 where it does not say."""
    try:
        through = datetime.fromisoformat(request.form["through"])
    except ValueError:
        abort(400)
    return through if through.tzinfo else abort(400)


def _gone(fate: Fate, back: Back) -> ResponseReturnValue:
    reading = Reading()
    reading.wrong("", str(fate.gone))
    return asking.ask(Question(str(fate.title), [], "", str(fate.button), back=back), reading, 409)
