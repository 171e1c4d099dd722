"""Files from elsewhere hold any JSON: it is read or refused, and nothing is half written."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dndbots import Campaign
from dndbots._jsontext import read_json
from dndbots.compaction.data.files import parse_file
from dndbots.errors import InvalidTranscript
from dndbots.interop.transcript_files import TranscriptFile

_NUMBERS = ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" * 5000, "-" + "9" * 400, "true", "null"]
_VALUES = [
    *_NUMBERS,
    '"\\ud800"',
    '"\\u0000"',
    "[]",
    "{}",
    '"x"',
    "[" * 50_000,
    "[" * 90 + "]" * 90,
    '{"a":' * 50_000,
]
_EVENT = '{"event_id": "e1", "kind": "dialogue", "source": "dm", "session_id": "s1", "content": "Hi.", %s}'
BAD_LINES = [
    *(_EVENT % f'"version": {value}' for value in _VALUES),
    *(_EVENT % f'"turn": {value}' for value in _VALUES if value not in ("null", "true")),
    *(_EVENT % f'"metadata": {value}' for value in _VALUES if value != "{}"),
    *(
        _EVENT % f'"metadata": {{"mood": {value}}}'
        for value in ("NaN", "1e999", "1" * 400, "[" * 60 + "]" * 60)
    ),
    _EVENT % '"source": "pc_zara_001"',
    *("[]", "7", "null", '"x"', "{", "[" * 100_000, '{"a":' * 100_000, "\ufeff{}", "\ud800"),
]


def test_a_bad_line_of_a_log_is_named(tmp_path: Path) -> None:
    """Which line cannot be read and why, in a few words; and nothing is added."""
    with Campaign.open(tmp_path / "campaign") as campaign:
        for line in BAD_LINES:
            with pytest.raises(InvalidTranscript) as refused:
                campaign.import_log(['{"dndbots_log": 1}', line])
            assert refused.value.line == 2
            assert len(str(refused.value)) < 400, line[-60:]
        assert campaign.head == 0


@pytest.mark.parametrize("line", ["NaN", "[" * 100_000, '{"dndbots_log": Infinity}', '{"dndbots_log": true}'])
def test_a_bad_header_is_named(tmp_path: Path, line: str) -> None:
    """So is a first line that is no header."""
    with Campaign.open(tmp_path / "campaign") as campaign, pytest.raises(InvalidTranscript, match="header"):
        campaign.import_log([line])


@pytest.mark.parametrize(
    "value", [*_NUMBERS[:7], "[" * 100_000, '{"a": 1, "a": 2}'], ids=lambda text: text[:20]
)
def test_a_bad_line_of_a_transcript_is_named(tmp_path: Path, value: str) -> None:
    """The same of the lines of a transcript, and of one that is a document."""
    path, good = tmp_path / "play.json", '{"speaker": "Zara", "text": "Hi."}'
    line = f'{{"speaker": "Zara", "text": "Hi.", "mood": {value}}}'
    for text in (f"{good}\n{line}", f"[\n{good},\n{line}]"):
        path.write_text(text, "utf-8")
        with pytest.raises(InvalidTranscript) as refused:
            list(TranscriptFile(path))
        assert len(str(refused.value)) < 400


def test_a_key_that_stands_twice_is_refused() -> None:
    """Readers disagree on which of two counts: a line that says two things of one says nothing."""
    with pytest.raises(ValueError, match="'speaker' occurs twice"):
        read_json('{"speaker": "Zara", "speaker": "DM"}')


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert read_json(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(JSON)
def test_good_json_is_read_as_it_is(value: object) -> None:
    """What the standard library writes comes back the same."""
    assert read_json(json.dumps(value)) == value


@given(st.text(alphabet='[]{}",:\\0123456789.eE+-NaInfityrulsd \n\ufeff\ud800', max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text ends a reader in anything but a value or a `ValueError`."""
    parse_file(text.encode("utf-8", "surrogatepass"))
    with contextlib.suppress(ValueError):
        read_json(text)
