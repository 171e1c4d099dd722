"""The end of a reason: what may have been meant."""

import difflib
from collections.abc import Iterable
from typing import Final

_FEW: Final = 8


def meant(word: str, known: Iterable[str]) -> str:
    """The nearest of what is known; all of it, if nothing is near and it is little."""
    known = sorted(set(known))
    close = difflib.get_close_matches(word, known, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there is {', '.join(known)}" if 0 < len(known) <= _FEW else ""
