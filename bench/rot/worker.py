"""The program that holds one system: reads commands as JSON lines, answers with JSON lines and their cost.

It runs in the environment of that system, so it imports nothing but the standard library and the system.
"""

import argparse
import contextlib
import importlib
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

from bench.rot.memory import Memory
from bench.rot.stub_model import CALLS


def main() -> None:
    """Serve one system until the commands end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("system")
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no answer
    with contextlib.closing(
        importlib.import_module(f"bench.rot.systems.{args.system}").open_memory(args.folder)
    ) as memory:
        for command in sys.stdin:
            print(json.dumps(_obey(memory, json.loads(command))), file=answers, flush=True)


def _obey(memory: Memory, command: dict[str, Any]) -> dict[str, Any]:
    before, calls = _cpu(), CALLS.total()
    try:
        answer = _answer(memory, command)
    except Exception as exc:  # noqa: BLE001 - whatever a system does wrong is a result of its own
        answer = {"error": f"{type(exc).__name__}: {exc}"}
    return answer | {"cpu": _cpu() - before, "model_calls": CALLS.total() - calls}


def _answer(memory: Memory, command: dict[str, Any]) -> dict[str, Any]:
    match command["do"]:
        case "add":
            memory.add(command["lines"])
            return {}
        case "context":
            return {"text": memory.context(command["viewer"], command["budget"])}
        case "ask":
            reply = memory.ask(command["viewer"], command["question"], command["budget"])
            return {"text": reply.text, "refused": reply.refused}
    return {"error": f"no command {command['do']!r}"}


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    main()
