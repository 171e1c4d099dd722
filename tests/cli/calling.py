"""What a call of the program answers, and the files it is called with."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

# Set where tests run for people to watch; they make rich and typer colour what is no terminal.
COLOURING = ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
HOSTILE = "\x1b[31mred\x1b[0m \x9b2J \u202eleft [bold]markup[/bold] :skull:"


class Answer(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Answer]


def transcript(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def plain_environment() -> dict[str, str]:
    """The environment of a program that writes into a pipe of eighty columns, and buffers what it writes."""
    changing = (*COLOURING, "PYTHONUNBUFFERED")
    kept = {name: value for name, value in os.environ.items() if name not in changing}
    return kept | {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}


def program(*words: object, **env: str) -> Answer:
    """Calls the program in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "dndbots", *map(str, words)],
        capture_output=True,
        check=False,
        env=plain_environment() | env,
    )
    return Answer(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))
