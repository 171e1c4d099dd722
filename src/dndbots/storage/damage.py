"""Where what is stored makes no sense: that is damage, and is told as such."""

from collections.abc import Iterator
from contextlib import contextmanager

from dndbots.errors import DndbotsError, StoreDamaged


@contextmanager
def told_as_damage(where: str) -> Iterator[None]:
    """Rows that somebody else changed may be anything; whatever they break in here is one error outside."""
    try:
        yield
    except DndbotsError:
        raise
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as exc:
        reason = f"what is stored makes no sense ({type(exc).__name__}: {exc}); verify it, or restore a copy"
        raise StoreDamaged(where, reason=reason) from exc
