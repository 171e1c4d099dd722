"""The program starts light, and shows progress only to somebody who watches."""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cli.calling import Run, program, transcript

from dndbots.cli import console

if TYPE_CHECKING:
    from tests.postgres import PostgresServer

HEAVY = {"sqlalchemy", "alembic", "lark", "toktok", "pydantic"}


@pytest.mark.parametrize("module", ["dndbots.cli", "dndbots.cli.app"])
def test_importing_the_commands_is_light(module: str) -> None:
    """No database and no validation is loaded before a command runs."""
    code = f"import sys, {module}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(loaded.stdout.split())


@pytest.mark.parametrize("words", [("verify",), ("rebuild",), ("export", "log")], ids=" ".join)
def test_no_progress_where_nobody_watches(campaign: Path, words: tuple[str, ...]) -> None:
    """A standard error that is no terminal stays empty."""
    assert program(*words, "-c", campaign).err == ""


def test_progress_goes_to_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal there is a bar on standard error, with the title inert, and nothing in the answer."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with console.progress("[red]a\x1bfile[/red]") as report:
        report(1, 2)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert r"[red]a\x1bfile[/red]" in shown.err
    assert "1/2" in shown.err


def test_no_arguments_shows_the_first_steps(run: Run) -> None:
    """Alone, the program says in five lines what to type first; its help lists everything."""
    answer = run()
    assert answer.code == 0
    first = [line.split("  ")[0].split()[1] for line in answer.out.splitlines()]
    assert first == ["play", "import", "recall", "context", "--help"]
    assert all(len(line) <= 80 for line in answer.out.splitlines())
    assert "who-knows" in run("--help").out


def test_help_shows_brackets(run: Run) -> None:
    """They are no markup: the name of an extra is in them."""
    assert "pip install 'dndbots[mcp]'" in " ".join(run("mcp", "--help").out.split())


def test_an_interruption_while_the_program_loads_shows_no_traceback() -> None:
    code = (
        "import sys, dndbots.cli\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'dndbots.cli.app': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "dndbots.cli.main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


def test_only_the_module_of_a_command_is_loaded() -> None:
    """A command does not pay for the others."""
    code = (
        "import sys; from dndbots.cli.app import app\n"
        "try: app(['roll', '2d6', '--seed', '1'])\n"
        "except SystemExit: pass\n"
        "print(*(name for name in sys.modules if name.startswith('dndbots.cli.')))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(loaded.stdout.splitlines()[-1].split())
    assert "dndbots.cli.play.roll" in modules
    assert not modules & {"dndbots.cli.play.play", "dndbots.cli.inspect.graph", "dndbots.cli.maintain.review"}


# What an answer about a campaign has no use for: it took the second half of a second.
NEVER = {
    *(
        "alembic",
        "lark",
        "yaml",
        "prompt_toolkit",
        "neo4j",
        "langchain_core",
        "starlette",
        "jinja2",
    ),
    *("dndbots.extraction", "dndbots.game", "dndbots.llm", "dndbots.rules", "dndbots.server"),
    *("dndbots.compaction.run", "dndbots.dcml.parser", "dndbots.memory.summaries.summarizer"),
}
RICH, DCML, TOKENIZER = "rich", "dndbots.dcml", "toktok"
CONTEXT, RECALL, RECAP = "dndbots.memory.context", "dndbots.memory.recall", "dndbots.memory.recaps"


@pytest.mark.parametrize(
    ("words", "others"),
    [
        (["list"], {TOKENIZER, CONTEXT, RECALL, RECAP, DCML}),
        (["entity", "Zara", "--as", "Zara"], {TOKENIZER, CONTEXT, RECALL, RECAP, DCML}),
        (["timeline", "--as", "Zara"], {TOKENIZER, CONTEXT, RECALL, RECAP, DCML}),
        (["log", "--as", "Zara", "--json"], {TOKENIZER, CONTEXT, RECALL, RECAP, DCML, RICH}),
        (["who-knows", "Grimfang", "mood"], {TOKENIZER, CONTEXT, RECALL, RECAP, DCML}),
        (["recall", "Who is in the cave?", "--as", "Zara"], {CONTEXT, RECAP, DCML}),
        (["recap", "--as", "Zara"], {CONTEXT, RECALL, DCML}),
        (["context", "--as", "Zara"], {RECAP, RICH}),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_an_answer_loads_only_what_it_needs(campaign: Path, words: list[str], others: set[str]) -> None:
    """Most of the time of a short command goes into loading modules."""
    code = (
        "import sys, dndbots.cli\n"
        "try: dndbots.cli.main()\n"
        "except SystemExit as ended: assert not ended.code, ended.code\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    where = [] if words == ["list"] else ["-c", str(campaign)]
    ran = subprocess.run(
        [sys.executable, "-c", code, *words, *where], capture_output=True, text=True, check=True, cwd=campaign
    )
    assert ran.stdout
    assert not set(ran.stderr.split()) & (NEVER | others)


def test_a_campaign_on_a_server(run: Run, postgres: "PostgresServer", tmp_path: Path) -> None:
    """An address of PostgreSQL stands wherever a folder does."""
    where = postgres.url()
    lines = transcript(tmp_path / "play.jsonl", {"speaker": "Zara", "text": "Hello."})
    assert run("verify", "-c", where).code == 1
    assert run("new", where).code == 0
    assert run("new", where).code == 1
    assert run("import", lines, "-c", where).out.endswith(": 1 added, 0 already there\n")
    assert run("fork", "other", "-c", where).code == 0
    assert run("verify", DNDBOTS_CAMPAIGN=where).out == "sound: 1 event, 2 branches\n"
