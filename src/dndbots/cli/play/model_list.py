"""`models`: show which models are set up, and try each of them with one question."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dndbots.cli import console
from dndbots.cli.options import AsJson

if TYPE_CHECKING:
    from dndbots.llm.settings import ModelSettings, Settings

_ASKED: Final = "Answer with one word: which animal says moo?"
_LONGEST: Final = 60
_TIMEOUT: Final = 60.0


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("models")(models)


def models(
    *,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="Another model to try.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="A server, whose models are listed.")
    ] = None,
    settings: Annotated[
        Path | None,
        typer.Option(
            "--settings", metavar="FILE", exists=True, dir_okay=False, readable=True, help="Model settings."
        ),
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Ask nobody.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the model of each role, and ask each model one short question. Without settings, the house plays.

    With --base-url, list the models of a server first. Exits with 1 if a model gives no answer.
    """
    from dndbots.cli.play.models import models_from
    from dndbots.llm.settings import Settings

    chosen = models_from(settings, model=model, base_url=base_url)
    if base_url is not None and not offline:
        _say_served(base_url, aside=as_json)
        chosen = chosen.served()
    roles = _roles(chosen.settings or Settings())
    tried = (
        {} if offline else {one.key: _try(one) for one in dict.fromkeys(roles.values()) if one is not None}
    )
    rows = [
        {
            "role": role,
            "model": "house" if one is None else one.model,
            "address": "" if one is None else one.base_url,
            "answer": "" if one is None else tried.get(one.key, ("", ""))[0],
            "problem": "" if one is None else tried.get(one.key, ("", ""))[1],
        }
        for role, one in roles.items()
    ]
    if as_json:
        console.say_json(rows)
    else:
        for row in rows:
            told = row["problem"] or row["answer"] or ("no model is asked" if row["model"] == "house" else "")
            where = f" at {row['address']}" if row["address"] else ""
            console.say_hanging(
                f"{row['role']:<11} ", console.inert(f"{row['model']}{where}: {told}".rstrip(": "))
            )
    if any(row["problem"] for row in rows):
        raise typer.Exit(1)


def _roles(settings: "Settings") -> "dict[str, ModelSettings | None]":
    from dndbots.llm.protocol import Role

    return {role.value: next(iter(settings.models_of(role)), None) for role in Role}


def _say_served(address: str, *, aside: bool) -> None:
    from dndbots.llm.providers import list_models
    from dndbots.llm.settings import ModelSettings

    names = list_models(ModelSettings(model="openai:any", base_url=address, timeout=_TIMEOUT))
    told = f"{address} has {', '.join(names) or 'no model'}"
    if aside:
        console.note(told)
    else:
        console.say(console.inert(told))


def _try(settings: "ModelSettings") -> tuple[str, str]:
    """Ask a model one question. Return its answer with the seconds it took, or what is wrong."""
    from dndbots.errors import ModelUnavailable, NoSuchPlayer
    from dndbots.llm.chat_voice import ChatVoice
    from dndbots.llm.protocol import Question, Role
    from dndbots.llm.providers import open_model, secrets_in
    from dndbots.llm.retry import RetryPolicy

    began = time.monotonic()
    try:
        retry = RetryPolicy(timeout=min(settings.timeout, _TIMEOUT), attempts=1, hides=secrets_in(settings))
        voice = ChatVoice(open_model(settings), name=settings.model, retry=retry)
        answer = voice.ask(Question(role=Role.PLAYER, system="", text=_ASKED))
    except (ModelUnavailable, NoSuchPlayer) as exc:
        return "", exc.reason
    words = " ".join(answer.words.split())[:_LONGEST] or "an empty answer"
    return f"answers {words!r} after {time.monotonic() - began:.1f} s", ""
