"""The reference of the command line as Markdown, made from the commands themselves.

`python -m dndbots.cli.maintain.reference docs/cli.md` writes it. It reads what the commands declare, not
their `--help`, so the page is the same on every terminal.
"""

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_WIDTH = 106
_INTRODUCTION = """\
# The command line

`dndbots` plays, keeps campaigns and answers questions about them. `python -m dndbots` is the same program.

A campaign is a folder, or `postgresql://…/database?campaign=name`. Every command that works on one takes
it from `--campaign`, or else from the environment variable `DNDBOTS_CAMPAIGN`.

A command that answers for a character takes it from `--as`: a name, a uid, or `dm`, who sees everything.
Nobody is the DM by default; without `--as`, the command lists the names to choose from. Names work wherever
uids do.

Answers go to standard output, everything else to standard error. With `--json`, the answer is one JSON
document; `log` and `play` print one for each event. Control characters in a campaign's text are
spelled out (`\\x1b`), so nothing in it can control a terminal.

| exit code | meaning |
|---|---|
| 0 | success |
| 1 | a problem or a refusal |
| 2 | a wrong call, or a file that cannot be imported |
| 130 | interrupted; everything acknowledged so far is saved |

## Transcripts

`dndbots import` recognises three kinds of files by their content:

- JSON lines, an object a line, of any number. Only `speaker` and `text` are required; `id`, `session`,
  `role`, `witnesses`, `location` and `time` are understood, other fields are kept.
- A JSON array of such objects.
- An episode of Critical Role in the form of the CRD3 data set: an object with `TURNS`, each with `NAMES` and
  `UTTERANCES`. The file's name is the session; with the turn's index, from 0, it is the id: `C1E001:17`.

## Commands
"""


def build_reference() -> str:
    """Return the whole page."""
    from dndbots.cli.app import load_program

    return "\n".join([_INTRODUCTION, *_sections(load_program(), "dndbots")]).rstrip("\n") + "\n"


def _sections(command: Any, name: str) -> Iterator[str]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield from _section(command, name)
        return
    options = [param for param in command.params if not param.hidden]
    if options:
        yield from [f"### {name}", "", *map(_item, options), ""]
    for word, subcommand in sorted(inner.items()):
        yield from _sections(subcommand, f"{name} {word}")


def _section(command: Any, name: str) -> Iterator[str]:
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option" and not param.hidden]
    usage = [name, *map(_in_usage, [*arguments, *options])]
    yield from [f"### {name}", "", *_paragraphs(command.help or ""), ""]
    yield from ["```text", *_wrapped(usage), "```", ""]
    yield from [*map(_item, [*arguments, *options]), ""]


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the lines of a help text, which has its paragraphs on one line each and its brackets escaped."""
    for line in text.replace(r"\[", "[").split("\n"):
        yield from textwrap.wrap(line, _WIDTH, break_long_words=False, break_on_hyphens=False) or [""]


def _in_usage(param: Any) -> str:
    shown = _value_name(param) if param.param_type_name == "argument" else _spelling(param, param.opts[0])
    return str(shown) if param.required else f"[{shown}]"


def _value_name(param: Any) -> str:
    """Return the name of an argument, with dots if there may be several."""
    return f"{param.metavar}..." if param.nargs != 1 else str(param.metavar)


def _spelling(param: Any, name: str) -> str:
    return name if param.is_flag else f"{name} {param.metavar}"


def _item(param: Any) -> str:
    if param.param_type_name == "argument":
        names = f"`{_value_name(param)}`"
    else:
        names = ", ".join(f"`{_spelling(param, name)}`" for name in param.opts)
    notes = []
    if param.required:
        notes.append("required")
    elif param.default not in (None, "") and not getattr(param, "is_flag", False):
        notes.append(f"default `{param.default}`")
    if param.envvar:
        notes.append(f"environment `{param.envvar}`")
    return f"- {names}: {param.help}" + (f" ({', '.join(notes)})" if notes else "")


def _wrapped(words: list[str], width: int = 90) -> Iterator[str]:
    line = words[0]
    for word in words[1:]:
        if len(line) + 1 + len(word) > width:
            yield line
            line = f"   {word}"
        else:
            line = f"{line} {word}"
    yield line


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(build_reference(), encoding="utf-8", newline="\n")
