"""Imports point down. What each layer may use is written here, once."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "dndbots"

# From the bottom up. A room may import what stands in a lower row.
LAYERS = [
    ["errors", "_garbage", "_lazy", "_jsontext", "__version__"],
    ["ids", "tokens"],
    ["text"],
    ["models", "events"],
    ["dcml"],
    ["canon"],
    ["storage"],
    ["jobs"],
    ["rules"],
    ["llm"],
    ["prompts"],
    ["memory"],
    ["extraction"],
    ["interop"],
    ["compaction"],
    ["campaign"],
    ["async_campaign"],
    ["game"],
    ["adapters", "server", "testing"],
    ["cli"],
    ["__main__", "demo"],
]
# The same inside the larger rooms: subpackages, and modules that stand in none.
UNITS: dict[str, list[list[str]]] = {
    "canon": [
        ["claims", "cues", "loot", "near_keys", "states"],
        ["entities", "event_marks", "fold", "reducers"],
        ["ties"],
        ["certainty"],
        ["laws"],
    ],
    "cli": [
        ["console", "options"],
        ["failures", "signals"],
        ["app", "viewers"],
        ["inspect", "maintain"],
        ["play"],
        ["serve"],
    ],
    "compaction": [
        ["checks", "data", "reader_process"],
        ["heard_turns"],
        ["background", "scenes", "update_events"],
        ["review", "run", "shared_state"],
        ["agent", "updater_tools"],
        ["campaign_compaction"],
    ],
    "dcml": [
        ["notation"],
        ["raw_lines", "tree"],
        ["line_transformer", "shorthand"],
        ["lexicon_reader", "plain_renderer", "word_reader"],
        ["dense_renderer", "document_reader", "fragments"],
        ["parser"],
        ["validation"],
    ],
    "extraction": [
        ["port", "turn_evidence"],
        ["english", "model_answers", "model_questions"],
        ["model_extractor"],
    ],
    "game": [
        ["acts", "adventures", "commands", "live_words", "lookups", "phrases"],
        ["state"],
        ["ledger", "referee", "rounds", "undo"],
        ["retellings"],
        ["world"],
        ["agents"],
        ["bots", "input"],
        ["dm"],
        ["models"],
        ["setup"],
        ["story_seats"],
        ["game"],
        ["dnd", "preview"],
    ],
    "interop": [
        ["log_lines", "transcript_cast", "transcript_files"],
        ["transcript_events"],
        ["history", "transcripts"],
        ["formats"],
        ["readers", "scribe"],
        ["lore_events", "recognition", "writers"],
        ["imports"],
        ["campaign_interop"],
    ],
    "jobs": [
        ["open_campaigns", "queue", "sql_schema"],
        ["kinds", "migrations", "sql_queue"],
        ["worker"],
    ],
    "llm": [
        ["cache_marks", "protocol", "timeouts"],
        ["settings", "tool_schemas"],
        ["responses", "settings_files"],
        ["messages", "troubles"],
        ["meter", "providers", "retry"],
        ["chat_voice", "fallback"],
        ["voices"],
    ],
    "memory": [
        ["deeds", "documents", "fact_sentences", "human_gates", "usage", "visits"],
        ["entries"],
        ["notes", "retold_events", "tellings"],
        ["selection"],
        ["decisions", "log_reader", "story", "threads"],
        ["differences", "summaries"],
        ["scoped"],
        ["agents", "recall"],
        ["context", "recaps"],
        ["campaign_memory"],
    ],
    "rules": [
        ["dice_tree"],
        ["dice", "tables"],
        ["conditions", "outcomes"],
        ["saves"],
        ["characters"],
        ["checks", "fights", "light", "reactions"],
        ["experience", "treasure"],
        ["reference"],
    ],
    "server": [
        ["security"],
        ["tables"],
        ["chat", "mcp"],
        ["pages"],
        ["app"],
    ],
    "storage": [
        ["files", "ports", "stated_terms"],
        ["codec", "seals"],
        ["head_state"],
        ["row_maker"],
        ["in_memory", "recorder", "sql", "views"],
        ["address", "upkeep"],
        ["damage", "neo4j"],
        ["campaign_log"],
    ],
    "text": [
        ["clean", "english_words", "numbers", "word_forms"],
        ["labels", "sentences", "tenses", "terms"],
        ["words"],
        ["names"],
        ["vocabulary"],
    ],
}
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
UNIT_RANK = {
    (room, name): rank for room, rows in UNITS.items() for rank, row in enumerate(rows) for name in row
}
# The language stands alone.
ONLY = {"dcml": {"dcml", "errors", "_garbage", "_lazy"}}


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def room_of(module: str) -> str:
    """The part of the program that a module is in: `dndbots.dcml.tree` is in `dcml`."""
    return module.split(".")[1] if "." in module else ""


def unit_of(module: str) -> str:
    """Return the part of its room, a subpackage or module: `context` of `dndbots.memory.context.budget`."""
    parts = module.split(".")
    return parts[2] if len(parts) > 2 else ""


def imports_of(path: Path) -> set[str]:
    """Every module of ours that a file imports, also inside functions and for type checking."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            base = node.module or ""
            if base == "dndbots":
                found |= {f"dndbots.{alias.name}" for alias in node.names}
                continue
            submodules = {f"{base}.{alias.name}" for alias in node.names} & NAMES
            found |= submodules | ({base} if len(submodules) < len(node.names) else set())
    return {name for name in found if name == "dndbots" or name.startswith("dndbots.")}


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {module_name(path) for path in modules()}


