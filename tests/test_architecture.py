"""Imports point down. What each layer may use is written here, once."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "dndbots"

# From the bottom up. A module may import what stands in a lower row, or beside it in its own package.
LAYERS = [
    ["errors", "_lazy", "_jsontext", "__version__"],
    ["ids", "tokens"],
    ["text"],
    ["models", "events"],
    ["dcml"],
    ["canon"],
    ["storage"],
    ["rules"],
    ["llm"],
    ["prompts"],
    ["memory"],
    ["interop"],
    ["compaction"],
    ["campaign"],
    ["jobs"],
    ["game"],
    ["cli", "web", "mcp", "worker", "testing"],
    ["__main__", "demo"],
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
# The language stands alone.
ONLY = {"dcml": {"dcml", "errors"}}


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def room_of(module: str) -> str:
    """The part of the program that a module is in: `dndbots.dcml.tree` is in `dcml`."""
    return module.split(".")[1] if "." in module else ""


def imports_of(path: Path) -> set[str]:
    """Every module of ours that a file imports, also inside functions and for type checking."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            base = node.module or ""
            found |= {f"dndbots.{alias.name}" for alias in node.names} if base == "dndbots" else {base}
    return {name for name in found if name == "dndbots" or name.startswith("dndbots.")}


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_every_part_has_a_rank() -> None:
    """A new part of the program says where it stands."""
    rooms = {room_of(module_name(path)) for path in modules()} - {""}
    assert rooms <= set(RANK)


@pytest.mark.parametrize("path", modules(), ids=module_name)
def test_imports_point_down(path: Path) -> None:
    """No layer knows the ones above it."""
    room = room_of(module_name(path))
    if not room:
        return  # the package itself names what it exports, wherever it lives
    for imported in imports_of(path):
        other = room_of(imported)
        assert other == room or RANK[other] < RANK[room], f"{module_name(path)} imports {imported}"
        assert other in ONLY.get(room, {other}), f"{module_name(path)} imports {imported}"


@pytest.mark.parametrize("path", modules(), ids=module_name)
def test_no_star_imports(path: Path) -> None:
    """One declared surface: every name is imported by name."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert all(alias.name != "*" for alias in node.names)


HEAVY = (
    "langchain",
    "langchain_core",
    "langchain_openai",
    "langgraph",
    "sqlalchemy",
    "alembic",
    "lark",
    "toktok",
    "pydantic",
)


@pytest.mark.parametrize(
    ("module", "allowed"),
    [
        ("dndbots", set()),
        ("dndbots.dcml", set()),
        ("dndbots.memory", set()),
        ("dndbots.compaction", set()),
        ("dndbots.rules", set()),
        ("dndbots.events", {"pydantic"}),
        ("dndbots.llm.voices", {"pydantic"}),
    ],
)
def test_importing_is_light(module: str, allowed: set[str]) -> None:
    """Heavy libraries load where they are used, not when a name is imported."""
    program = f"import sys, {module}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(HEAVY) & set(loaded.stdout.split()) <= allowed


def test_no_file_that_can_be_run_stands_beside_one_that_hides_a_module_of_python() -> None:
    """Python looks beside a file that it runs first: a `_json.py` there takes the place of its own."""
    scripts = [path for path in modules() if '__name__ == "__main__"' in path.read_text("utf-8")]
    folders = {SOURCE, *(path.parent for path in scripts)}
    for folder in folders:
        names = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
        assert not names & sys.stdlib_module_names, folder
