"""Foreign text on a terminal: words of models, people and files are shown, never obeyed.

No markup, no link, no emoji code, no escape sequence of theirs has any effect, whatever command shows them.
"""

import ast
import contextlib
import io
import itertools
import json
import logging
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from tests.cli.calling import COLOURING
from tests.cli.test_reference import COMMANDS
from tests.table import event

from dndbots import Campaign, EventType
from dndbots.cli import console
from dndbots.cli.app import app, load_program
from dndbots.cli.play.thinking_line import Watch
from dndbots.compaction.reader_process import _InertFormatter
from dndbots.game.live_words import LiveState, LiveWords
from dndbots.game.state.campaign_tables import fold_tables
from dndbots.ids import DM, inert

CLI = Path(console.__file__).parent
# What rich and we write ourselves: styles, and a status line that comes and goes.
OWN = re.compile(r"\x1b\[[0-9;]{0,12}m|\x1b\[\?25[lh]|\x1b\[2K|\x1b\[1A|\r")
STEERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
PIECES = (
    *("[/bold]", "[bold]", "[/]", "[red]", "[link=http://evil]here[/link]", "[@click=app.bell]x[/]", "\\[b]"),
    *(":skull:", ":smile:", "\x1b[2J", "\x1b]8;;http://evil\x1b\\", "\x1b[1337;1337;1337m", "\x9b2J", "\x07"),
    *("\x1b", "\x00", "\r", "\t", "\u202e", "\u2028", "{0}", "%s", "<ansired>x</ansired>", "words", " ", "é"),
)
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
# What a campaign keeps is not blank, and has no NUL in it.
STORED = TEXTS.filter(lambda text: "\0" not in text).map("x{}".format)
# Whole campaigns take seconds: the long profile makes some up, others have the worst of them.
LONG = settings.get_current_profile_name() == "long"
FEW = settings(max_examples=100, phases=[Phase.explicit, *([Phase.reuse, Phase.generate] if LONG else [])])
WORST = "[/bold] [link=http://evil]here[/link] :skull: \x1b]8;;http://evil\x1b\\ \x9b2J \u202e \r\x07"


