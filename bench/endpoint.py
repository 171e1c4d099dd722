"""The chat endpoint: what it adds to the first token, how it follows edits, and what it remembers.

    python -m bench.endpoint --events 100000 --messages 10000 --sessions 1000 --clients 20

Times are CPU time of this process. The model costs nothing here: only what the endpoint adds is measured.
"""

import argparse
import random
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from tests.server.chat.tavern import NAMES, Player, Tavern

from dndbots import Campaign
from dndbots.ids import DM
from dndbots.interop.history.messages import ChatMessage
from dndbots.server.chat.chat_desk import ChatDesk, RequestXRay
from dndbots.server.chat.chat_request import read_request

_CHATS = 20
_TURNS = 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--sessions", type=int, default=1_000)
    parser.add_argument("--clients", type=int, default=20)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        first_token(Path(folder) / "long", args.events)
        edited_history(Path(folder) / "edited", args.messages)
        many_clients(Path(folder) / "many", args.clients)
    rerolled(args.sessions)


def first_token(where: Path, events: int) -> None:
    """A turn in one of several long chats of a large campaign, with a window of 100 messages."""
    each = events // _CHATS
    with Campaign.open(where) as campaign:
        for number in range(_CHATS):
            campaign.chat(f"Card {number}").follow(_story(each, f"Card {number}", seed=number))
        tavern = _tavern(_story(each, "Card 7", seed=7)[-101:], "Card 7")
        desk, following = ChatDesk(campaign.another()), list[float]()
        _time_following(desk, following)
        spent = []
        for turn in range(_TURNS):
            tavern.say(f"Turn {turn}: where did we leave the {_WORDS[turn % len(_WORDS)]}?")
            body = tavern.request()
            begun = time.process_time()
            prepared = desk.prepare(read_request(body))
            spent.append(time.process_time() - begun)
            assert prepared.xray.followed is not None, prepared.xray.note
            assert prepared.xray.context is not None
            tavern.hear("Card 7", f"Answer {turn}, told by the fire.")
        print(
            f"log of {campaign.head} events in {_CHATS} chats, window of 100 messages, budget of 1500 tokens"
        )
        desk.close()
    _say("added before the first token", spent[1:], 30, first=spent[0])
    _say("of it, following the chat", following[1:], 30)


def edited_history(where: Path, messages: int) -> None:
    """A client that sends its whole chat, with one old line edited."""
    story = _story(messages, "Card", seed=1)
    with Campaign.open(where) as campaign:
        campaign.chat("Card").follow(story)
        desk, following = ChatDesk(campaign.another()), list[float]()
        _time_following(desk, following)
        tavern = _tavern(story, "Card")
        tavern.say("Where were we?")
        desk.prepare(read_request(tavern.request()))
        print(f"whole chat of {len(tavern.chat)} messages in each request")
        for title, at in (
            ("unchanged", None),
            ("edited 10 messages ago", -10),
            ("edited 100 messages ago", -100),
        ):
            spent = []
            for turn in range(5):
                if at is not None:
                    tavern.chat[at].text = f"This line was edited the {turn}. time, at {at}."
                body = tavern.request("regenerate")
                begun = time.process_time()
                prepared = desk.prepare(read_request(body))
                spent.append(time.process_time() - begun)
                assert prepared.xray.followed is not None, prepared.xray.note
            _say(f"{title}, followed", following[-len(spent) :], 300)
            _say(f"{title}, followed and remembered", spent, 300)
        desk.close()


