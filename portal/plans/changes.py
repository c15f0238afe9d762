"""What the buttons of a plan do, by the word that each sends."""

import re
from collections.abc import Callable
from functools import partial

from portal.plans import plan as plans
from portal.plans.plan import CannotPlan, Hindrance, Plan

Change = Callable[[Plan], Plan]

WORD = re.compile(r"([a-z]{1,10})(?:-(\d{1,10}))?", re.ASCII)


def change_of(word: str, line: int, amounts: Callable[[int], int | None]) -> Change:
    """What is to be done about a line, such as `up`, `rise-2` or `credits-1234`.

    `amounts` gives the credits (hundredths) chosen for a section. Raises CannotPlan for all else.
    """
    said = WORD.fullmatch(word)
    if said is None:
        raise CannotPlan(Hindrance.GONE)
    name, number = said[1], int(said[2] or 0)
    if name == "credits":
        return partial(plans.set_credits, section=number, credits=amounts(number))
    acts: dict[str, Change] = {
        "up": partial(plans.move, line=line, by=-1),
        "down": partial(plans.move, line=line, by=1),
        "remove": partial(plans.remove, line=line),
        "rise": partial(plans.rank, line=line, option=number, by=-1),
        "sink": partial(plans.rank, line=line, option=number, by=1),
        "omit": partial(plans.remove_option, line=line, option=number),
        "wait": partial(plans.set_wait, line=line, wait=True),
        "hurry": partial(plans.set_wait, line=line, wait=False),
    }
    if name not in acts:
        raise CannotPlan(Hindrance.GONE)
    return acts[name]
