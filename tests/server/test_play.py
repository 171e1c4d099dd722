"""Play in a browser: seats, lines, refusals, undo, restarts, and the stream of each seat."""

import re
from pathlib import Path

from tests.server.table_site import GAME, Site, begin_game, form_of, page, served_on_loopback, streamed
from tests.waiting import HANG

from dndbots.campaign import Campaign
from dndbots.events import EventType, GameEvent
from dndbots.game.game import Game
from dndbots.ids import DM
from dndbots.server.security.seat_book import SeatBook
from dndbots.server.tables.game_host import Phase


def test_a_person_takes_a_seat_and_plays(site: Site) -> None:
    """The game waits for the person, takes their line, and plays the others."""
    seat = site.seats()[0]
    with site.player(seat) as client:
        form = form_of(client, page(seat))
        assert client.post(page(seat, "seat"), data={**form, "do": "take"}).status_code == 303
        site.wait_for(seat)
        before = site.served.story(seat).told
        answer = client.post(page(seat, "say"), data={**form, "line": '"Is anybody <b>here</b>?"'})
        assert answer.status_code == 303
        site.wait_for(seat)
        text = client.get(page(seat)).text
    assert site.served.story(seat).told > before
    assert "&lt;b&gt;here&lt;/b&gt;" in text
    assert "<b>here" not in text


def test_a_line_that_is_not_possible_is_asked_again(site: Site) -> None:
    """The reason stands above the box, the text stays in it, and nothing is recorded."""
    seat = site.seats()[0]
    with site.player(seat) as client:
        form = form_of(client, page(seat))
        client.post(page(seat, "seat"), data={**form, "do": "take"})
        site.wait_for(seat)
        head = site.served.reader.head
        line = "cast Fireball at the moon"
        answer = client.post(page(seat, "say"), data={**form, "line": line}, headers={"hx-request": "true"})
        assert re.search(r'role="alert">You cannot', answer.text)
        assert line in answer.text
        assert site.served.reader.head == head


def test_a_question_to_the_game_is_answered_at_once(site: Site) -> None:
    """The answer stands above the box, the box is empty again, and no round is spent."""
    seat = site.seats()[0]
    with site.player(seat) as client:
        form = form_of(client, page(seat))
        client.post(page(seat, "seat"), data={**form, "do": "take"})
        site.wait_for(seat)
        head = site.served.reader.head
        asked = {**form, "line": "where am I?"}
        answer = client.post(page(seat, "say"), data=asked, headers={"hx-request": "true"})
        assert "You are at " in answer.text
        assert "where am I?" not in answer.text
        assert site.served.reader.head == head


def test_nobody_speaks_out_of_turn(site: Site) -> None:
    """A line for a seat that is not asked is refused and stays in the box."""
    seat = site.seats()[0]
    with site.player(seat) as client:
        form = form_of(client, page(seat))
        head = site.served.reader.head
        answer = client.post(
            page(seat, "say"), data={**form, "line": '"Hello."'}, headers={"hx-request": "true"}
        )
    assert answer.status_code == 409
    assert "not your turn" in answer.text
    assert site.served.reader.head == head


def test_a_seat_is_given_back_to_the_house(site: Site) -> None:
    """Who leaves is played by the house; the game waits for nobody."""
    seat = site.seats()[0]
    with site.player(seat) as client:
        form = form_of(client, page(seat))
        client.post(page(seat, "seat"), data={**form, "do": "take"})
        site.wait_for(seat)
        client.post(page(seat, "seat"), data={**form, "do": "leave"})
        site.wait_for(phase=Phase.IDLE)
    assert site.book.people(site.served.key) == frozenset()


def test_who_sits_down_late_in_a_round_acts_in_the_next(site: Site) -> None:
    """A DM who takes the seat while the last round of a game is played is asked in the round after it."""
    host = site.served.host
    assert host is not None
    seat = site.seats()[-1]
    host.take_seat(seat)
    site.wait_for(seat)
    with host._state:  # the house plays the rest of the round only after both
        host.leave_seat(seat)
        host.take_seat(DM)
    site.wait_for(DM)


