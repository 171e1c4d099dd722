"""Every error dndbots raises on purpose, under one root. Errors carry their facts as fields.

DndbotsError
├── InvalidSetting        an option with a value it cannot have
├── InvalidUid            an id that is not a uid, or not of the category it must have
├── DuplicateUid          two different things with one uid
├── InvalidName           a name that is empty or unfit
├── UnknownCategory       a category that is none of the eight
├── UnknownEncoding       a tokenizer that is not on board
└── DCMLError
    ├── DCMLSyntaxError   text that is not DCML, with line and column
    └── DCMLValueError    a value that DCML cannot say

Values that arrive from outside (characters, events, quests) check themselves with pydantic, whose
ValidationError names the field and carries these errors' words.
"""

from collections.abc import Iterable
from typing import Any, Self


class DndbotsError(Exception):
    """The root of what dndbots itself raises on purpose."""

    _made_from: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **fields: Any) -> Self:
        self = super().__new__(cls, *args)
        self._made_from = (args, fields)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors with keyword fields do not pickle by themselves, and worker processes pickle them."""
        args, fields = self._made_from
        return _remake, (type(self), args, fields)


def _remake(kind: type[DndbotsError], args: tuple[Any, ...], fields: dict[str, Any]) -> DndbotsError:
    return kind(*args, **fields)


class InvalidSetting(DndbotsError, ValueError):
    def __init__(self, name: str, value: object, *, reason: str) -> None:
        super().__init__(f"{name}: {value!r} {reason}")
        self.name, self.value, self.reason = name, value, reason


class InvalidUid(DndbotsError, ValueError):
    def __init__(self, uid: object, *, where: str = "uid", category: str | None = None) -> None:
        kind = f"a uid of the category {category}" if category else "a uid"
        super().__init__(
            f"{where}: {uid!r} is not {kind}; a uid is lower-case ASCII words joined by underscores, "
            f"such as {category.lower() if category else 'pc'}_throk_001"
        )
        self.uid, self.where, self.category = uid, where, category


class DuplicateUid(DndbotsError, ValueError):
    def __init__(self, uid: str, *, names: Iterable[str]) -> None:
        self.uid, self.names = uid, tuple(names)
        super().__init__(
            f"{uid} stands for {' and '.join(map(repr, self.names))}; give each a uid of its own"
        )


class InvalidName(DndbotsError, ValueError):
    def __init__(self, name: object, *, where: str = "name", reason: str = "it is blank") -> None:
        super().__init__(f"{where}: {name!r} is not a name: {reason}")
        self.name, self.where, self.reason = name, where, reason


class UnknownCategory(DndbotsError, ValueError):
    def __init__(self, category: object, *, known: Iterable[str]) -> None:
        self.category, self.known = category, tuple(known)
        super().__init__(f"unknown category {category!r}; the categories are {' '.join(self.known)}")


class UnknownEncoding(DndbotsError, ValueError):
    def __init__(self, encoding: object, *, known: Iterable[str]) -> None:
        self.encoding, self.known = encoding, tuple(known)
        super().__init__(f"unknown encoding {encoding!r}; exact counts exist for {', '.join(self.known)}")


class DCMLError(DndbotsError):
    """Something about the memory language."""


class DCMLSyntaxError(DCMLError, ValueError):
    """Text that is not DCML. `line` and `column` count from 1."""

    def __init__(self, *, line: int, column: int, found: str, expected: Iterable[str]) -> None:
        self.line, self.column, self.found, self.expected = line, column, found, tuple(expected)
        *others, last = self.expected or ("something else",)
        wanted = f"{', '.join(others)} or {last}" if others else last
        super().__init__(f"line {line}, column {column}: found {found}, expected {wanted}")


class DCMLValueError(DCMLError, ValueError):
    def __init__(self, value: object, *, where: str, reason: str) -> None:
        super().__init__(f"{where}: {value!r} {reason}")
        self.value, self.where, self.reason = value, where, reason
