"""The page in parts, each of which is sent anew when it changes; drawn once for all who watch."""

from collections.abc import Collection
from typing import Any

from jinja2 import Environment

from portal.admin.operations import words
from portal.admin.operations.alarms import alarms
from portal.admin.operations.figures import Figures, look
from portal.admin.operations.fuses import fuses, switches
from portal.admin.operations.spark import spark
from portal.admin.windows.room import lately
from portal.backend import backend
from portal.core.i18n import in_language
from portal.live.watch import Fragments
from portal.ops.names import QUEUES
from portal.seats.labels import label
from portal.windows.localtime import Clockface

# In the order in which they stand on the page; each has the id ops-<part>.
PARTS = (
    *("state", "now", "windows", "refusals", "queues"),
    *("underway", "letters", "mails", "breakers", "flags", "audits"),
)


def draw(pages: Environment, languages: Collection[str]) -> dict[str, Fragments]:
    """Everything as it is now, in each language."""
    figures, drawn = look(), {}
    for language in languages:
        with in_language(language):
            around = content(figures)
            drawn[language] = {part: _part(pages, part, around) for part in PARTS}
    return drawn


def content(figures: Figures) -> dict[str, Any]:
    """What the templates of the parts are drawn from, in the reader's language."""
    return {
        "figures": figures,
        "alarms": alarms(figures),
        "spark": spark(figures.tally.rates) if figures.tally else None,
        "fuses": fuses(figures),
        "switches": switches(figures),
        "words": words,
        "queue_names": QUEUES,
        "label": label,
        "lately": lately,
        "times": Clockface(backend().settings.zone),
    }


def _part(pages: Environment, part: str, around: dict[str, Any]) -> str:
    return pages.get_template(f"fragments/operations/{part}.html").render(around).strip()
