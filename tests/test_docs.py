"""Every code block in README and docs runs, and prints what the page says it prints."""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from dndbots import demo
from dndbots.game.adventures import load
from dndbots.llm.settings import read_settings

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FILE = re.compile(r"`([\w-]+\.yaml)`:?$")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What installs cannot run here: tests have no network. CI installs by the Makefile, which runs the same.
INSTALLS = {
    "python3 -m venv .venv && .venv/bin/python -m pip install --editable .",
    "uv sync --extra dev",
    "pip install 'dndbots[openai]'",
}


class Block(NamedTuple):
    """A block of code, and the file that the line before it names."""

    language: str
    code: str
    file: str | None = None


def blocks(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    found = []
    for match in FENCE.finditer(text):
        named = FILE.search(text[: match.start()].rstrip())
        found.append(Block(*match.groups(), file=named[1] if named else None))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_run_and_print_what_the_page_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after another, in one namespace and one folder; the text behind a block is what it prints."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    module: dict[str, Any] = {}
    for block, following in pairwise([*blocks(page), Block("", "")]):
        if block.language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(block.code, page.name, "exec"), namespace)  # noqa: S102 - our own pages
            told = printed.getvalue()
        elif block.language == "sh" and block.code.startswith("dndbots "):
            told = "".join(_run(line) for line in block.code.splitlines())
        elif block.language == "yaml":
            module = _module_with(block, module)
            continue
        elif block.language == "toml":
            read_settings(block.code)
            continue
        else:
            continue
        if following.language == "text":
            assert told == following.code


def _module_with(block: Block, module: dict[str, Any]) -> dict[str, Any]:
    """A whole module is kept under its name; any other piece is laid over the module before it. All load."""
    if block.file:
        Path(block.file).write_text(block.code, "utf-8")
        load(Path(block.file))
    piece = yaml.load(block.code, Loader=yaml.BaseLoader)  # noqa: S506 - it makes nothing but text
    module = piece if block.file else _laid_over(module, piece)
    load(yaml.safe_dump(module, sort_keys=False))
    return module


def _laid_over(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    both = {key: _laid_over(under[key], over[key]) for key in under if isinstance(over.get(key), dict)}
    return {**under, **over, **both}


def _run(line: str) -> str:
    """A command as a reader would type it, in a terminal of eighty columns; `< FILE` is what it reads."""
    command, _, typed = line.partition(" < ")
    _, *words = shlex.split(command)
    done = subprocess.run(
        [sys.executable, "-m", "dndbots", *words],
        input=Path(typed).read_text("utf-8") if typed else "",
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "80"},
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_has_a_language_that_is_tested(page: Path) -> None:
    """A block that nothing runs would drift."""
    assert {block.language for block in blocks(page)} <= {"python", "text", "sh", "toml", "yaml"}


def shell_lines() -> list[str]:
    return [
        line
        for page in PAGES
        for block in blocks(page)
        if block.language == "sh"
        for line in block.code.splitlines()
    ]


@pytest.mark.parametrize("line", shell_lines())
def test_shell_lines_name_what_exists(line: str) -> None:
    """Targets of the Makefile, the demo, and the ways to install."""
    if line.startswith("make "):
        make = shutil.which("make")
        assert make, "make is part of every machine that runs the tests"
        subprocess.run([make, "--dry-run", *line.split()[1:]], cwd=ROOT, check=True, capture_output=True)
    elif line.endswith("python -m dndbots.demo"):
        assert callable(demo.main)
    elif line.startswith("dndbots "):
        pass  # these are run with the page that they stand on
    elif line.startswith(".venv/bin/python -m pytest "):
        assert (ROOT / line.split()[3]).exists()
    else:
        assert line in INSTALLS
