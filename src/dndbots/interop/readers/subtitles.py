"""Transcripts of recordings: SRT, WebVTT, tables, Whisper and its kin, with the tracks of Craig."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from dndbots.ids import DM
from dndbots.interop.formats.bounds import as_dict, as_list, as_text, clean_name, clean_text, cut_text
from dndbots.interop.formats.dates import parse_date
from dndbots.interop.formats.neutral import ImportedChat, ImportOptions, NotUnderstood, ReadFile
from dndbots.interop.formats.roles import SpeakerRoles
from dndbots.interop.history.messages import ChatMessage

# Cues of a speaker that follow within this time are one utterance, up to a length.
_PAUSE: Final = 2.0
_LONGEST_UTTERANCE: Final = 2_000
_TIME: Final = re.compile(r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})")
_ARROW: Final = re.compile(
    r"^\s*((?:\d{1,4}:)?\d{1,2}:\d{1,2}[.,]\d{1,3})\s*-->\s*((?:\d{1,4}:)?\d{1,2}:\d{1,2}[.,]\d{1,3})"
)
_VOICE: Final = re.compile(r"<v(?:\.[^\s<>]{0,60})?\s{1,20}([^<>]{1,100})>")
_TAGS: Final = re.compile(
    r"</?(?:v|c|i|b|u|ruby|rt|lang|font)[^<>]{0,200}>|<\d[\d:.]{0,20}>|\{\\[^{}]{1,40}\}"
)
_LABEL: Final = re.compile(r"^\[?([A-Z_][\w .'\u2019()-]{0,39}?)\]?:\s+(?=\S)")
_SPEAKER: Final = re.compile(r"^\[{1,2}(SPEAKER_\d+)\]{1,2}:?\s*")
_SOUND: Final = re.compile(r"^[\[(♪][^\])♪]{0,60}[\])♪]$")
_CHANGE: Final = re.compile(r"^(?:>>+|-)\s*")
# Times in milliseconds, or in seconds with a point, and the text: TSV of Whisper, AUD of whisperX.
_ROW: Final = re.compile(r"^(\d{1,9}(?:\.\d{1,6})?)\t(\d{1,9}(?:\.\d{1,6})?)\t(\S.*)$")
_TRACK: Final = re.compile(r"^\d{1,3}-(.{1,80})$")
_NOBODY: Final = "Speaker"


class SpokenCue(NamedTuple):
    """A piece of a recording: when, who if that is known, and the words. `begins` says that others ended."""

    start: float
    end: float
    speaker: str
    text: str
    begins: bool = False


def is_subtitle(text: str) -> bool:
    """Return True for SRT and WebVTT."""
    return text.startswith("WEBVTT") or any(_ARROW.match(line) for line in text[:4_000].splitlines()[:40])


def is_table(text: str) -> bool:
    """Return True for lines of a start, an end and a text with tabs between."""
    lines = text[:4_000].splitlines()[:10]
    return len(lines) > 1 and all(_ROW.match(line) for line in lines[1:-1] or lines[1:])


def is_whisper(value: Any) -> bool:
    """Return True for the JSON of Whisper, whisperX or whisper.cpp."""
    if not isinstance(value, dict):
        return False
    segments = value.get("segments")
    if isinstance(segments, list) and (not segments or "start" in as_dict(segments[0])):
        return True
    words = value.get("word_segments")
    has_words = isinstance(words, list) and bool(words) and "word" in as_dict(words[0])
    return has_words or isinstance(value.get("transcription"), list)


def read_subtitles(path: Path, text: str, options: ImportOptions) -> ReadFile:
    """Return the transcript in a file of subtitles."""
    problems: list[NotUnderstood] = []
    cues = _without_repeats(_subtitle_cues(text, problems))
    family = "WebVTT transcript" if text.startswith("WEBVTT") else "SRT transcript"
    return _read(path, cues, family, options, problems)


def read_table(path: Path, text: str, options: ImportOptions) -> ReadFile:
    """Return the transcript in a table of start, end and text."""
    problems: list[NotUnderstood] = []
    return _read(path, list(_table_cues(text, problems)), "transcript in a table", options, problems)


def _table_cues(text: str, problems: list[NotUnderstood]) -> Iterator[SpokenCue]:
    for number, line in enumerate(text.splitlines(), 1):
        row = _ROW.match(line)
        if row is not None:
            unit = 1 if "." in row[1] or "." in row[2] else 1000
            speaker, words, _ = _spoken(row[3], "")
            if words:
                yield SpokenCue(float(row[1]) / unit, float(row[2]) / unit, speaker, words)
        elif line.strip() and number > 1:  # the first line names the columns
            problems.append(NotUnderstood(f"line {number}", "it is no start, end and text with tabs between"))


def read_whisper(path: Path, value: Mapping[str, Any], options: ImportOptions) -> ReadFile:
    """Return the transcript in a JSON file of Whisper and its kin."""
    problems: list[NotUnderstood] = []
    if "transcription" in value:
        cues = list(_cpp_cues(value, problems))
        return _read(path, cues, "whisper.cpp transcript", options, problems)
    is_x = "word_segments" in value or any(
        "speaker" in as_dict(segment) for segment in as_list(value.get("segments"))
    )
    cues = list(_whisper_cues(value, problems))
    return _read(path, cues, "whisperX transcript" if is_x else "Whisper transcript", options, problems)


def read_craig(text: str) -> ReadFile:
    """Return a remark on the info file of a Craig recording: it is used when it stands beside transcripts."""
    start, tracks = craig_info(text)
    when = f"{start:%Y-%m-%d %H:%M} UTC" if start else "at an unknown time"
    remark = (
        f"a recording of {', '.join(tracks) or 'nobody'}, started {when}; import the transcripts beside it"
    )
    return ReadFile("Craig recording", remarks=(remark,))


def craig_info(text: str) -> tuple[datetime | None, list[str]]:
    """Return the start of a recording, and the names of its tracks."""
    start, tracks, is_track = None, [], False
    for line in text.splitlines():
        if line.startswith("Start time:"):
            start = parse_date(line.partition(":")[2].strip())
        elif is_track and line.startswith(("\t", " ")):
            tracks.append(clean_name(line.strip().split(" (")[0].split("#")[0]))
        is_track = line.startswith("Tracks:") or (is_track and line.startswith(("\t", " ")))
    return start, [name for name in tracks if name]


def _read(
    path: Path, cues: Iterable[SpokenCue], family: str, options: ImportOptions, problems: list[NotUnderstood]
) -> ReadFile:
    chat = clean_name(path.stem, "recording")
    start, tracks = _craig_beside(path)
    track = _TRACK.match(path.stem)
    owner = clean_name(track[1]) if track else ""
    owner = next((name for name in tracks if name.casefold() == owner.casefold()), owner)
    roles = SpeakerRoles(options)
    messages, unnamed = [], 0
    for cue in _joined(cues, owner or _NOBODY):
        # A voice without a name is somebody, but nobody's character.
        speaker, role = roles.cast(cue.speaker, "npc" if cue.speaker == _NOBODY else "pc")
        unnamed += cue.speaker == _NOBODY
        time = start + timedelta(seconds=cue.start) if start else None
        messages.append(
            ChatMessage(
                speaker,
                cut_text(cue.text),
                role=role,
                is_user=role != DM,
                session=options.session or chat,
                time=time.isoformat() if time else _clock(cue.start),
            )
        )
    remark = (
        f"it does not say who speaks: {unnamed} of {len(messages)} utterances are by {_NOBODY}; "
        f"say who that is with --speaker {_NOBODY}=NAME:ROLE"
    )
    return ReadFile(
        family,
        chats=(ImportedChat(chat, messages),) if messages else (),
        problems=problems,
        remarks=(remark,) if unnamed and _NOBODY not in options.speakers else (),
    )


def _joined(cues: Iterable[SpokenCue], nobody: str) -> Iterator[SpokenCue]:
    """Yield utterances: neighbouring cues of a speaker, joined."""
    open_cue: SpokenCue | None = None
    for cue in cues:
        named = cue._replace(speaker=cue.speaker or nobody)
        if (
            open_cue is not None
            and named.speaker == open_cue.speaker
            and not named.begins
            and named.start - open_cue.end < _PAUSE
            and len(open_cue.text) + len(named.text) < _LONGEST_UTTERANCE
        ):
            open_cue = open_cue._replace(end=named.end, text=f"{open_cue.text} {named.text}")
            continue
        if open_cue is not None:
            yield open_cue
        open_cue = named
    if open_cue is not None:
        yield open_cue


def _subtitle_cues(text: str, problems: list[NotUnderstood]) -> Iterator[SpokenCue]:
    last = ""
    for number, block in _blocks(text):
        lines = block.splitlines()
        at = next((n for n, line in enumerate(lines) if "-->" in line), None)
        if at is None:
            continue
        arrow = _ARROW.match(lines[at])
        if arrow is None:
            problems.append(NotUnderstood(f"line {number + at}", "the times of this cue cannot be read"))
            continue
        for line in lines[at + 1 :]:
            if "-->" in line:
                continue
            speaker, words, is_change = _spoken(line, last)
            if words:
                last = "" if is_change else speaker
                yield SpokenCue(_seconds(arrow[1]), _seconds(arrow[2]), last, words, is_change)


def _spoken(line: str, last: str) -> tuple[str, str, bool]:
    """Return the speaker and the words of a line of a cue, and whether an unnamed other begins to speak."""
    voice = _VOICE.search(line)
    words = _TAGS.sub("", line).strip()
    is_change = _CHANGE.match(words) is not None and voice is None
    words = _CHANGE.sub("", words)
    label = _SPEAKER.match(words) or _LABEL.match(words)
    if voice is not None:
        return clean_name(voice[1]), clean_text(words), False
    if label is not None:
        return clean_name(label[1]), clean_text(words[label.end() :]), False
    if _SOUND.match(words):
        return last, "", False
    return last, clean_text(words), is_change


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the blocks of a file with the number of their first line. Notes and styles are left out."""
    block: list[str] = []
    for number, line in enumerate([*text.replace("\r\n", "\n").split("\n"), ""], 1):
        if line.strip():
            block.append(line)
        elif block:
            if not block[0].startswith(("NOTE", "STYLE", "REGION")):
                yield number - len(block), "\n".join(block)
            block = []