def test_a_person_is_the_dm(site: Site) -> None:
    """The DM sees the scene before it is recorded, tells a line, and everybody there reads it."""
    seat = site.seats()[0]
    with site.player(DM) as client:
        form = form_of(client, page(DM))
        client.post(page(DM, "seat"), data={**form, "do": "take"})
        site.wait_for(DM)
        head, script = site.served.reader.head, {"hx-request": "true"}
        line = {**form, "line": "Snow falls, <thick> and slow."}
        client.post(page(DM, "say"), data=line, headers=script)
        site.wait_for(DM)
        assert "&lt;thick&gt;" in client.get(page(DM)).text
        assert site.served.reader.head == head
        answer = client.post(page(DM, "say"), data={**form, "line": "/check nobody str"}, headers=script)
        assert "Not possible" in answer.text
        client.post(page(DM, "say"), data={**form, "done": "yes"}, headers=script)
        site.wait_for(DM)  # of the next round
        client.post(page(DM, "seat"), data={**form, "do": "leave"})
    assert any("Snow falls" in text for line in site.served.story(seat).lines for text in line.paragraphs)


def test_two_people_each_get_their_turn(site: Site) -> None:
    """The game waits for one after the other."""
    first, second, *_ = site.seats()
    with site.player(first) as one, site.player(second) as two:
        for client, seat in ((one, first), (two, second)):
            client.post(page(seat, "seat"), data={**form_of(client, page(seat)), "do": "take"})
        asked = []
        for _ in range(4):
            site.wait_for()
            host = site.served.host
            assert host is not None
            assert host.status.seat is not None
            asked.append(host.status.seat)
            client = one if asked[-1] == first else two
            client.post(
                page(asked[-1], "say"), data={**form_of(client, page(asked[-1])), "line": '"I am here."'}
            )
    assert {*asked} == {first, second}


def test_the_dm_plays_rounds_and_takes_one_back(site: Site) -> None:
    """The DM lets the house play; the round that is taken back is gone from every story."""
    with site.player(DM) as client:
        form = form_of(client, page(DM))
        told = site.served.story(DM).told
        client.post(page(DM, "go-on"), data={**form, "rounds": "1"})
        site.wait_for(phase=Phase.IDLE)
        assert site.served.story(DM).told > told
        client.post(page(DM, "undo"), data=form)
        site.wait_for(phase=Phase.IDLE)
        assert site.served.story(DM).told <= told
        assert client.post(page(DM, "go-on"), data={**form, "rounds": "many"}).status_code == 400


def test_a_player_among_others_cannot_take_back_their_round(site: Site) -> None:
    """With several people at the table, only the DM takes a round back."""
    first, second, *_ = site.seats()
    with site.player(first) as one, site.player(second) as two:
        for client, seat in ((one, first), (two, second)):
            form = form_of(client, page(seat))
            client.post(page(seat, "seat"), data={**form, "do": "take"})
        assert one.post(page(first, "undo"), data=form_of(one, page(first))).status_code == 403


def test_a_restart_resumes_the_game_and_its_people(site: Site, tmp_path: Path) -> None:
    """After a restart the same links open the same seats, and the game waits for the same person."""
    seat = site.seats()[0]
    book = SeatBook(tmp_path / "seats.json")
    first = Site(site.folder, book=book)
    with first.player(seat) as client:
        client.post(page(seat, "seat"), data={**form_of(client, page(seat)), "do": "take"})
        first.wait_for(seat)
        lines = re.findall(r'id="line-\d+"', client.get(page(seat)).text)
    first.close()
    again = Site(site.folder, book=SeatBook(tmp_path / "seats.json"))
    try:
        with again.player(seat) as client:
            again.wait_for(seat)
            assert re.findall(r'id="line-\d+"', client.get(page(seat)).text) == lines
    finally:
        again.close()