def many_clients(where: Path, clients: int) -> None:
    """Clients that chat at the same time, each with a card of its own."""
    turns = 5
    taverns = [Tavern((f"Card {number}",), user=f"User {number}") for number in range(clients)]
    with Campaign.open(where) as campaign:
        desk = ChatDesk(campaign.another())

        def chat(tavern: Tavern) -> None:
            name = tavern.members[0]
            tavern.hear(name, f"{name} greets you in the glade.")
            for turn in range(turns):
                tavern.say(f"{tavern.user} says line {turn}.")
                desk.prepare(read_request(tavern.request()))
                tavern.hear(name, f"{name} answers line {turn}.")

        threads = [threading.Thread(target=chat, args=(tavern,)) for tavern in taverns]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expected = {mes.text for tavern in taverns for mes in tavern.chat[:-1]}
        found = [event.content for event in campaign.events(viewer=DM)]
        desk.close()
    lost, doubled = len(expected - set(found)), len(found) - len(set(found))
    print(f"{clients} clients at once, {len(found)} lines: {lost} lost, {doubled} doubled")


def rerolled(sessions: int) -> None:
    """Random sessions of edits, swipes and branches: the memory is the chat on the screen at each request."""
    wrong = requests = 0
    for seed in range(sessions):
        wrong_here, requests_here = _session(seed)
        wrong, requests = wrong + wrong_here, requests + requests_here
    print(f"{sessions} random sessions, {requests} requests: {wrong} with a line that is not on the screen")


def _session(seed: int) -> tuple[int, int]:
    from dndbots.testing import memory_campaign

    rng = random.Random(seed)
    campaign = memory_campaign()
    desk = ChatDesk(campaign)
    members = ("Seraphina",) if seed % 3 else ("Seraphina", "Throk", "Old Hob")
    tavern = Tavern(members, names=rng.choice(NAMES[1:] if len(members) > 1 else NAMES))
    wrong = requests = 0

    def check(xray: RequestXRay) -> None:
        nonlocal wrong, requests
        requests += 1
        if xray.followed is not None:
            chat = tavern.visible()
            last = max(number for number, mes in enumerate(chat) if mes.is_user)
            on_screen = {mes.text for mes in chat[: last + 1]}
            wrong += any(event.content not in on_screen for event in campaign.events(viewer=DM))

    def ask(body: object) -> str:
        prepared = desk.prepare(read_request(body))
        check(prepared.xray)
        reply = f"Reply number {requests}, by the fire."
        desk.hear(prepared.xray, reply)
        return reply

    tavern.hear(members[0], "You wake in a glade under silver leaves.")
    player = Player(tavern, ask, rng)
    for _ in range(2):
        player.turn()
    for _ in range(30):
        player.act()
    return wrong, requests


_WORDS = ("mill", "river", "lantern", "key", "altar", "wolf", "bell", "oak", "rider", "crypt", "ring", "well")


def _story(messages: int, name: str, *, seed: int) -> list[ChatMessage]:
    rng = random.Random(seed)
    found = []
    for number in range(messages):
        things = rng.sample(_WORDS, 3)
        text = f"The {things[0]} by the {things[1]} of {name} hides a {things[2]}, they say ({number})."
        is_user = number % 2 == 1
        role = "pc" if is_user else "npc"
        found.append(ChatMessage("Ann" if is_user else name, text, role=role, is_user=is_user))
    return found


def _tavern(story: list[ChatMessage], name: str) -> Tavern:
    tavern = Tavern((name,), window=1_000_000)
    for message in story:
        (tavern.say if message.is_user else lambda text: tavern.hear(name, text))(message.text)
    return tavern


def _time_following(desk: ChatDesk, spent: list[float]) -> None:
    """Note the time that a desk takes to follow chats, without that of the memory it adds."""
    follow = desk._follow

    def timed(*args: Any) -> Any:
        begun = time.process_time()
        result = follow(*args)
        spent.append(time.process_time() - begun)
        return result

    desk._follow = timed  # type: ignore[method-assign]


def _say(title: str, seconds: list[float], limit: int, first: float | None = None) -> None:
    median = statistics.median(seconds) * 1000
    opened = "" if first is None else f", first of the process {first * 1000:.0f} ms"
    print(f"  {title}: median {median:.1f} ms, worst {max(seconds) * 1000:.1f} ms{opened} (limit {limit} ms)")


if __name__ == "__main__":
    main()