def _without_repeats(cues: Iterable[SpokenCue]) -> Iterator[SpokenCue]:
    """Drop lines that rolling captions repeat from cue to cue."""
    recent: list[str] = []
    for cue in cues:
        if cue.text in recent:
            continue
        recent = [*recent[-2:], cue.text]
        yield cue


def _whisper_cues(value: Mapping[str, Any], problems: list[NotUnderstood]) -> Iterator[SpokenCue]:
    if not value.get("segments"):
        yield from _by_word([as_dict(word) for word in as_list(value.get("word_segments"))], 0.0, 0.0)
    for number, segment in enumerate(as_list(value.get("segments")), 1):
        fields = as_dict(segment)
        words = [as_dict(word) for word in as_list(fields.get("words"))]
        speakers = {str(word["speaker"]) for word in words if isinstance(word.get("speaker"), str)}
        start, end = _number(fields.get("start")), _number(fields.get("end"))
        if len(speakers) > 1:
            yield from _by_word(words, start, end)
        elif text := clean_text(fields.get("text")):
            speaker = clean_name(fields.get("speaker")) or clean_name(next(iter(speakers), ""))
            label = "" if speaker else (_LABEL.match(text) or [""])[0]
            name = clean_name(label.strip(" :[]"))
            yield SpokenCue(start, end, speaker or name, text[len(label) :])
        elif not isinstance(segment, dict):
            problems.append(NotUnderstood(f"segment {number}", "it is no object with a text"))


