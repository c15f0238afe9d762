"""How often a process looks for what nobody needs any more."""

import gc

# Objects made before the next look: a batch of the journal makes tens of thousands that all live
# until it is recorded, and to look through them again and again took a sixth of its time.
SELDOM = 50_000


def settle() -> None:
    """Leave alone what is there for good by now, and look seldom at what work makes."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(SELDOM)
