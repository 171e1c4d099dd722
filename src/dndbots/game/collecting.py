"""How often Python looks for cycles while a game is played.

By default it does so at every few hundred objects more, which costs some 7 % of a round and frees next to
nothing: what a round makes is freed as soon as nobody refers to it. So it looks less often for as long as
the game plays. Whoever has set it up already, or off, is left alone.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_DEFAULT: Final = (700, 10, 10)
_RARELY: Final = (50_000, 10, 10)


@contextmanager
def collected_rarely() -> Iterator[None]:
    """Until it ends; then all is as it was. One within another changes nothing."""
    if not gc.isenabled() or gc.get_threshold() != _DEFAULT:
        yield
        return
    gc.set_threshold(*_RARELY)
    try:
        yield
    finally:
        gc.set_threshold(*_DEFAULT)
