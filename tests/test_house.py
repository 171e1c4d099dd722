"""The house stays in order: small rooms, names of their own, docstrings that start with what is done."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest
from tests.module_map import MAP_PAGE, module_map

SOURCE = Path(__file__).parent.parent / "src" / "dndbots"
MODULES = sorted(path for path in SOURCE.rglob("*.py") if "versions" not in path.parts)
MOST_MODULES = 15
MOST_LINES = 500
# Nouns that end in -ing.
NOUNS = {"healing", "ranking", "spelling", "testing", "turning"}
RIDDLE = re.compile(r"(?:What|Who|Whom|Whose|Whoever|Whatever|Those|That|Where|Whether|Which)\b")


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


@pytest.mark.parametrize("folder", sorted({path.parent for path in MODULES}), ids=lambda path: path.name)
def test_a_folder_can_be_taken_in_at_a_glance(folder: Path) -> None:
    """A folder with more modules than a reader can keep in mind is two rooms."""
    assert len([path for path in folder.glob("*.py") if path.name != "__init__.py"]) <= MOST_MODULES


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_is_one_room(path: Path) -> None:
    """A module has one reason to change; nobody reads a thousand lines for that."""
    assert len(path.read_text("utf-8").splitlines()) <= MOST_LINES


def test_modules_are_named_for_what_they_hold() -> None:
    """A noun says what is in a module; a gerund says what somebody is up to."""
    gerunds = {path.stem for path in MODULES if path.stem.endswith("ing")} | {
        path.name for path in SOURCE.rglob("*") if path.is_dir() and path.name.endswith("ing")
    }
    assert gerunds <= NOUNS


def test_every_public_class_has_a_name_of_its_own() -> None:
    """A reader who meets a name knows which class it is, without its import."""
    homes: dict[str, list[str]] = defaultdict(list)
    for path in MODULES:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(name_of(path))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_docstrings_say_what_is_done(path: Path) -> None:
    """A docstring starts with a verb or with the thing itself; a module has one."""
    tree = ast.parse(path.read_text("utf-8"))
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    documented = [tree, *(node for node in ast.walk(tree) if isinstance(node, kinds))]
    riddles = [text for node in documented if RIDDLE.match(text := ast.get_docstring(node) or "")]
    assert riddles == []
    assert ast.get_docstring(tree) or path.stat().st_size == 0


def test_the_module_map_is_true() -> None:
    """`make map` writes the page again."""
    assert MAP_PAGE.read_text("utf-8") == module_map()
