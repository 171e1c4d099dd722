"""Questions of `import` on a terminal: only a person knows who leads, who plays whom, and who knows what."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from dndbots.cli import console
from dndbots.ids import fold_name

if TYPE_CHECKING:
    from dndbots.interop.formats.neutral import ImportOptions
    from dndbots.interop.imports import ChatPreview, ImportPreview, SpeakerPreview

_MOST_NAMES = 10
_ROLES = ("dm", "pc", "npc")


def has_questions(previews: "Sequence[ImportPreview]", options: "ImportOptions") -> bool:
    """Return True if something matters that neither the files nor the options say."""
    from dndbots.interop.imports import chats_without_dm, nameless_speakers, nameless_users

    return bool(
        _unmapped(nameless_speakers(previews), options)
        or (not options.dm and chats_without_dm(previews))
        or (not options.persona and nameless_users(previews))
        or (not options.known_to and _lore_titles(previews))
    )


def ask_for_voices(previews: "Sequence[ImportPreview]", options: "ImportOptions") -> "ImportOptions":
    """Ask who the voices are that a recording does not name."""
    from dndbots.interop.imports import nameless_speakers

    found = dict(options.speakers)
    for who in _unmapped(nameless_speakers(previews), options)[:_MOST_NAMES]:
        name, words = console.inert(who.name), console.inert(who.words)
        told = _ask(f'Who is {name}, who says "{words}"? NAME, or NAME:dm for the DM (Enter: leave it)')
        if told:
            found[who.name] = read_speaker(told)
    return replace(options, speakers=found)


def ask_for_the_rest(previews: "Sequence[ImportPreview]", options: "ImportOptions") -> "ImportOptions":
    """Ask who the DM is, whom the person at the keyboard plays, and who knows the lore."""
    from dndbots.interop.imports import chats_without_dm, nameless_users

    if not options.dm and (chats := chats_without_dm(previews)):
        options = replace(options, dm=_ask_for_dms(chats))
    if not options.persona and (users := nameless_users(previews)):
        told = _ask(f"Which character does {console.inert(users[0])} play? NAME (Enter: leave it)")
        options = replace(options, persona=told or None)
    if not options.known_to and (titles := _lore_titles(previews)):
        shown = ", ".join(map(console.inert, titles[:_MOST_NAMES]))
        told = _ask(f"Who knows the lore of {shown}, beside the DM? NAME, or party (Enter: nobody)")
        options = replace(options, known_to=(told,) if told else ())
    return options


def read_speaker(text: str) -> tuple[str, str | None]:
    """Return the name and the role in `Matt:dm`; None for the role if it has none."""
    name, _, role = text.rpartition(":")
    return (name.strip(), role) if role in _ROLES and name.strip() else (text.strip(), None)


def _ask_for_dms(chats: "Sequence[ChatPreview]") -> tuple[str, ...]:
    found: dict[str, None] = {}
    for chat in chats:
        names = [who.name for who in chat.speakers]
        others = [who.name for who in chat.speakers if who.role != "pc"]
        if any(name in found for name in names):
            continue
        if len(others) == 1:
            question = f"Is {console.inert(others[0])} the narrator (the DM) of the chat?"
            if typer.confirm(question, default=False):
                found[others[0]] = None
            continue
        shown = ", ".join(map(console.inert, names[:_MOST_NAMES]))
        while told := _ask(f"Who is the DM of {console.inert(chat.name)}: {shown}? NAME (Enter: nobody)"):
            meant = next((name for name in names if fold_name(name) == fold_name(told)), None)
            if meant is not None:
                found[meant] = None
                break
            console.note(f"nobody in the chat is called {told}")
    return tuple(found)


def _unmapped(speakers: "Sequence[SpeakerPreview]", options: "ImportOptions") -> "list[SpeakerPreview]":
    mapped = set(map(fold_name, options.speakers))
    return [who for who in speakers if fold_name(who.name) not in mapped]


def _lore_titles(previews: "Sequence[ImportPreview]") -> list[str]:
    """Return the books whose notes nobody but the DM would know."""
    books = [book for preview in previews for book in preview.books]
    return [book.title for book in books if book.notes > book.for_named + book.for_players]


def _ask(question: str) -> str:
    answer: str = typer.prompt(question, default="", show_default=False)
    return answer.strip()
