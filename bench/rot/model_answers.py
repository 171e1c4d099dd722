"""The same questions, answered by a real model from each system's text, and judged by the exact answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.rot.run import Stage
from bench.rot.score import says

from dndbots.llm.protocol import Question, Role, Voice
from dndbots.llm.settings import Settings
from dndbots.llm.voices import Voices

UNKNOWN = "unknown"
_SYSTEM = (
    "You answer questions about a role-playing campaign from notes. Use the notes only. Answer with the fact"
    " itself, in a few words. If the notes do not tell it, answer with the one word: unknown"
)


@dataclass(kw_only=True)
class Answered:
    """How a model did with the texts of one system: shares of the questions that show each figure."""

    right: float | None
    stale: float | None
    leaked: float | None
    honest: float | None  # said unknown where nothing can be known


def open_voice(model: str, base_url: str | None) -> Voice:
    """The model by name, as `dndbots play` opens it."""
    settings = Settings.model_validate({"model": model} | ({"base_url": base_url} if base_url else {}))
    voice = Voices(settings).voice(Role.EXTRACTOR)
    if voice is None:
        raise SystemExit(f"no model is called {model!r}")
    return voice


def answer_all(voice: Voice, results: Mapping[str, Sequence[Stage]]) -> dict[str, Answered]:
    """Ask the model each question of each system's last stage, with the text that the system gave."""
    return {
        system: _answered(voice, stages[-1]) for system, stages in results.items() if not stages[-1].failure
    }


def _answered(voice: Voice, stage: Stage) -> Answered:
    seen: dict[str, list[bool]] = {"right": [], "stale": [], "leaked": [], "honest": []}
    for reply in stage.replies:
        known = reply["question"]
        notes = "" if reply["refused"] else reply["text"]
        text = f"Notes:\n{notes or '(no record)'}\n\nQuestion from {known['viewer']}: {known['text']}"
        words = voice.ask(Question(role=Role.EXTRACTOR, system=_SYSTEM, text=text)).words
        if known["values"]:
            right = says(words, known["values"])
            seen["right"].append(right)
            if known["older"]:
                seen["stale"].append(not right and says(words, known["older"]))
        elif not known["passages"]:
            seen["honest"].append(UNKNOWN in words.casefold())
        if known["hidden"]:
            seen["leaked"].append(says(words, known["hidden"]))
    return Answered(**{figure: sum(of) / len(of) if of else None for figure, of in seen.items()})
