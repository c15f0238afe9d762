"""Recorders that take a while: PostgreSQL sleeps amid each batch, which costs no processor time."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import text

from tests.owner_role import as_owner

EVERY = 500  # events, a quarter of a batch
FUNCTION = """
    CREATE OR REPLACE FUNCTION take_a_while() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep({pause}); RETURN NEW; END $$
"""
TRIGGER = f"""
    CREATE TRIGGER take_a_while BEFORE INSERT ON events FOR EACH ROW
    WHEN (NEW.seq % {EVERY} = 0) EXECUTE FUNCTION take_a_while()
"""


@contextmanager
def slowly(pause: float = 0.1) -> Iterator[None]:
    """Run a block in which recorders of all processes are slow, so that a kill meets them at work.

    They pause so many seconds every EVERY events. No recorder may run at the end of the block.
    """
    with as_owner() as session:
        session.execute(text(FUNCTION.format(pause=pause)))
        session.execute(text(TRIGGER))
    try:
        yield
    finally:
        with as_owner() as session:
            session.execute(text("DROP FUNCTION take_a_while CASCADE"))