def _by_word(words: list[dict[str, Any]], start: float, end: float) -> Iterator[SpokenCue]:
    """Yield the parts of a segment in which two people speak. A word without a speaker goes on."""
    speaker, said = "", list[str]()
    for word in words:
        who = clean_name(word.get("speaker")) or speaker
        if who != speaker and said:
            yield SpokenCue(start, start, speaker, " ".join(said))
            said = []
        start = _number(word.get("start"), start)
        speaker = who
        said += [clean_text(word.get("word"))]
    if said:
        yield SpokenCue(start, end, speaker, " ".join(said))


def _cpp_cues(value: Mapping[str, Any], problems: list[NotUnderstood]) -> Iterator[SpokenCue]:
    for number, segment in enumerate(as_list(value.get("transcription")), 1):
        fields, offsets = as_dict(segment), as_dict(as_dict(segment).get("offsets"))
        text = clean_text(fields.get("text"))
        if not isinstance(segment, dict):
            problems.append(NotUnderstood(f"segment {number}", "it is no object with a text"))
        elif text and not _SOUND.match(text):
            speaker, words, _ = _spoken(text, "")
            yield SpokenCue(
                _number(offsets.get("from")) / 1000, _number(offsets.get("to")) / 1000, speaker, words
            )


def _craig_beside(path: Path) -> tuple[datetime | None, list[str]]:
    info = path.parent / "info.txt"
    files = [info, *sorted(path.parent.glob("*craig*info*.txt"))[:5]]
    for file in files:
        if file.is_file() and file.stat().st_size < 1 << 20:
            return craig_info(as_text(file.read_bytes()))
    return None, []


def _seconds(text: str) -> float:
    found = _TIME.match(text)
    if found is None:
        return 0.0
    hours, minutes, seconds, part = found.groups()
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + int(part.ljust(3, "0")) / 1000


def _number(value: Any, fallback: float = 0.0) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e9 else fallback


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(max(seconds, 0)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
