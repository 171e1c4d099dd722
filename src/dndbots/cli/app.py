"""The program: all commands, and the one place where their errors become messages."""

import inspect
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from dndbots import __version__
from dndbots.cli import console, failures

# Each module of commands, with the names it adds. A module is loaded when one of its commands is called.
_MODULES: Final = {
    "play.play": ("play",),
    "serve.serve": ("serve",),
    "play.character": ("character",),
    "play.modules": ("modules",),
    "play.model_list": ("models",),
    "play.roll": ("roll",),
    "inspect.recall": ("recall",),
    "inspect.context": ("context",),
    "inspect.prompt": ("prompt",),
    "inspect.recap": ("recap",),
    "inspect.memories": ("memories",),
    "inspect.threads": ("threads",),
    "inspect.timeline": ("timeline",),
    "inspect.log": ("log",),
    "inspect.entity": ("entity",),
    "inspect.who_knows": ("who-knows",),
    "inspect.diff": ("diff",),
    "inspect.graph": ("graph",),
    "inspect.usage": ("usage",),
    "inspect.mcp": ("mcp",),
    "inspect.understand": ("understand",),
    "maintain.campaigns": ("new", "list", "verify", "rebuild"),
    "maintain.branches": ("branches", "fork", "undo"),
    "maintain.import_export": ("import", "import-log", "export"),
    "maintain.session": ("session",),
    "maintain.remember": ("remember",),
    "maintain.decisions": ("pin", "lock", "forget", "correct"),
    "maintain.compaction": ("compact", "compaction"),
    "maintain.review": ("review",),
    "maintain.worker": ("worker", "jobs"),
    "maintain.trust": ("trust",),
}
_MODULE_OF: Final = {command: module for module, commands in _MODULES.items() for command in commands}
# Headings of `--help`, by folder.
_PANELS: Final = {
    "play": "Play",
    "serve": "Play",
    "inspect": "Ask what somebody knows",
    "maintain": "Keep campaigns",
}
_FIRST_STEPS: Final = """\
dndbots play                                      play a game; needs no model
dndbots import FILE -c PATH                       or import a transcript
dndbots recall "Who hired us?" --as Zara -c PATH  ask what a character knows
dndbots context --as Zara --xray -c PATH          see what its model reads
dndbots --help                                    list all commands"""


class _Program(TyperGroup):
    """All commands. Each runs inside `failures.explained`."""

    def invoke(self, ctx: Any) -> Any:
        with failures.explained(), console.warnings_noted():
            return super().invoke(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        # For a name that does not exist, typer suggests one of all the others.
        for module in [_MODULE_OF[cmd_name]] if cmd_name in _MODULE_OF else _MODULES:
            self._load(module)
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer calls it
        for module in _MODULES:
            self._load(module)
        return [*_MODULE_OF]

    def get_params(self, ctx: Any) -> Any:
        return _without_types(super().get_params(ctx))

    def _load(self, module: str) -> None:
        if _MODULES[module][0] in self.commands:
            return
        loaded = typer.Typer()
        loaded.callback()(lambda: None)  # so that a single command keeps its name
        import_module(f"dndbots.cli.{module}").add_to(loaded)
        for name, command in typer.main.get_group(loaded).commands.items():
            command.rich_help_panel = _PANELS[module.partition(".")[0]]  # type: ignore[attr-defined]
            _tidy_help(command)
            self.commands[name] = command


def _tidy_help(command: Any) -> None:
    """Show flags without a type, and let paragraphs flow: typer prints `<bool>`, and our own line breaks.

    Brackets are escaped: typer reads help texts as markup, and would leave out the `[web]` of an extra.
    """
    _without_types(command.get_params(typer.Context(command)))
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    flowing = "\n\n".join(" ".join(paragraph.split("\n")) for paragraph in paragraphs)
    command.help = flowing.replace("[", r"\[")
    for inner in getattr(command, "commands", {}).values():
        _tidy_help(inner)


def _without_types(params: list[Any]) -> list[Any]:
    """Return options of which the flags show no type in `--help`."""
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params


def _accept_older_name(option: str) -> str:
    """Let scripts go on with `--viewer`, which is `--as` now."""
    return "as" if option == "viewer" else option


app = typer.Typer(
    cls=_Program,
    invoke_without_command=True,
    add_completion=False,
    context_settings={"token_normalize_func": _accept_older_name},
    # Show a bug as Python does: typer's own form would print parts of the campaign around it.
    pretty_exceptions_enable=False,
)


def load_program() -> TyperGroup:
    """Return the program with every command loaded."""
    program = typer.main.get_group(app)
    program.list_commands(None)  # type: ignore[arg-type]
    return program


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it
    if wanted:
        typer.echo(f"dndbots {__version__}")
        raise typer.Exit


@app.callback()
def program(
    ctx: typer.Context,
    *,
    version: Annotated[  # noqa: ARG001 - its callback prints it
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """A memory for Dungeons & Dragons campaigns: one log, and what everybody in it knows."""
    if ctx.invoked_subcommand is None:
        typer.echo(_FIRST_STEPS)
