"""Students who have proved that they are no robots, and a term without windows."""

from tests.waiting_room.conftest import ada, ben, term

__all__ = ["ada", "ben", "term"]
