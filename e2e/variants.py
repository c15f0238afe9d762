"""The browsers that a story is played in: `make soak` plays it in all of them."""

import pytest

from e2e.contrast import DESKTOP, PHONE
from tests.soak import SOAK

SCREENS = {"desktop": DESKTOP, "phone": PHONE}
SCRIPTS = {"scripts": True, "no scripts": False}


def screens(*always: str) -> pytest.MarkDecorator:
    """Play the story on these screens, and on the others in `make soak`."""
    names = tuple(SCREENS) if SOAK else always
    return pytest.mark.parametrize("screen", [SCREENS[each] for each in names], ids=names)


def scripts(*always: str) -> pytest.MarkDecorator:
    """Play the story in a browser with "scripts" or with "no scripts"; `make soak` does both."""
    names = tuple(SCRIPTS) if SOAK else always
    return pytest.mark.parametrize("scripts", [SCRIPTS[each] for each in names], ids=names)
