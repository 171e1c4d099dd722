"""Two worlds that differ only in what a viewer did not perceive: what all see, and secrets beside it."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from tests.table import event

from dndbots.campaign import Campaign
from dndbots.events import EventType, GameEvent

ZARA, THROK, MIRA = "pc_zara_001", "pc_throk_001", "pc_mira_001"
ELENA, VIPER, IRINA = "npc_elena_001", "npc_viper_001", "npc_irina_001"
INN, MILL, CRYPT = "loc_inn_001", "loc_mill_001", "loc_crypt_001"
# By whom the worlds are looked at: by uid, by name, and one who sits at no seat.
VIEWERS = (ZARA, "Zara", ELENA)
# How compaction resolves names has its own attack; here nothing is compacted.
COMPACTED = False

_BOTH = [ZARA, THROK]
_NAMES = {ZARA: "Zara", THROK: "Throk", MIRA: "Mira", ELENA: "Elena", INN: "The Inn"}
_TELLS = EventType.DM_NARRATION


def _common() -> list[GameEvent]:
    """What happens in both worlds. Where it names no witnesses, the engine stamps them by what is true."""
    mood = {"subject": ELENA, "key": "mood"}
    return [
        event("c0", "dm", "They meet at the inn.", kind=_TELLS, location=INN, names=_NAMES,
              participants=[*_BOTH, MIRA, ELENA], facts=[
                  {"subject": ZARA, "key": "gold", "value": 10}, {"subject": ZARA, "key": "hp", "value": 8}]),
        event("c1", "dm", "Rain beats on the shutters.", kind=_TELLS, location=INN),
        event("c2", ZARA, "I swear to find your children, Elena.", location=INN, participants=[ELENA]),
        event("c3", ELENA, "You owe me the truth.", kind=EventType.DIALOGUE, location=INN,
              facts=[{**mood, "value": "calm"}]),
        event("c4", "dm", "Two go to the mill.", kind=EventType.LOCATION_CHANGE, location=MILL,
              participants=[*_BOTH, ELENA], names={MILL: "Old Mill"}),
        event("c5", "dm", "The bell must be found.", kind=EventType.QUEST_UPDATE, quest_id="qst_bell_001",
              quest_state="accepted", names={"qst_bell_001": "The Bell"}),
        event("c6", THROK, "Do not trust her.", kind=EventType.WHISPER, told_to=[ZARA]),
        event("c7", "dm", "Elena weeps.", kind=_TELLS, location=MILL, witnesses=[ZARA, THROK],
              facts=[{**mood, "value": "sad"}]),
        event("c8", ZARA, "I look around.", session="s02", witnesses=[]),
        event("c9", "dm", "The wheel turns.", kind=_TELLS, session="s02", location=MILL),
        event("c10", "dm", "Night falls.", kind=_TELLS, session="s02"),
    ]  # fmt: skip


def _line(*more: str) -> dict[str, Any]:
    """A line of a transcript; whoever else listens does not speak."""
    return {"id": "t1", "session": "s02", "speaker": "Zara", "text": "Who was at the crypt?",
            "witnesses": ["Zara", "Throk", *more]}  # fmt: skip


def _hidden(name: str, content: str = "Nobody sees it.", **metadata: Any) -> Callable[[Campaign], None]:
    """Something that only the DM knows, or those whom it names."""
    told = {"witnesses": []} | metadata
    kind = told.pop("kind", _TELLS)
    session = told.pop("session", "s01")
    source = told.pop("source", "dm")
    return lambda campaign: _record(
        campaign, event(f"s_{name}", source, content, kind=kind, session=session, **told)
    )


def _record(campaign: Campaign, one: GameEvent) -> None:
    campaign.record(one)


def _taken(role: str) -> Callable[[Campaign], None]:
    """A note on what a model took, by a provider that counts thrice."""
    note = {"role": role, "model": "gpt-4o", "answers": 3, "input": 9_000, "reports": [[3_000, 9_000]]}
    return _hidden(f"use_{role}", "", kind=EventType.USAGE, source="system", usage=note)


# What may be otherwise in the second world, by name: done after the first so many events of both.
SECRETS: Mapping[str, Callable[[Campaign], None]] = {
    "a hidden listener": _hidden("listener", location=INN, participants=[VIPER], names={VIPER: "Viper"}),
    "a listener at the mill": _hidden("mill", location=MILL, participants=[VIPER]),
    "elsewhere": _hidden("crypt", "Mira opens the vault.", location=CRYPT, witnesses=[MIRA],
                         names={CRYPT: "Crypt of Ash"}, discovered=[CRYPT]),
    "a death unseen": _hidden("death", "Mira falls.", killed=[MIRA], killed_by=[VIPER],
                             names={VIPER: "Viper"}),
    "a namesake": _hidden("namesake", names={"npc_stranger_001": "Zara"}),
    "a namesake who knows": _hidden("self", names={"npc_double_001": "Zara"}, witnesses=["npc_double_001"]),
    "another Elena": _hidden("elena", names={"npc_elena_002": "Elena"}, witnesses=[MIRA]),
    "a true name": _hidden("true", names={ELENA: "the Countess"}, witnesses=[MIRA]),
    "a merger": _hidden("merger", names={IRINA: "Irina"}, same_as={ELENA: IRINA}, witnesses=[MIRA]),
    "a newer fact": _hidden("fact", facts=[{"subject": ELENA, "key": "mood", "value": "merry"}]),
    "a whisper": _hidden("whisper", "Kill Zara.", kind=EventType.WHISPER, source=VIPER, told_to=[MIRA]),
    "a theft": _hidden("theft", loot=[{"gold": 5, "from": ZARA, "to": VIPER}], names={VIPER: "Viper"}),
    "a poison": _hidden("poison", hp_delta={ZARA: -3}, conditions={ZARA: ["poisoned"]}),
    "a quest": _hidden("quest", quest_id="qst_bell_001", quest_state="failed",
                       names={"qst_bell_001": "Bell"}),
    "a session": _hidden("session", kind=EventType.SESSION_START, session="s09", witnesses=[MIRA]),
    "a note on the DM": _taken("dm"),
    "a note on players": _taken("player"),
    "a pin of another": lambda campaign: _decided(campaign, "c0", viewer=THROK),
    "a pin of the DM": lambda campaign: _decided(campaign, "c0", viewer="dm"),
}  # fmt: skip


def _decided(campaign: Campaign, target: str, *, viewer: str) -> None:
    if any(one.event_id == target for one in campaign.events(viewer="dm")):
        campaign.pin(target, viewer=viewer)


class Secret(NamedTuple):
    """One of the secrets, and after how many of the common events it comes about."""

    name: str
    after: int


# Secrets that stand in the common events themselves: who else perceives them.
LISTENERS = ("c2", "c6", "c7", "c8", "t1")
COMMON = len(_common())


def build(campaign: Campaign, secrets: Collection[Secret] = (), listeners: Collection[str] = ()) -> Campaign:
    """A world with some secrets, of which Zara and Elena perceive nothing."""
    for number, one in enumerate(_common()):
        _keep(campaign, secrets, number)
        campaign.record(_overheard(one) if one.event_id in listeners else one)
    _keep(campaign, secrets, COMMON)
    campaign.import_transcript([_line("Viper")] if "t1" in listeners else [_line()])
    _decide(campaign)
    campaign.remember()
    return campaign


def _keep(campaign: Campaign, secrets: Collection[Secret], number: int) -> None:
    for secret in secrets:
        if secret.after == number:
            SECRETS[secret.name](campaign)


def _overheard(one: GameEvent) -> GameEvent:
    witnesses = [*(one.known.witnesses or ()), VIPER]
    metadata = {**one.metadata, "witnesses": [*witnesses]}
    return event(
        one.event_id, one.source, one.content, kind=one.event_type, session=one.session_id, **metadata
    )


def _decide(campaign: Campaign) -> None:
    """What a person decides in both worlds."""
    campaign.pin("c2")
    campaign.pin("c2", on=False)
    campaign.pin("c2")
    campaign.lock("c7", viewer=ZARA)
    campaign.correct("c3", "She is owed the truth.")
    campaign.correct_fact(ELENA, "mood", "grim")
    campaign.forget("c1", viewer="Zara")
