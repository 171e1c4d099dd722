"""Messages and exit codes of failed commands: one line on standard error, and a code.

0 means success, 1 a problem or a refusal, 2 a wrong call or a file that cannot be imported, 130 an
interruption.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from dndbots.cli import console
from dndbots.errors import DndbotsError, InvalidModule, InvalidTranscript, NotInRules, UnreadableFile

if TYPE_CHECKING:
    from pydantic import ValidationError

WRONG: Final = 1
UNUSABLE: Final = 2
INTERRUPTED: Final = 130
_PASSWORD = re.compile(r"(?<=://)([^\s:/@]*):\S*@")


class Refusal(Exception):
    """A refusal by the command line itself, with its message and exit code."""

    def __init__(self, message: str, *, code: int = WRONG) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def explained() -> Iterator[None]:
    """End the program with the message of an expected error. Any other error is a bug and shows as one."""
    try:
        yield
        # Text left in the buffer may meet a closed pipe as well; nothing would catch that later.
        sys.stdout.flush()
    except KeyboardInterrupt:
        raise _exit_with(
            "interrupted; everything acknowledged so far is saved, and you can run the same command again",
            INTERRUPTED,
        ) from None
    except BrokenPipeError:
        _abandon_output()
        raise typer.Exit(0) from None
    except Refusal as exc:
        raise _exit_with(str(exc), exc.code) from exc
    except InvalidModule as exc:
        for line, path, reason in exc.problems:
            console.note(f"error: {exc.file}:{line}: {path}: {reason}")
        raise typer.Exit(UNUSABLE) from exc
    except DndbotsError as exc:
        raise _exit_with(str(exc), WRONG) from exc
    except OSError as exc:
        raise _exit_with(_explain_system_error(exc), WRONG) from exc
    except ValueError as exc:
        raise _exit_with(_explain_value_error(exc), WRONG) from exc


@contextmanager
def in_file(path: Path, locate: Callable[[int], str] = "line {}".format) -> Iterator[None]:
    """Name the file of a line that cannot be imported. `locate` says where the n-th line stands."""
    try:
        yield
    except InvalidTranscript as exc:
        message = f"{path}, {locate(exc.line)}: {exc.field}: {exc.reason}"
        raise Refusal(message, code=UNUSABLE) from exc
    except NotInRules as exc:
        raise Refusal(f"{path}: {exc}", code=UNUSABLE) from exc
    except ValueError as exc:
        raise Refusal(f"{path}: {_explain_value_error(exc)}", code=UNUSABLE) from exc


@contextmanager
def in_file_of_others() -> Iterator[None]:
    """Refuse a file of another program that cannot be read."""
    try:
        yield
    except UnreadableFile as exc:
        raise Refusal(str(exc), code=UNUSABLE) from exc


def without_password(address: str) -> str:
    """Return a text with the passwords of its addresses replaced by stars."""
    return _PASSWORD.sub(r"\1:***@", address)


def _exit_with(message: str, code: int) -> typer.Exit:
    console.note(f"error: {without_password(message)}")
    return typer.Exit(code)


def _explain_system_error(exc: OSError) -> str:
    reason = exc.strerror or str(exc)
    return f"{exc.filename}: {reason}" if exc.filename is not None else reason


def _explain_value_error(exc: ValueError) -> str:
    """Return the message for a bad value from outside. Re-raise any other ValueError: it is a bug."""
    from pydantic import ValidationError

    if isinstance(exc, UnicodeEncodeError):
        return f"{exc.object!r} is not text: {exc.reason}; write it in UTF-8"
    if isinstance(exc, ValidationError):
        return _explain_validation_error(exc)
    raise exc


def _explain_validation_error(exc: "ValidationError") -> str:
    first = exc.errors()[0]
    where = ".".join(map(str, first["loc"])) or exc.title
    return f"{where}: {first['msg']}"


def _abandon_output() -> None:
    """Point standard output at nothing: Python flushes it once more at exit, and that must not fail."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return  # an output without a file has nothing to flush
