"""The module map: every module with the first sentence of its docstring. `make map` writes it."""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "dndbots"
MAP_PAGE = ROOT / "docs" / "module-map.md"
_HEAD = """# Module map

Every module, with the first line of its docstring. `make map` writes this page, and a test keeps it true. The
order of the rooms, and which may import which, is in [architecture](architecture.md).
"""


def module_map() -> str:
    """Return the page as Markdown: a heading for each folder, a line for each module."""
    parts = [_HEAD]
    folders = sorted({path.parent for path in SOURCE.rglob("*.py")} - _migrations())
    for folder in folders:
        name = folder.relative_to(SOURCE.parent).as_posix()
        parts.append(f"\n## {name}\n\n{_first_line(folder / '__init__.py')}\n\n")
        modules = sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")
        parts += [f"- `{path.stem}`: {_first_line(path)}\n" for path in modules]
    return "".join(parts)


def _migrations() -> set[Path]:
    return {path for path in SOURCE.rglob("*") if "migrations" in path.parts}


def _first_line(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return text.split("\n\n")[0].replace("\n", " ")


if __name__ == "__main__":
    MAP_PAGE.write_text(module_map(), "utf-8")
