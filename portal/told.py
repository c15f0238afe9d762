"""Messages that are kept in English and told in the language of whoever reads them."""

import json

from portal.words import _


class Told(Exception):  # noqa: N818  for errors that say by their own name what they are
    """An error with such a message."""

    def __init__(self, text: str, /, **facts: object) -> None:
        super().__init__(text % facts if facts else text)
        self.text = text
        self.facts = facts

    @property
    def kept(self) -> str:
        """The message and its facts, for `told`."""
        return kept(self.text, **self.facts)


def kept(text: str, /, **facts: object) -> str:
    """A message and what is filled in, for `told`."""
    return json.dumps([text, facts], default=str, ensure_ascii=False)


def told(message: str) -> str:
    """A message that was kept, as its reader understands it; so is the fact `what`, a text too."""
    try:
        text, facts = json.loads(message)
        if what := facts.get("what"):
            facts |= {"what": _(what)}
        return _(text, **facts)
    except (ValueError, TypeError, AttributeError):  # of a portal that kept it as it was told
        return message
