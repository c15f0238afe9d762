"""The countdown's texts, on the server and in the browser."""

import re

import pytest
from babel import Locale

from portal.core.i18n import LANGUAGES, in_language
from portal.ledger.types import WindowView
from portal.windows import phases
from portal.windows.phases import MINUTE, phase

HOUR, DAY = 60 * MINUTE, 24 * 60 * MINUTE


@pytest.mark.parametrize(
    ("left", "english", "spanish", "briefly"),
    [
        (1, "Opens in 1 second", "Empieza en 1 segundo", "1 s"),
        (4000, "Opens in 4 seconds", "Empieza en 4 segundos", "4 s"),
        (MINUTE, "Opens in 1 minute", "Empieza en 1 minuto", "1 min"),
        (5 * MINUTE, "Opens in 5 minutes", "Empieza en 5 minutos", "5 min"),
        (90 * MINUTE, "Opens in 90 minutes", "Empieza en 90 minutos", "90 min"),
        (3 * HOUR, "Opens in 3 hours", "Empieza en 3 horas", "3 h"),
        (47 * HOUR, "Opens in 47 hours", "Empieza en 47 horas", "47 h"),
    ],
)
def test_countdown_is_in_the_readers_language(
    left: int, english: str, spanish: str, briefly: str
) -> None:
    answer = phase([WindowView(1, "Selection", left, left + HOUR, "scheduled", {})], 0)
    result = {}
    for language in ("en", "es"):
        with in_language(language):
            result[language] = (answer.sentence, phases.brief("before", answer.seconds))
    assert result == {"en": (english, briefly), "es": (spanish, briefly)}


@pytest.mark.parametrize(
    ("kind", "english", "spanish"),
    [("before", "in 2 days", "en 2 días"), ("open", "2 days left", "quedan 2 días")],
)
def test_days_are_shown_in_words(kind: str, english: str, spanish: str) -> None:
    for language, shown in (("en", english), ("es", spanish)):
        with in_language(language):
            assert phases.brief(kind, 2 * DAY // 1000 + 3600) == shown
            forms = phases.countdown_texts()["days"][kind]
            assert forms["other"] % {"count": 2} == shown


def test_phases_without_a_number_are_in_the_readers_language() -> None:
    ended = WindowView(1, "Selection", 0, 1, "scheduled", {})
    with in_language("es"):
        assert phase([], 0).sentence == "Sin fecha"
        assert phase([ended], 2).sentence == "Terminado"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("amount", [1, 2, 5, 11, 21])
def test_browser_shows_the_servers_countdown(language: str, amount: int) -> None:
    with in_language(language):
        words = phases.countdown_texts()
        for kind in ("before", "open"):
            for unit in phases.UNITS:
                form = words["answers"][kind][unit][Locale(language).plural_form(amount)]
                result = re.sub(r"%\((\w+)\)s", str(amount), form)
                assert result == phases.sentence(kind, unit, amount, amount)