def test_every_part_has_a_rank() -> None:
    """A new part of the program says where it stands, also inside its room."""
    rooms = {room_of(module_name(path)) for path in modules()} - {""}
    assert rooms <= set(RANK)
    units = {(room_of(name), unit) for name in NAMES if (unit := unit_of(name)) and room_of(name) in UNITS}
    assert units == set(UNIT_RANK)


@pytest.mark.parametrize("path", modules(), ids=module_name)
def test_imports_point_down(path: Path) -> None:
    """No layer knows the ones above it."""
    room = room_of(module_name(path))
    if not room:
        return  # the package itself names what it exports, wherever it lives
    for imported in imports_of(path):
        other = room_of(imported)
        assert other == room or RANK[other] < RANK[room], f"{module_name(path)} imports {imported}"
        if other == room and room in UNITS and path.name != "__init__.py":
            unit, used = unit_of(module_name(path)), unit_of(imported)
            points_down = used in (unit, "") or UNIT_RANK[room, used] < UNIT_RANK[room, unit]
            assert points_down, f"{module_name(path)} imports {imported}"
        assert other in ONLY.get(room, {other}), f"{module_name(path)} imports {imported}"


@pytest.mark.parametrize("path", modules(), ids=module_name)
def test_no_star_imports(path: Path) -> None:
    """One declared surface: every name is imported by name."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert all(alias.name != "*" for alias in node.names)


HEAVY = (
    "langchain",
    "langchain_core",
    "langchain_openai",
    "langgraph",
    "sqlalchemy",
    "alembic",
    "lark",
    "toktok",
    "pydantic",
)


@pytest.mark.parametrize(
    ("module", "allowed"),
    [
        ("dndbots", set()),
        ("dndbots.dcml", set()),
        ("dndbots.memory", set()),
        ("dndbots.compaction", set()),
        ("dndbots.rules", set()),
        ("dndbots.events", {"pydantic"}),
        ("dndbots.llm.voices", {"pydantic"}),
    ],
)
def test_importing_is_light(module: str, allowed: set[str]) -> None:
    """Heavy libraries load where they are used, not when a name is imported."""
    program = f"import sys, {module}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(HEAVY) & set(loaded.stdout.split()) <= allowed


def test_no_file_that_can_be_run_stands_beside_one_that_hides_a_module_of_python() -> None:
    """Python looks beside a file that it runs first: a `_json.py` there takes the place of its own."""
    scripts = [path for path in modules() if '__name__ == "__main__"' in path.read_text("utf-8")]
    folders = {SOURCE, *(path.parent for path in scripts)}
    for folder in folders:
        names = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
        assert not names & sys.stdlib_module_names, folder
