"""What lasts of a DM's own: quests that wait for an answer, and clocks that run out."""

from collections.abc import Sequence

from dndbots.events import EventType
from dndbots.game.acts import Verb
from dndbots.game.house.telling import Telling
from dndbots.game.models.making import own_quests
from dndbots.game.pieces import Waiting
from dndbots.game.played import Clock


def promise(quest: str) -> str:
    """The id of the thread that is open while a quest is."""
    return f"promise_{quest}"


def answer_offers(telling: Telling, waiting: Sequence[Waiting]) -> None:
    """Whoever says yes or no first to a quest of the DM's own says it for all."""
    for one in waiting:
        states = own_quests(telling)
        quest, place = str(one.act.what), one.place
        if one.act.verb not in (Verb.ACCEPT, Verb.REFUSE) or states.get(quest) != "offered" or place is None:
            continue
        table = telling.step.table
        name, who = table.name(quest), table.name(one.who)
        yes = one.act.verb is Verb.ACCEPT
        goal = str(table.fact(quest, "goal") or name)[:400]
        opened = {"id": promise(quest), "kind": "promise", "text": f"promised: {goal}", "about": [quest]}
        telling.tell(
            place,
            f"{who} {'promises' if yes else 'turns down'} {name}.",
            kind=EventType.QUEST_UPDATE,
            participants=[one.who],
            names={quest: name},
            gist=f"we {'gave our word on' if yes else 'turned down'} {name}",
            quest_id=quest,
            quest_state="accepted" if yes else "refused",
            threads=[opened] if yes else [],
        )


def stop_clocks(telling: Telling) -> list[Clock]:
    """The clocks that have run out: the DM is told of each once."""
    round_ = telling.step.round
    due = {name: clock for name, clock in telling.step.table.clocks.items() if clock.due <= round_}
    for name, clock in due.items():
        telling.secretly(
            f"Time is up: {clock.text}",
            beats=(),
            threads=[{"id": name, "state": "due"}],
            play={"clocks": {name: None}},
        )
    return list(due.values())
