"""How often a process looks for what nobody needs any more."""

import gc

# Objects made before the next look: a batch of the journal, or thousands of requests at once, make
# tens of thousands that all live on, and looking through them took up to a sixth of the time.
SELDOM = 50_000


def settle() -> None:
    """Leave alone what is there for good by now, and look seldom at what work makes."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(SELDOM)