def test_the_stream_misses_nothing_and_doubles_nothing(site: Site) -> None:
    """From any position on, the stream has each later line once, in order."""
    seat = site.seats()[0]
    story = site.served.story(seat)
    token, branch = site.token(seat), site.served.branch_id
    with served_on_loopback(site) as base:
        for start in (0, story.told // 2):
            with streamed(base, token, seat, after=f"{branch}-{start}") as frames:
                numbers = []
                for event, position, _ in frames:
                    if event == "line":
                        numbers.append(int(position.split("-")[1]))
                    if event == "composer":
                        break
            assert numbers == [*range(start + 1, story.told + 1)]


def test_what_another_program_records_appears(site: Site) -> None:
    """A line recorded by another process reaches the open page; a secret reaches only its witness."""
    seat, other, *_ = site.seats()
    token, branch, told = site.token(seat), site.served.branch_id, site.served.story(seat).told
    with served_on_loopback(site) as base, streamed(base, token, seat, after=f"{branch}-{told}") as frames:
        assert {event for event, _, _ in (next(frames), next(frames))} == {"panel", "composer"}
        with Campaign.open(site.folder / GAME) as elsewhere:
            for number, witness in enumerate((other, seat)):
                elsewhere.record(
                    GameEvent(
                        event_id=f"elsewhere_{number}",
                        event_type=EventType.DM_NARRATION,
                        source=DM,
                        content=f"Only {witness} sees this.",
                        session_id="s01",
                        metadata={"witnesses": [witness]},
                    )
                )
        event, position, data = next(frame for frame in frames if frame[0] == "line")
    assert (event, position) == ("line", f"{branch}-{told + 1}")
    assert seat in data
    assert other not in data


def test_a_round_taken_back_restarts_the_page(site: Site) -> None:
    """A stream from before an undo is told to start again."""
    seat = site.seats()[0]
    branch, told = site.served.branch_id, site.served.story(seat).told
    with Campaign.open(site.folder / GAME) as elsewhere:
        Game.resume(elsewhere).undo()
    with (
        served_on_loopback(site) as base,
        streamed(base, site.token(seat), seat, after=f"{branch}-{told}") as frames,
    ):
        assert next(frames)[0] == "restart"


def test_a_revoked_stream_ends(site: Site) -> None:
    """Renewing a link closes the streams that were opened by it."""
    seat = site.seats()[0]
    with (
        served_on_loopback(site) as base,
        streamed(base, site.token(seat), seat, after=f"{site.served.branch_id}-0") as frames,
    ):
        assert any(event == "composer" for event, _, _ in frames)
        site.book.revoke(site.served.key, seat)
        site.served.bell.ring()
        assert [event for event, _, _ in frames][-1] == "closed"


def test_a_first_visit_ends_in_a_game_after_three_clicks(tmp_path: Path) -> None:
    """With nothing set up: the adventure, the character, and the game waits for a line."""
    site = Site(tmp_path)
    try:
        with site.owner() as client:
            first = client.get("/")
            assert first.headers["location"] == "/begin"
            second = client.get("/begin").text
            link = re.search(r'href="(/begin\?module=apples_in_january)"', second)
            assert link is not None
            third = client.get(link.group(1)).text
            seat = re.search(r'name="seat" value="(pc_\w+)"', third)
            fields = dict(re.findall(r'type="hidden" name="(\w+)" value="(\w+)"', third))
            assert seat is not None
            begun = client.post("/begin", data={**fields, "seat": seat.group(1)})
            assert begun.status_code == 303
            text = client.get(begun.headers["location"]).text
            name = begun.headers["location"].split("/")[2]
            host = site.campaigns.get(name).host
            assert host is not None
            with host._state:
                assert host._state.wait_for(lambda: host.status.seat == seat.group(1), HANG)
        assert 'id="words"' in text
    finally:
        site.close()


def test_an_imported_campaign_can_be_read(tmp_path: Path) -> None:
    """A campaign without a game has a story and seats; its DM may play it on, and a player reads."""
    with Campaign.open(tmp_path / "old") as campaign:
        campaign.import_transcript(
            [
                {"speaker": "DM", "role": "dm", "text": "Rain falls."},
                {"speaker": "Zara", "text": "I hate rain."},
            ]
        )
    site = Site(tmp_path)
    try:
        with site.owner() as client:
            text = client.get(page(DM, game="old")).text
            assert "I hate rain." in text
            assert "Play on from here" in text
            assert "can be read, not played" in client.get(page("pc_zara_001", game="old")).text
            (seat,) = site.campaigns.get("old").seats()
            answer = client.post(page(seat, "seat", "old"), data={**form_of(client, "/begin?module=endless")})
            assert answer.status_code == 409
    finally:
        site.close()


def test_games_do_not_disturb_each_other(site: Site) -> None:
    """Two games at once, each with its own person."""
    begin_game(site.folder, name="second", rounds=1)
    served = [site.campaigns.get(name) for name in (GAME, "second")]
    for one in served:
        assert one.host is not None
        one.host.take_seat(next(iter(one.seats())))
    for one in served:
        host = one.host
        assert host is not None
        with host._state:
            assert host._state.wait_for(lambda host=host: host.status.phase is Phase.WAITING, HANG)