class Screen(io.TextIOWrapper):
    """A stream that passes for a terminal, and keeps what is written."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="backslashreplace", newline="")

    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> str:
        self.flush()
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode("utf-8")


@contextlib.contextmanager
def terminal() -> Iterator[Screen]:
    """Standard streams that are a terminal of eighty columns."""
    screen, keys = Screen(), Screen()
    with pytest.MonkeyPatch.context() as patch:
        for name in COLOURING:
            patch.delenv(name, raising=False)
        patch.setenv("TERM", "xterm-256color")
        patch.setenv("COLUMNS", "80")
        patch.delenv("NO_COLOR", raising=False)
        patch.setattr(sys, "stdin", keys)
        patch.setattr(sys, "stdout", screen)
        patch.setattr(sys, "stderr", screen)
        yield screen


def shown_by(*words: object) -> str:
    """What a command shows on a terminal. A wrong call and a refusal are fine, a crash is not."""
    with terminal() as screen:
        with pytest.raises(SystemExit) as ended:
            app([str(word) for word in words], prog_name="dndbots")
        assert ended.value.code in (0, 1, 2), words
        return screen.shown


def check(shown: str) -> None:
    steering = STEERS.search(OWN.sub("", shown).replace("\r\n", "\n"))
    assert steering is None, shown[max(0, steering.start() - 60) :][:120]
    assert "\N{SKULL}" not in shown
    assert "\N{SMILING FACE WITH OPEN MOUTH AND SMILING EYES}" not in shown


# What is streamed.


def streamed(words: list[str]) -> str:
    """What a terminal shows while an answer of the DM comes in these pieces."""
    with terminal() as screen:
        watch = Watch()
        for state, text in (
            (LiveState.ASKED, ""),
            *((LiveState.COMES, word) for word in words),
            (LiveState.OVER, ""),
        ):
            watch.hear(LiveWords(state=state, speaker=DM, place=None, viewers=frozenset((DM,)), text=text))
    return screen.shown


@given(st.lists(TEXTS, min_size=1, max_size=8))
@example(["[/bold]"])
@example(["[link=http://evil]", "here"])
def test_streamed_words_are_shown_as_they_are(words: list[str]) -> None:
    """They end no game and make no link, however they are cut into pieces."""
    check(streamed(words))


def test_markup_of_a_model_stands_there_as_it_was_written() -> None:
    """So the tests above look at something."""
    assert "[red]I draw[/red] :skull:" in streamed(["[red]I draw[/red] :skull:"])


# What is shown by commands.

VIEWED = ("--as", "dm")
FOREIGN: dict[str, list[tuple[object, ...]]] = {
    "log": [VIEWED],
    "timeline": [VIEWED],
    "entity": [
        VIEWED,
        ("pc_zara_001", *VIEWED, "--history"),
        ("{text}", *VIEWED),
        ("{text}", "--as", "Zara"),
        ("Zar", *VIEWED),
    ],
    "who-knows": [("pc_zara_001", "mood"), ("{text}", "{text}")],
    "diff": [("dm", "pc_zara_001"), ("pc_zara_001", "{text}")],
    "recap": [("--as", "pc_zara_001"), (*VIEWED, "--session", "{text}")],
    "recall": [("{text}", "--as", "pc_zara_001")],
    "context": [
        ("--as", "pc_zara_001"),
        (*VIEWED, "--query", "{text}", "--xray"),
        ("--as", "{text}"),
        ("{text}",),
        (),
    ],
    "memories": [("--as", "pc_zara_001"), (*VIEWED, "--summary"), (*VIEWED, "--source", "{text}")],
    "threads": [(*VIEWED, "--all")],
    "remember": [()],
    "session start": [("{text}", "--title", "{text}")],
    "pin": [("{event}",), ("{text}",)],
    "lock": [("{event}", *VIEWED)],
    "forget": [("{event}",)],
    "correct": [("{event}", "{text}"), ("pc_zara_001", "mood={text}"), ("{text}", "{text}")],
    "compact": [()],
    "compaction": [(), ("--rejected",)],
    "review list": [()],
    "review accept": [("{text}",)],
    "review reject": [("{text}",)],
    "review edit": [("{text}", "name={text}")],
    "usage": [()],
    "fork": [("{text}",)],
    "branches": [()],
    "undo": [()],
    "verify": [()],
    "rebuild": [()],
    "export log": [()],
    "export data": [()],
    "export vault": [("--out", "{folder}/vault"), ("--out", "{folder}/other", "--as", "{text}")],
    "export notes": [("--out", "{folder}/notes.md"), ("--out", "{folder}/n.md", "--session", "{text}")],
    "export lorebook": [("--out", "{folder}/lore.json"), ("--out", "{junk}")],
    "export card": [
        ("--out", "{folder}/card.json", "--as", "pc_zara_001"),
        ("--out", "{folder}/card.png", "--as", "pc_zara_001", "--picture", "{junk}"),
        ("--out", "{folder}/c.json", "--as", "{text}"),
    ],
    "export chat": [("--out", "{folder}/chat.jsonl"), ("--out", "{folder}/c.jsonl", "--chat", "{text}")],
    "prompt": [
        ("dm",),
        ("{text}",),
        *(("{seat}", *more, "--campaign", "{game}") for more in ((), ("--xray",), ("--tools",))),
        ("dm", "--campaign", "{game}"),
    ],
    "understand": [
        ("{text}", "--as", "pc_zara_001"),
        *((line, "--as", "{seat}", "--campaign", "{game}") for line in ("{text}", "take {text}")),
        ('say "{text}" and look at {text}', "--as", "{seat}", "--campaign", "{game}"),
    ],
    "graph path": [("pc_zara_001", "{text}", *VIEWED)],
    "graph near": [("pc_zara_001", *VIEWED)],
    "graph links": [("pc_zara_001", *VIEWED)],
    "graph common": [("pc_zara_001", "loc_inn_001", *VIEWED)],
    "graph about": [("{text}", *VIEWED)],
    "import": [("{lines}",), ("{junk}",)],
    "import-log": [("{lines}",), ("{junk}",)],
    "play": [("--auto", 1, "--no-compact", "--human", "{text}"), ("--auto", 1, "--module", "{junk}")],
    # A server that starts runs on; its answers are pages and JSON, and no text on the terminal.
    "serve": [("--module", "{junk}"), ("--settings", "{junk}"), ("--model", "{text}")],
    "mcp": [("--as", "{text}"), ("--branch", "{text}")],
    "list": [("{folder}",)],
    "models": [
        ("--offline", "--settings", "{settings}"),
        ("--settings", "{settings}"),
        ("--model", "{text}"),
        ("--base-url", "http://127.0.0.1:9/{text}"),
    ],
    "modules": [("{junk}",)],
    "roll": [("{text}",)],
    "character new": [("--name", "{text}", "--seed", 1), ("--class", "{text}")],
    "trust": [("{settings}",), ("{junk}",)],
}
WITHOUT_CAMPAIGN = frozenset(("list", "models", "modules", "roll", "character new", "trust"))
# Nothing foreign in the first two; the others answer on a server, through the same functions.
NOT_HERE = frozenset(
    (
        "character list",
        "new",
        "worker",
        "jobs",
        *(f"graph {name}" for name in ("sync", "follow", "verify", "rebuild", "query")),
    )
)


def commands() -> set[str]:
    """Return every command of the program."""

    def within(group: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
        for name, one in group.commands.items():
            if hasattr(one, "commands"):
                yield from within(one, (*path, name))
            else:
                yield " ".join((*path, name))

    return set(within(load_program()))


def test_every_command_is_looked_at() -> None:
    """A new command says here how it shows foreign text."""
    assert set(FOREIGN) | NOT_HERE == commands()
    assert not set(FOREIGN) & NOT_HERE
    assert set(COMMANDS) <= commands()


def hostile_campaign(folder: Path, texts: list[str]) -> Path:
    """A campaign in which everything that can be said is said with intent."""
    said = itertools.cycle(texts)
    with Campaign.open(folder) as campaign:
        campaign.record_many(
            [
                event(
                    f"evt {next(said)}",
                    "pc_zara_001",
                    f"{next(said)}\nevt_9  forged\r\n{next(said)}",
                    session=f"s {next(said)}",
                    location="loc_inn_001",
                    names={"pc_zara_001": "[/bold]Zara :skull:", "loc_inn_001": "[link=http://evil]Inn"},
                    facts=[{"subject": "pc_zara_001", "key": "mood", "value": next(said)}],
                    notes={next(said): next(said)},
                    conditions={"pc_zara_001": [next(said)]},
                    loot=[next(said)],
                    threads=[{"id": next(said), "kind": "promise", "text": next(said)}],
                ),
                event("evt_2", "dm", next(said), kind=EventType.DM_NARRATION, participants=["pc_zara_001"]),
                event("evt_3", "pc_zara_001", next(said), session="s02", location="loc_road_001"),
            ]
        )
        campaign.remember()
    return folder


def hostile_game(folder: Path, texts: list[str]) -> tuple[Path, str]:
    """A game in which a character was told these texts, and the uid of that character."""
    shown_by("play", "--auto", 1, "--no-compact", "--seed", 1, "--seats", 2, "--campaign", folder)
    with Campaign.open(folder) as campaign:
        seat = min(uid for uid in fold_tables(campaign) if uid.startswith("pc_"))
        for number, text in enumerate(texts):
            told = event(f"evt told {number}", DM, text, kind=EventType.DM_NARRATION, witnesses=[seat])
            campaign.record(told)
    return folder, seat


@FEW
@given(texts=st.lists(STORED, min_size=3, max_size=6), word=STORED)
@example(texts=[WORST], word=WORST)
def test_no_command_obeys_what_it_shows(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], word: str
) -> None:
    """Names, content, errors, notes and files: for every command there is."""
    folder = tmp_path_factory.mktemp("hostile")
    where = hostile_campaign(folder / "campaign", texts)
    game, seat = hostile_game(folder / "game", texts)
    lines = folder / "lines.jsonl"
    lines.write_text(
        "".join(json.dumps({"speaker": text, "text": text, "id": text}) + "\n" for text in (*texts, texts[0]))
    )
    junk = folder / "junk.toml"
    junk.write_text(f"{word}\n", encoding="utf-8")
    file = folder / "settings.toml"
    file.write_text(
        f'model = {json.dumps("m " + inert(word))}\nbase_url = "http://127.0.0.1:9/[/bold]:skull:"\n'
    )
    filled = {
        "text": word,
        "event": f"evt {texts[0]}",
        "lines": lines,
        "junk": junk,
        "settings": file,
        "folder": folder,
        "game": game,
        "seat": seat,
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        patch.delenv("DNDBOTS_CAMPAIGN", raising=False)
        for name, calls in FOREIGN.items():
            for call in calls:
                words = [_filled(str(one), filled) for one in call]
                names_it = name in WITHOUT_CAMPAIGN or "--campaign" in words
                at = () if names_it else ("--campaign", where)
                check(shown_by(*name.split(), *words, *at))


def _filled(word: str, values: dict[str, object]) -> str:
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", str(value))
    return word


# What is said beside.


@given(TEXTS)
def test_warnings_are_harmless_whoever_warns(text: str) -> None:
    """Those of the engine, of a library, and of the process that compacts."""
    with terminal() as screen, console.warnings_noted():
        for name in ("dndbots.memory", "openai"):
            logging.getLogger(name).warning("no summary for %s", text)
    check(screen.shown)
    assert screen.shown.count("warning: no summary for") == 2
    record = logging.makeLogRecord({"msg": text, "levelname": "WARNING"})
    assert not STEERS.search(_InertFormatter().format(record))


@given(TEXTS)
def test_whatever_is_said_is_inert(text: str) -> None:
    """No caller has to think of it."""
    with terminal() as screen:
        console.say(text)
        console.say_indented(text)
        console.say_hanging("  label  ", text)
        console.say_table([text], [[text]], dimmed=[[text]])
        console.say_text(text)
        console.note(text)
        console.output().print(text)
        with console.progress(text) as report:
            report(1, 2)
        with console.status(text) as change:
            change(text)
    check(screen.shown)


# What the code may use.


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_only_one_place_writes_on_the_terminal() -> None:
    """Elsewhere there are texts with styles, which are no markup; nobody makes a console or a status line."""
    for path in sorted(CLI.parent.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        nodes = [*ast.walk(tree)]
        used = {node.attr for node in nodes if isinstance(node, ast.Attribute) and _is_rich(node.value)}
        assert not used & {"from_markup", "from_ansi", "input", "rule", "log"}, path
        if path == CLI / "console.py":
            continue
        imported = [*_imported(tree)]
        rich = {name for name in imported if name.split(".")[0] == "rich"}
        assert rich <= {"rich.text.Text", "rich.console.Console"}, path
        assert not [name for name in imported if name.startswith("prompt_toolkit.formatted_text")], path
        called = {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}
        assert not called & {"Console", "print"}, path
        if CLI in path.parents:
            assert not {one for one in called if one.endswith(".status")} - {"console.status"}, path


def _is_rich(value: ast.expr) -> bool:
    return ast.unparse(value).split(".")[-1].rstrip("()") in {"Text", "Console", "output", "console"}
