"""Score what is made of typed lines, by the rules of `understanding.md`.

python -m tests.game.input.understanding_score PATH [--show-wrong]
"""

import gzip
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from dndbots.events import GameEvent
from dndbots.game.input.line_reader import understand_line
from dndbots.game.input.vocabulary.verb_odds import coarse_verb
from dndbots.game.state.options import Surroundings
from dndbots.game.state.table import Table, deliver_event
from dndbots.ids import DM
from dndbots.rules.tables import key_of

HERE = Path(__file__).parent
SCENES = HERE / "understanding_scenes.json"
_TALK = ("ask", "tell", "say", "whisper", "parley")
_UNSLOTTED = ("unclear", "refused", "meta")


@cache
def scenes() -> dict[str, dict[str, Any]]:
    return {scene["name"]: scene for scene in json.loads(SCENES.read_text("utf-8"))}


@cache
def table_of(name: str) -> tuple[Table, str]:
    """Fold the log of a scene; return the seat's own table, and its uid."""
    scene = scenes()[name]
    lines = gzip.decompress((HERE / "scenes" / f"{name}.jsonl.gz").read_bytes()).decode().splitlines()
    tables: dict[str, Table] = {DM: Table()}
    for line in lines:
        deliver_event(GameEvent.model_validate_json(line), tables)
    who = next(uid for uid in tables[DM].seats if tables[DM].name(uid) == scene["who"])
    return tables[who], who


def seen_in(name: str) -> dict[str, Any]:
    """Return what the seat has before it in a scene, in the form of `expect`."""
    table, who = table_of(name)
    here = Surroundings(table, who)
    sheet = table.character(who)
    foes = [uid for uid in dict.fromkeys((*here.foes(), *here.people())) if uid.startswith("mon_")]
    return {
        "place": table.name(here.uid),
        "party": [table.name(uid) for uid in table.together(here.uid)],
        "people": [here.called(uid) for uid in here.people() if uid.startswith("npc_")],
        "foes": [(here.called(uid), table.fact(uid, "number")) for uid in foes],
        "things": [*here.sights.things.values()],
        "ways": [*here.sights.ways],
        "offers": [here.called(uid) for uid in here.quests()],
        "sheet": {
            "hp": f"{table.fact(who, 'hp')}/{table.fact(who, 'hp_max')}",
            "gold": None if sheet is None else sheet.gold,
            "items": [*table.items(who)],
            "spells": table.spells(who),
        },
    }


def wanted_in(name: str) -> dict[str, Any]:
    """Return what must be there in a scene, in the form of `seen_in`."""
    expect = scenes()[name]["expect"]
    return {
        **expect,
        "people": [person["known_as"] for person in expect["people"]],
        "foes": [(foe["known_as"], foe["number"]) for foe in expect["foes"]],
    }


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


@dataclass
class Score:
    """The figures of a set of lines."""

    lines: int = 0
    right: int = 0
    swallowed: int = 0
    two: int = 0
    two_kept: int = 0
    seconds: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)
    right_kinds: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[dict[str, Any], dict[str, Any]]] = field(default_factory=list)

    @property
    def right_share(self) -> float:
        return self.right / max(self.lines, 1)

    @property
    def swallowed_share(self) -> float:
        return self.swallowed / max(self.lines, 1)


def score_lines(lines: Iterable[Mapping[str, Any]]) -> Score:
    score = Score()
    for line in lines:
        table, who = table_of(line["scene"])
        started = time.process_time()
        answer = understand_line(table, who, line["line"]).to_json()
        score.seconds += time.process_time() - started
        is_right = fits(line, answer)
        score.lines += 1
        score.kinds[line["kind"]] += 1
        score.right += is_right
        score.right_kinds[line["kind"]] += is_right
        score.swallowed += coarse(answer) == "say" and "say" not in line["verbs"]
        if "then" in line:
            score.two += 1
            score.two_kept += _is_kept(line, answer)
        if not is_right:
            score.wrong.append((dict(line), answer))
    return score


def coarse(answer: Mapping[str, Any]) -> str:
    return coarse_verb(answer["verb"])


def fits(line: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    """Check a line's verb, and its target and object where it has them."""
    verb = coarse(answer)
    if verb not in line["verbs"]:
        return False
    if verb == "unclear":
        return bool(answer["readings"]) or line["kind"] == "unclear"
    if verb == "refused":
        return bool(answer["reason"])
    if verb in _UNSLOTTED:
        return True
    return _target_fits(line, answer) and _what_fits(line, answer, verb)


def _target_fits(line: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    wanted = line.get("target")
    if wanted is None:
        return True
    target = key_of(answer["target"] or "")
    expect = scenes()[line["scene"]]["expect"]
    for known in (*expect["people"], *expect["foes"]):
        if known["known_as"] == wanted:
            return any(key_of(word) in target for word in known["fits"])
    first = next(name for name in wanted.split() if name != "Sister")
    return first.casefold() in target.casefold()


def _what_fits(line: Mapping[str, Any], answer: Mapping[str, Any], verb: str) -> bool:
    wanted = line.get("what")
    if wanted is None:
        return True
    where = [answer["what"] or ""]
    if verb in _TALK:
        where.append(answer["words"] or "")
    if verb in ("attack", "cast"):
        where.append(answer.get("means") or "")
    text = " ".join(where).casefold()
    return any(word.casefold() in text for word in wanted.split("|"))


def _is_kept(line: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    then = answer.get("then")
    return then is not None and coarse(then) in line["then"]


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def print_score(score: Score, *, show_wrong: bool) -> None:
    _say(f"{score.right}/{score.lines} right: {score.right_share:.3f}")
    _say(f"{score.swallowed}/{score.lines} swallowed: {score.swallowed_share:.3f}")
    if score.two:
        _say(f"{score.two_kept}/{score.two} second deeds kept")
    _say(f"{1_000 * score.seconds / max(score.lines, 1):.2f} ms of CPU a line")
    for kind, count in score.kinds.items():
        _say(f"  {kind}: {score.right_kinds[kind]}/{count}")
    for line, answer in score.wrong if show_wrong else ():
        wanted = "/".join(line["verbs"]), line.get("target"), line.get("what")
        got = answer["verb"], answer["target"], answer["what"], answer["words"], answer["reason"]
        _say(f"{line['scene']}: {line['line']!r}\n    wanted {wanted}\n    got    {got}")


def main(arguments: list[str]) -> None:
    show_wrong = "--show-wrong" in arguments
    for path in (argument for argument in arguments if not argument.startswith("--")):
        print_score(score_lines(read_lines(Path(path))), show_wrong=show_wrong)


if __name__ == "__main__":
    main(sys.argv[1:])
