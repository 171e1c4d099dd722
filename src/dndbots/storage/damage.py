"""Damage: stored rows that a campaign cannot have written. Nothing else is called damage.

An error while reading may come from damage, misuse or a bug. So all rows are checked before a user is told to
restore a copy; if the campaign is sound, the original error goes through.
"""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from types import TracebackType
from typing import Any, Final, get_type_hints

from dndbots.errors import (
    DCMLError,
    DndbotsError,
    InvalidName,
    InvalidUid,
    StorageError,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreReadOnly,
)
from dndbots.storage import codec, upkeep
from dndbots.storage.ports import VIEWS, Branch, EventRow, Store

# Errors that a senseless row causes, and many other things too.
_STUMBLES: Final = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
# Errors for bad names and words; stored ones were checked when they were recorded.
_VALUES: Final = (DCMLError, InvalidName, InvalidUid)
_WITH_JSON: Final = ("claims", "truth")
# Modules whose frames are around callers' code as well.
_AROUND: Final = frozenset(("dndbots.campaign", "dndbots.storage.campaign_log", __name__))


@contextmanager
def report_damage(store: Store) -> Iterator[None]:
    """Turn an error that stored rows caused into `StoreDamaged`; leave any other as it is."""
    try:
        yield
    except (*_STUMBLES, *_VALUES) as exc:
        if isinstance(exc, DndbotsError) and not isinstance(exc, _VALUES):
            raise
        if not _passed_through_us(exc.__traceback__) or not is_damaged(store):
            raise
        # Without the text of the error: it may quote a row that is not for everybody.
        reason = "its stored rows make no sense; `dndbots verify` says more; rebuild it, or restore a copy"
        raise StoreDamaged(store.where, reason=reason) from exc


def is_damaged(store: Store) -> bool:
    """Return whether stored rows cannot be read, or the views do not match the log."""
    try:
        # On a new connection: this one may be in the middle of a transaction.
        with closing(store.another()) as other:
            return not _is_readable(other) or bool(upkeep.verify_store(other))
    except (StoreBusy, StoreFull, StoreReadOnly):
        return False
    except StorageError:
        return True
    except _STUMBLES:
        # All rows can be read, so the code is wrong.
        return False


def _is_readable(store: Store) -> bool:
    """Return whether every row has the types of its columns, and JSON where it must."""
    try:
        branches = store.branches()
        if store.group_faults() or not all(_has_types(Branch, branch) for branch in branches):
            return False
        return all(_are_rows_readable(store, branch) for branch in branches)
    except _STUMBLES:
        return False


def _are_rows_readable(store: Store, branch: Branch) -> bool:
    store.cursor(branch.id)
    for row in upkeep.own_events(store, branch):
        codec.from_row(row, checked=True)
        if not _has_types(EventRow, row):
            return False
    for view, kind in VIEWS.items():
        column = kind._fields.index("value") if view in _WITH_JSON else None
        for values in store.view_rows(view, branch.id):
            if not _has_types(kind, values):
                return False
            if column is not None:
                json.loads(str(values[column]))
    return True


def _has_types(kind: Any, row: Any) -> bool:
    return all(map(isinstance, row, _types_of(kind)))


@cache
def _types_of(kind: Any) -> tuple[Any, ...]:
    return tuple(get_type_hints(kind).values())


def _passed_through_us(trace: TracebackType | None) -> bool:
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        if module.startswith("dndbots.") and module not in _AROUND:
            return True
        trace = trace.tb_next
    return False
