"""Real play instead of a told story: any transcript that dndbots imports, with a file of questions.

A question is a JSON line: `{"question": "…", "viewer": "Zara", "evidence": ["D1:3"]}`. `viewer` is the DM if
left out; an empty `evidence` says that nothing answers it. Questions of CRD3 are read as well:
`{"episode": "C1E001", "query": "…", "first": 10, "last": 12}`. Those turns and three around them answer it.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.rot.questions import Known

from dndbots.interop.transcript_files import TranscriptFile

_AROUND = 3


def read_stage(
    files: Sequence[Path], questions: Path, dm: str | None
) -> tuple[list[dict[str, object]], list[Known]]:
    """The lines of all files, and the questions about them; each file is a session."""
    lines = [line for file in files for line in _lines_of(file, dm)]
    places = {line["id"]: number for number, line in enumerate(lines)}
    known = [
        _question(number, json.loads(row), lines, places)
        for number, row in enumerate(questions.read_text(encoding="utf-8").splitlines(), 1)
    ]
    return lines, [question for question in known if question is not None]


def _lines_of(file: Path, dm: str | None) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    for number, line in enumerate(TranscriptFile(file, dm=dm)):
        speaker = line["speaker"]
        kept = dict(line) | {
            "id": str(line.get("id") or f"{file.stem}:{number}"),
            "session": str(line.get("session") or file.stem),
            "speaker": "/".join(map(str, speaker)) if isinstance(speaker, list) else str(speaker),
            "role": str(line.get("role") or "pc"),
            "location": str(line.get("location") or ""),
        }
        lines.append(kept)
    # Without witnesses, everybody who speaks in a session perceives it.
    present = sorted({str(line["speaker"]) for line in lines})
    for line in lines:
        heard = line.get("witnesses") or present
        line["witnesses"] = sorted({*map(str, heard), "dm"})
        if not line["location"]:
            del line["location"]
    return lines


def _question(
    number: int, row: dict[str, Any], lines: Sequence[dict[str, Any]], places: dict[str, int]
) -> Known | None:
    if "query" in row:
        evidence = []
        if row.get("episode"):
            around = range(row["first"] - _AROUND, row["last"] + _AROUND + 1)
            evidence = [f"{row['episode']}:{turn}" for turn in around]
            evidence = [name for name in evidence if name in places]
            if not evidence:
                return None
        row = {"question": row["query"], "evidence": evidence}
    texts = tuple(str(lines[places[name]]["text"]) for name in row["evidence"])
    ages = [len(lines) - places[name] for name in row["evidence"]]
    return Known(
        number=number,
        viewer=str(row.get("viewer") or "dm"),
        text=row["question"],
        kind="told" if texts else "never told",
        names=(),
        passages=texts,
        age=min(ages, default=None),
    )
