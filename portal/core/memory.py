"""How often a process collects garbage."""

import gc

# New objects before the next collection. A batch of the journal, or thousands of requests at once,
# make tens of thousands of objects that all stay in use. Collections took up to a sixth of the
# time.
SELDOM = 50_000


def settle() -> None:
    """Exclude permanent objects from garbage collection, and collect less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(SELDOM)
