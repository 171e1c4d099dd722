"""Finds every pattern of the package, and makes texts that each of them finds hard.

Patterns are found twice: by walking everything that the imported modules hold, and by reading the source for
calls of `re`. What only a function compiles is in the second list; what a rule makes of data is in the first.
"""

import ast
import builtins
import gc
import importlib
import inspect
import pkgutil
import re
import re._constants as sre
import re._parser as sre_parser
import types
from collections.abc import Iterable, Iterator
from functools import _lru_cache_wrapper, cache
from pathlib import Path
from typing import Any

from lark import Lark

import dndbots

SOURCE = Path(dndbots.__path__[0])
CALLS = frozenset({"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"})
_LONG = 9  # repeats of at most so many are steps of a fixed length, and not worth an attack
SEARCHES = frozenset({"search", "split", "findall", "finditer", "sub", "subn"})
Found = dict[tuple[str, int], str]  # pattern and flags, and where they stand


@cache
def modules() -> tuple[types.ModuleType, ...]:
    """All modules of the package but the scripts: entry points, and what Alembic runs."""
    names = [one.name for one in pkgutil.walk_packages(dndbots.__path__, "dndbots.")]
    return tuple(importlib.import_module(name) for name in names if not name.endswith((".env", "__main__")))


def held_patterns() -> Found:
    """Every compiled pattern that can be reached from a module's names, and the terminals of grammars."""
    found: Found = {}
    seen: set[int] = set()
    for module in modules():
        for name, value in vars(module).items():
            for pattern, flags in _reached(value, seen):
                found.setdefault((pattern, flags), f"{module.__name__}.{name}")
    return found


def _reached(value: object, seen: set[int]) -> Iterator[tuple[str, int]]:
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, re.Pattern):
            yield one.pattern, one.flags
        elif id(one) not in seen and _is_ours(one):
            seen.add(id(one))
            if isinstance(one, Lark):
                yield from ((end.pattern.to_regexp(), 0) for end in one.terminals)
            elif isinstance(one, types.FunctionType):  # and not its globals, which are another module's names
                left += [one.__closure__, one.__defaults__, one.__kwdefaults__, one.__dict__]
            else:
                left += gc.get_referents(one)
                left += _computed(one)


def _is_ours(one: object) -> bool:
    if isinstance(one, type | types.FunctionType):
        return str(one.__module__).startswith("dndbots")
    return not isinstance(one, types.ModuleType | str | bytes | int | float)


def _computed(one: object) -> list[object]:
    """What is only made when it is asked for: a pattern of a property, a cached grammar or list."""
    if isinstance(one, _lru_cache_wrapper):
        return [one()] if keeps_patterns(one) else []
    return [getattr(one, name) for name in _patterns_of(type(one))]


def keeps_patterns(function: object) -> bool:
    """Whether a function makes patterns or a grammar once and keeps them, so that the walk calls it."""
    if not isinstance(function, _lru_cache_wrapper) or not str(function.__module__).startswith("dndbots"):
        return False
    returned = str(function.__annotations__.get("return"))
    return ("Pattern" in returned or "Lark" in returned) and not inspect.signature(function).parameters


@cache
def _patterns_of(kind: type) -> tuple[str, ...]:
    if not kind.__module__.startswith("dndbots"):
        return ()
    properties = inspect.getmembers_static(kind, lambda value: isinstance(value, property))
    return tuple(name for name, own in properties if "Pattern" in str(own.fget.__annotations__.get("return")))


