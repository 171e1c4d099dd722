"""The told campaigns beside this folder, whose modules import each other by their bare names."""

import sys
from pathlib import Path

_BENCH = str(Path(__file__).resolve().parent.parent)
if _BENCH not in sys.path:
    sys.path.append(_BENCH)

from phrases import Slots, either, with_capital  # noqa: E402 - found by the path above
from told import Teller, Truth  # noqa: E402 - the same
from told_world import Thing  # noqa: E402 - the same

__all__ = ["Slots", "Teller", "Thing", "Truth", "either", "with_capital"]
