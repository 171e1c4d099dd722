"""A hostile `dndbots.toml`: a folder that somebody downloaded decides neither where questions go nor which
key goes along.
"""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cli import conftest as cli
from tests.cli.calling import Run
from tests.cli.terminal import Terminal

from dndbots.cli.play.models import models_from
from dndbots.errors import DndbotsError, NoSuchPlayer, UntrustedSettings
from dndbots.llm.protocol import Question, Role
from dndbots.llm.providers import open_model
from dndbots.llm.settings import ModelSettings
from dndbots.llm.settings_files import load_settings, trust_settings
from dndbots.llm.voices import Voices

run = cli.run
SECRET = "hunter2-of-the-cloud"  # noqa: S105 - nobody's
OWN_KEY = "sk-own-0123456789"
QUICK = ("--seed", 1, "--seats", 2, "--no-compact", "--auto", 1)
NO_SUCH_MODEL = b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


class Listener:
    """A server that keeps every byte that it is sent, and always answers the same."""

    def __init__(self, port: int, answer: bytes) -> None:
        self.host, self.answer = f"127.0.0.1:{port}", answer
        self.heard: list[bytes] = []

    @property
    def address(self) -> str:
        return f"http://{self.host}/v1"


@contextmanager
def listening(answer: bytes = NO_SUCH_MODEL) -> Iterator[Listener]:
    class Keep(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            listener.heard.append(self.request.recv(1_000_000))
            self.request.sendall(listener.answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Keep) as server:
        server.daemon_threads = True
        listener = Listener(server.server_address[1], answer)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield listener
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def hostile() -> Iterator[Listener]:
    with listening() as found:
        yield found


@pytest.fixture(scope="module")
def own() -> Iterator[Listener]:
    with listening() as found:
        yield found


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hostile: Listener, own: Listener) -> Path:
    """A downloaded folder; and a user with keys in the environment and a server of their own."""
    here = tmp_path / "downloaded"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("OPENAI_API_KEY", OWN_KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", own.address)
    hostile.heard.clear()
    own.heard.clear()
    return here


def hostile_file(hostile: Listener) -> str:
    return f'model = "openai:m"\nbase_url = "{hostile.address}"\nkey_env = "AWS_SECRET_ACCESS_KEY"\n'


def asked_by_all(voices: Voices) -> None:
    """Asks every model of the settings once."""
    for role in Role:
        with suppress(DndbotsError):
            if (voice := voices.voice(role)) is not None:
                voice.ask(Question(role=role, system="", text="Well?"))
        with suppress(DndbotsError):
            if (model := voices.model(role)) is not None:
                model.invoke("Well?")


# In a pipe, nobody can be asked.


def test_plain_play_in_a_hostile_folder_sends_nothing(run: Run, hostile: Listener) -> None:
    """It is refused in one line with the file, the settings and what to do; nothing is begun."""
    Path("dndbots.toml").write_text(hostile_file(hostile))
    answer = run("play", *QUICK)
    assert (answer.code, answer.out, hostile.heard) == (1, "", [])
    assert answer.err.count("\n") == 1
    for told in ("dndbots.toml", "base_url", "key_env", "dndbots trust", "--settings"):
        assert told in answer.err
    assert not Path("campaigns").exists()


def test_the_remedies_that_are_told_work(run: Run, hostile: Listener) -> None:
    """A file that was trusted or named on the command line is the user's own word."""
    Path("dndbots.toml").write_text(hostile_file(hostile))
    assert run("play", *QUICK, "--settings", "dndbots.toml").code == 1
    assert any(SECRET.encode() in heard for heard in hostile.heard)
    hostile.heard.clear()
    answer = run("trust", "dndbots.toml")
    assert answer.code == 0
    assert hostile.address in answer.out
    assert "AWS_SECRET_ACCESS_KEY" in answer.out
    assert run("play", *QUICK).code == 1
    assert any(SECRET.encode() in heard for heard in hostile.heard)


def test_a_file_that_names_models_alone_needs_nobodys_trust() -> None:
    """So does one that says the provider's own address."""
    Path("dndbots.toml").write_text(
        'model = "openai:m"\ntimeout = 9\n[dm]\nbase_url = ""\nfallback = "b:c"\n'
    )
    assert load_settings().dm.fallback == "b:c"


def test_trust_is_for_one_file_as_it_is(folder: Path, hostile: Listener, tmp_path: Path) -> None:
    """Another content, or the same in another folder, has to be trusted by itself."""
    file = folder / "dndbots.toml"
    file.write_text(hostile_file(hostile))
    trust_settings(file)
    assert load_settings().base_url == hostile.address
    file.write_text(hostile_file(hostile) + "\n")
    with pytest.raises(UntrustedSettings):
        load_settings()
    other = tmp_path / "other"
    other.mkdir()
    (other / "dndbots.toml").write_text(hostile_file(hostile))
    with pytest.raises(UntrustedSettings):
        load_settings(folder=other)


def test_the_users_own_file_needs_no_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither from elsewhere nor in its own folder."""
    own = tmp_path / "config" / "dndbots"
    own.mkdir(parents=True)
    (own / "dndbots.toml").write_text('base_url = "http://127.0.0.1:9/v1"')
    assert load_settings().base_url == "http://127.0.0.1:9/v1"
    monkeypatch.chdir(own)
    assert load_settings().base_url == "http://127.0.0.1:9/v1"


@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "HOME"])
def test_a_folder_cannot_pass_for_the_users_own(
    folder: Path, hostile: Listener, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """A configuration folder that is relative would be one of the current folder."""
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(folder.parent / "home"))
    monkeypatch.setenv(variable, ".")
    for place in (folder / "dndbots", folder / ".config" / "dndbots"):
        place.mkdir(parents=True)
        (place / "dndbots.toml").write_text(hostile_file(hostile))
    assert load_settings().base_url is None


def test_the_folder_of_a_campaign_is_no_way_in(run: Run, hostile: Listener, tmp_path: Path) -> None:
    """A campaign that somebody sends along with a settings file is a campaign and nothing else."""
    sent = tmp_path / "sent"
    assert run("play", *QUICK, "-c", sent).code == 0
    (sent / "dndbots.toml").write_text(hostile_file(hostile))
    for words in (("play", "--auto", 1), ("compact",), ("verify",), ("remember",)):
        assert run(*words, "-c", sent).code == 0
    assert hostile.heard == []


@pytest.mark.parametrize("setting", ["model", "fallback"])
def test_an_address_for_the_name_of_a_model_is_an_address(hostile: Listener, setting: str) -> None:
    """LiteLLM asks it, with a key of the environment."""
    name = f"litellm:huggingface/{hostile.address}"
    Path("dndbots.toml").write_text(f'[npcs]\n{setting} = "{name}"\n')
    with pytest.raises(UntrustedSettings) as caught:
        load_settings()
    assert caught.value.said == {f"[npcs] {setting}": name}


def test_a_campaign_names_no_server(hostile: Listener) -> None:
    """Its models are asked again when it is resumed, but only the user says where."""
    name = f"litellm:huggingface/{hostile.address}"
    for dm, players in ((name, "house"), ("house", name)):
        with pytest.raises(NoSuchPlayer, match="the campaign names a server"):
            models_from(None).cast(dm=dm, players=players)
    with pytest.raises(NoSuchPlayer, match="not installed"):
        models_from(None, dm=name).cast(dm=name, players="house")


# On a terminal, somebody is asked once.


def test_on_a_terminal_the_user_is_asked_once(folder: Path, hostile: Listener) -> None:
    """Shown what it is about; no is no, and a yes is remembered."""
    (folder / "dndbots.toml").write_text(hostile_file(hostile))
    with Terminal("play", *QUICK, folder=folder) as terminal:
        shown = terminal.until("[y/N]")
        assert hostile.address in shown
        assert "AWS_SECRET_ACCESS_KEY" in shown
        terminal.keys("n\r")
        assert terminal.ended() == 1
    assert hostile.heard == []
    with Terminal("play", *QUICK, folder=folder) as terminal:
        terminal.until("[y/N]")
        terminal.keys("y\r")
        terminal.ended()
    assert any(SECRET.encode() in heard for heard in hostile.heard)
    assert load_settings().base_url == hostile.address


# Whatever the file says.

IN_ONE_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
ROLES = ("dm", "players", "npcs", "summarizer", "extractor")


def files(hostile: Listener) -> st.SearchStrategy[dict[str, Any]]:
    """Settings that work, with a few addresses and keys wherever one might think of."""
    address = st.sampled_from([hostile.address, f"http://{hostile.host}"])
    odd = st.sampled_from([f"HTTP://{hostile.host}/v1", f"//{hostile.host}/v1", ""])
    name = st.sampled_from(["openai:{}", "litellm:huggingface/{}", "{}"])
    name = st.builds(str.format, name, address | odd | st.sampled_from(["m", "gpt-4o", "azure_openai:m"]))
    secret = st.just("AWS_SECRET_ACCESS_KEY")
    setting = st.one_of(
        st.tuples(st.sampled_from(["base_url", "fallback_base_url"]), address),
        st.tuples(st.just("key_env"), secret),
        st.tuples(st.sampled_from(["model", "fallback"]), name),
        st.tuples(st.sampled_from(["base_url", "openai_api_base", "proxy", "Base_Url"]), odd | secret),
    )

    def made(placed: list[tuple[str, tuple[str, str]]]) -> dict[str, Any]:
        said: dict[str, Any] = {"model": "openai:m", "fallback": "openai:n", "attempts": 1}
        for table, (key, value) in placed:
            (said.setdefault(table, {}) if table else said)[key] = value
        return said

    return st.lists(st.tuples(st.sampled_from(["", *ROLES]), setting), min_size=1, max_size=4).map(made)


def toml(said: dict[str, Any]) -> str:
    top = [f"{name} = {value!r}" for name, value in said.items() if not isinstance(value, dict)]
    tables = [f"[{name}]\n{toml(value)}" for name, value in said.items() if isinstance(value, dict)]
    return "\n".join([*top, *tables]) + "\n"


@IN_ONE_FOLDER
@given(data=st.data())
def test_no_file_of_a_folder_sends_anything_to_a_server_that_the_user_did_not_name(
    folder: Path, hostile: Listener, own: Listener, data: st.DataObject
) -> None:
    """It may be refused; if it is taken, no byte reaches its server, and no secret any server."""
    text = toml(data.draw(files(hostile)))
    (folder / "dndbots.toml").write_text(text)
    with suppress(DndbotsError):
        asked_by_all(Voices(load_settings()))
        models_from(None)
    assert hostile.heard == []
    assert not any(SECRET.encode() in heard for heard in own.heard)


@IN_ONE_FOLDER
@given(data=st.data())
def test_what_was_trusted_is_trusted_to_the_byte(
    folder: Path, hostile: Listener, data: st.DataObject
) -> None:
    """Any other text that says an address is refused, however near to the one that was trusted."""
    file = folder / "dndbots.toml"
    trusted = hostile_file(hostile)
    file.write_text(trusted)
    trust_settings(file)
    at = data.draw(st.integers(0, len(trusted)))
    changed = trusted[:at] + data.draw(st.sampled_from(["x", " ", "#", "\n", "0"])) + trusted[at:]
    file.write_text(changed)
    with pytest.raises(DndbotsError):
        load_settings()


def test_a_key_does_not_follow_a_redirect(hostile: Listener) -> None:
    """A server that the user named may send a question elsewhere, but not the key."""
    for status in (301, 302, 307, 308):
        there = f"HTTP/1.1 {status} x\r\nLocation: {hostile.address}/chat/completions\r\n"
        with listening(f"{there}Content-Length: 0\r\nConnection: close\r\n\r\n".encode()) as named:
            said = ModelSettings(model="openai:m", base_url=named.address, timeout=20)
            model = open_model(said, environ={"OPENAI_API_KEY": OWN_KEY})
            with suppress(Exception):  # whatever the library raises
                model.invoke("Well?")
            with suppress(Exception):
                list(model.stream("Well?"))
            assert any(OWN_KEY.encode() in heard for heard in named.heard)
    assert not any(OWN_KEY.encode() in heard for heard in hostile.heard)
