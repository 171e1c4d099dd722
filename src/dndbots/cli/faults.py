"""How a command ends that did not go well: one line on standard error, and an exit code.

0 is fine, 1 is something found wrong or refused, 2 is a wrong call or a file that cannot be imported,
130 is an interruption.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from dndbots.cli import show
from dndbots.errors import DndbotsError, InvalidModule, InvalidTranscript, NotInRules

if TYPE_CHECKING:
    from pydantic import ValidationError

WRONG: Final = 1
UNUSABLE: Final = 2
INTERRUPTED: Final = 130
_PASSWORD = re.compile(r"(?<=://)([^\s:/@]*):\S*@")


class Refusal(Exception):
    """Something that the command line itself refuses, in words, with its exit code."""

    def __init__(self, words: str, *, code: int = WRONG) -> None:
        super().__init__(words)
        self.code = code


@contextmanager
def told() -> Iterator[None]:
    """Errors that have words of their own end the program with those words. Others are bugs, and show."""
    try:
        yield
        # What is left in the buffer may meet a closed pipe too, and after this nobody would catch it.
        sys.stdout.flush()
    except KeyboardInterrupt:
        raise _ended(
            "interrupted; nothing that was acknowledged is lost, and the same command can be run again",
            INTERRUPTED,
        ) from None
    except BrokenPipeError:
        _let_go_of_output()
        raise typer.Exit(0) from None
    except Refusal as exc:
        raise _ended(str(exc), exc.code) from exc
    except InvalidModule as exc:
        for line, path, reason in exc.problems:
            show.note(f"error: {exc.file}:{line}: {path}: {reason}")
        raise typer.Exit(UNUSABLE) from exc
    except DndbotsError as exc:
        raise _ended(str(exc), WRONG) from exc
    except OSError as exc:
        raise _ended(_of_system(exc), WRONG) from exc
    except ValueError as exc:
        raise _ended(_of_value(exc), WRONG) from exc


@contextmanager
def in_file(path: Path, place: Callable[[int], str] = "line {}".format) -> Iterator[None]:
    """A line that cannot be imported is told with its file. `place` says where the n-th line stands."""
    try:
        yield
    except InvalidTranscript as exc:
        words = f"{path}, {place(exc.line)}: {exc.field}: {exc.reason}"
        raise Refusal(words, code=UNUSABLE) from exc
    except NotInRules as exc:
        raise Refusal(f"{path}: {exc}", code=UNUSABLE) from exc
    except ValueError as exc:
        raise Refusal(f"{path}: {_of_value(exc)}", code=UNUSABLE) from exc


def without_password(address: str) -> str:
    return _PASSWORD.sub(r"\1:***@", address)


def _ended(words: str, code: int) -> typer.Exit:
    show.note(f"error: {without_password(words)}")
    return typer.Exit(code)


def _of_system(exc: OSError) -> str:
    reason = exc.strerror or str(exc)
    return f"{exc.filename}: {reason}" if exc.filename is not None else reason


def _of_value(exc: ValueError) -> str:
    """The words of errors that values from outside end in; any other error of the kind is a bug of ours."""
    from pydantic import ValidationError

    if isinstance(exc, UnicodeEncodeError):
        return f"{exc.object!r} is not text: {exc.reason}; say it in UTF-8"
    if isinstance(exc, ValidationError):
        return _of_validation(exc)
    raise exc


def _of_validation(exc: "ValidationError") -> str:
    first = exc.errors()[0]
    where = ".".join(map(str, first["loc"])) or exc.title
    return f"{where}: {first['msg']}"


def _let_go_of_output() -> None:
    """Python flushes standard output once more at its end, and that must not fail again."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return  # an output without a file has nothing that could be flushed
