"""Runs one system over a story: adds the lines, asks the questions, and keeps what each of them cost."""

import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.rot.environments import Environment
from bench.rot.questions import Known
from bench.rot.score import Tally, Verdict, judge

from dndbots.tokens import count_tokens

BATCH = 50  # lines a call: a scene or two, as a game would add them
_ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(kw_only=True)
class Stage:
    """How a system does once it has so many lines; over several stories, if they were merged."""

    turns: int
    stories: int = 1
    tally: Tally = field(default_factory=Tally)
    add_cpu: float = 0.0  # all of it, from the first line on
    ask_cpu: float = 0.0
    context_cpu: float = 0.0
    model_calls: int = 0
    size: int = 0
    over_budget: int = 0
    contexts: list[int] = field(default_factory=list)  # tokens of the context of each viewer
    replies: list[dict[str, Any]] = field(default_factory=list)
    failure: str = ""

    @property
    def lines(self) -> int:
        """The lines that were added, in all stories."""
        return self.turns * self.stories


def save_stages(path: Path, stages: Sequence[Stage]) -> None:
    """Write what one system did with one story."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(stage) for stage in stages]), encoding="utf-8")


def load_stages(path: Path) -> list[Stage]:
    """Read what `save_stages` wrote."""
    stages = [Stage(**fields) for fields in json.loads(path.read_text(encoding="utf-8"))]
    for stage in stages:
        verdicts = stage.tally["verdicts"]  # type: ignore[index] - as it was written
        stage.tally = Tally(verdicts=[Verdict(**verdict) for verdict in verdicts])
    return stages


def merge_stages(stories: Sequence[Sequence[Stage]]) -> list[Stage]:
    """Return one stage for each length, with the answers and the costs of all stories."""
    merged: dict[int, Stage] = {}
    for stage in (stage for stages in stories for stage in stages):
        whole = merged.setdefault(stage.turns, Stage(turns=stage.turns, stories=0))
        whole.stories += stage.stories
        whole.tally.verdicts += stage.tally.verdicts
        whole.contexts += stage.contexts
        whole.replies += stage.replies
        whole.failure = whole.failure or stage.failure
        for cost in ("add_cpu", "ask_cpu", "context_cpu", "model_calls", "size", "over_budget"):
            setattr(whole, cost, getattr(whole, cost) + getattr(stage, cost))
    return [merged[turns] for turns in sorted(merged)]


class Worker:
    """A process that holds one system."""

    def __init__(self, system: str, environment: Environment, folder: Path) -> None:
        self.folder = folder
        self._log = (folder.parent / f"{system}.log").open("w", encoding="utf-8")
        self._process = subprocess.Popen(
            [str(environment.python), "-m", "bench.rot.worker", system, str(folder)],
            cwd=_ROOT,
            # Nothing leaves the machine, and nothing is drawn by chance.
            env=os.environ | {"PYTHONHASHSEED": "0", "HF_HUB_OFFLINE": "1", "MEM0_TELEMETRY": "False"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
        )

    def call(self, **command: object) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        assert self._process.stdin
        assert self._process.stdout
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(command), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            lines = Path(self._log.name).read_text(encoding="utf-8").strip().splitlines() or [
                "no reason given"
            ]
            return {"error": f"the process ended: {lines[-1][:300]}", "cpu": 0.0, "model_calls": 0}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process.stdin:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        self._process.wait(timeout=600)
        if self._process.stdout:
            self._process.stdout.close()
        self._log.close()


@contextlib.contextmanager
def started(system: str, environment: Environment) -> Iterator[Worker]:
    """A worker with a folder of its own, which goes when it ends."""
    with tempfile.TemporaryDirectory(prefix="rot-") as temporary:
        folder = Path(temporary) / "data"
        folder.mkdir()
        worker = Worker(system, environment, folder)
        try:
            yield worker
        finally:
            worker.close()


def measure(
    worker: Worker,
    stages: Sequence[tuple[Sequence[dict[str, object]], Sequence[Known]]],
    budget: int,
    progress: Callable[[str], None],
) -> list[Stage]:
    """Add the lines of each stage and ask its questions. Stops at the first failure."""
    done: list[Stage] = []
    turns, add_cpu, calls = 0, 0.0, 0
    for lines, questions in stages:
        stage = Stage(turns=turns + len(lines))
        done.append(stage)
        for start in range(0, len(lines), BATCH):
            answer = worker.call(do="add", lines=list(lines[start : start + BATCH]))
            add_cpu, calls = add_cpu + answer["cpu"], calls + answer["model_calls"]
            if "error" in answer:
                stage.failure = answer["error"]
                return done
            if start // BATCH % 20 == 0:
                progress(f"{turns + start} lines")
        turns += len(lines)
        stage.add_cpu = add_cpu
        # Contexts first: what a system loads when it is first asked is no cost of a question.
        for viewer in sorted({known.viewer for known in questions}):
            answer = worker.call(do="context", viewer=viewer, budget=budget)
            if "error" in answer:
                stage.failure = answer["error"]
                return done
            stage.context_cpu += answer["cpu"]
            stage.contexts.append(count_tokens(answer["text"]))
            stage.over_budget += stage.contexts[-1] > budget
        for known in questions:
            answer = worker.call(do="ask", viewer=known.viewer, question=known.text, budget=budget)
            if "error" in answer:
                stage.failure = answer["error"]
                return done
            calls += answer["model_calls"]
            _keep(stage, known, answer, budget)
            progress(f"{turns} lines, question {known.number} of {len(questions)}")
        stage.model_calls = calls
        stage.size = sum(path.stat().st_size for path in worker.folder.rglob("*") if path.is_file())
    return done


def _keep(stage: Stage, known: Known, answer: dict[str, Any], budget: int) -> None:
    tokens = count_tokens(answer["text"])
    stage.over_budget += tokens > budget
    stage.ask_cpu += answer["cpu"]
    stage.tally.verdicts.append(
        judge(known, answer["text"], refused=answer["refused"], tokens=tokens, cpu=answer["cpu"])
    )
    stage.replies.append({"question": known.to_json(), "text": answer["text"], "refused": answer["refused"]})