@cache
def methods_used() -> dict[str, frozenset[str]]:
    """Every global that is a pattern, and by which of its methods it is asked anywhere in the package."""
    used: dict[str, set[str]] = {}
    for module in modules():
        for node in ast.walk(_tree(module)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in CALLS:
                holder = getattr(module, node.value.id, None)
                for name in _names_of(holder) if isinstance(holder, re.Pattern) else []:
                    used.setdefault(name, set()).add(node.attr)
    return {name: frozenset(methods) for name, methods in used.items()}


def _names_of(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{one.__name__}.{name}" for one in modules() for name, value in vars(one).items() if value is pattern
    ]


@cache
def _tree(module: types.ModuleType) -> ast.Module:
    return ast.parse(Path(str(module.__file__)).read_text("utf-8"))


class Written:
    """A call of `re` in the source, and the function it stands in; "" where the module itself makes it."""

    def __init__(self, module: types.ModuleType, call: ast.Call, inside: str) -> None:
        self.module, self.call, self.inside = module, call, inside
        self.function = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        self.place = f"{module.__name__}:{call.lineno}"

    def compiled(self, local: dict[str, object]) -> re.Pattern[str]:
        """The pattern that this call compiles. `local` are values for names that only its function has."""
        names = {**vars(builtins), **vars(self.module), **local}
        source, *more = (
            eval(compile(ast.Expression(one), self.place, "eval"), names)  # noqa: S307 - our own source
            for one in self._parts()
        )
        return source if isinstance(source, re.Pattern) else re.compile(source, *more)

    def _parts(self) -> list[ast.expr]:
        flags = [word.value for word in self.call.keywords if word.arg == "flags"]
        flags += [one for one in self.call.args[1:] if ast.unparse(one).startswith("re.")]
        return [self.call.args[0], *flags[:1]]


def written_patterns() -> list[Written]:
    """Every call of a function of `re` that takes a pattern, in the source of every module."""
    found: list[Written] = []
    for module in modules():
        for node, inside in _calls(_tree(module), ""):
            function = node.func
            if (
                isinstance(function, ast.Attribute)
                and isinstance(function.value, ast.Name)
                and function.value.id == "re"
                and function.attr in CALLS
            ):
                found.append(Written(module, node, inside))
    return found


def _calls(node: ast.AST, inside: str) -> Iterator[tuple[ast.Call, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield child, inside
        deeper = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        name = getattr(child, "name", "lambda") if deeper else inside
        yield from _calls(child, name)


# ---- attack texts
GENERIC = (
    *(
        " ",
        "\n",
        "\t",
        "-",
        "- ",
        "--",
        " --",
        "a",
        "A",
        "0",
        ".",
        "'",
        '"',
        "(",
        ")",
        "[",
        "<",
        "{",
        "*",
        "#",
    ),
    *(
        "_",
        ",",
        ":",
        "a ",
        "A ",
        "I ",
        "Aa ",
        ". ",
        ", ",
        "a, ",
        "A. ",
        "a-",
        "a'",
        '" ',
        "\n ",
        "a\n",
        "@P1@ ",
    ),
    *("the ", "a of ", "and ", "\u2014", "\u201c", "\u2019", "x_1 ", "0.", "\u00e9", "\u4e00"),
)
_SPELLED = {
    sre.CATEGORY_DIGIT: "1",
    sre.CATEGORY_SPACE: " \n",
    sre.CATEGORY_WORD: "aA1_",
    sre.CATEGORY_NOT_DIGIT: "a -",
    sre.CATEGORY_NOT_SPACE: "aA1-",
    sre.CATEGORY_NOT_WORD: " -.",
}
_POOL = "aA1 -.,:'\"()\n_x@"
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
Parts = Iterable[tuple[Any, Any]]


def attack_units(pattern: str, flags: int, *, thorough: bool) -> list[tuple[str, str]]:
    """Heads and the pieces to repeat after them, made from the pattern's own repeats and beginnings."""
    tree = list(sre_parser.parse(pattern, flags))
    units: dict[tuple[str, str], None] = {}
    for variant in range(4 if thorough else 2):
        for head, body in _pumps(tree, "", variant):
            if body:
                units[("", body)] = units[(head, body)] = units[("", head + body)] = None
                units[("", head + body * 20)] = None
        begun = ""
        for part in tree:
            begun += _spell([part], variant)
            if begun:
                units[("", begun)] = None
    if thorough or len(units) < 8:
        units.update(dict.fromkeys(("", one) for one in GENERIC))
    return list(units)


def _pumps(parts: Parts, head: str, variant: int) -> Iterator[tuple[str, str]]:
    """Each repeat without a small limit: what stands before it, and one round of it."""
    for part in parts:
        operation, value = part
        if operation in _REPEATS and value[1] > _LONG:
            yield head, _spell(value[2], variant)
        for inner in _inner(operation, value):
            yield from _pumps(inner, head, variant)
        head += _spell([part], variant)


def _inner(operation: Any, value: Any) -> list[Parts]:
    if operation in _REPEATS:
        return [value[2]]
    if operation is sre.SUBPATTERN:
        return [value[3]]
    if operation is sre.BRANCH:
        return list(value[1])
    if operation in (sre.ASSERT, sre.ASSERT_NOT):
        return [value[1]]
    return [value] if operation is sre.ATOMIC_GROUP else []


def _spell(parts: Parts, variant: int) -> str:
    """A text that these parts match, more or less; variants take other branches and other characters."""
    return "".join(_spell_one(operation, value, variant) for operation, value in parts)


def _spell_one(operation: Any, value: Any, variant: int) -> str:
    spelled = ""  # of anchors, and of what is only looked at
    if operation is sre.LITERAL:
        spelled = chr(value)
    elif operation is sre.NOT_LITERAL:
        spelled = _other({chr(value)}, variant)
    elif operation is sre.ANY:
        spelled = "a "[variant % 2]
    elif operation is sre.IN:
        spelled = _one_of(value, variant)
    elif operation in _REPEATS:
        least, most, body = value
        spelled = _spell(body, variant) * min(max(least, variant % 2), most)
    elif operation not in (sre.ASSERT, sre.ASSERT_NOT) and (inner := _inner(operation, value)):
        spelled = _spell(inner[variant % len(inner)], variant)
    return spelled


def _one_of(choices: list[tuple[Any, Any]], variant: int) -> str:
    some: list[str] = []
    for operation, value in choices:
        if operation is sre.LITERAL:
            some.append(chr(value))
        elif operation is sre.RANGE:
            some += [chr(value[0]), chr(value[1])]
        elif operation is sre.CATEGORY:
            some += _SPELLED[value]
    if choices[0][0] is sre.NEGATE:
        return _other(set(some), variant)
    return some[variant % len(some)]


def _other(excluded: set[str], variant: int) -> str:
    left = [one for one in _POOL if one not in excluded]
    return left[variant % len(left)]


def fill(head: str, body: str, tail: str, size: int) -> str:
    """A text of `size` characters and its tail: the head, then the body again and again."""
    return (head + body * (size // len(body) + 1))[:size] + tail
