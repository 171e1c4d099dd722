"""The story of a long transcript in a context: names, the story so far, and the newest lines.

A pure function of a bounded window of what one viewer perceived: `runs` says how long that window is.
"""

from dndbots.memory.story.lines import StoryLine, StoryTelling
from dndbots.memory.story.runs import CHUNK, CHUNKS, EARLY, OLDER, RunPart, window_start
from dndbots.memory.story.story import NewestLines, Story

__all__ = [
    "CHUNK",
    "CHUNKS",
    "EARLY",
    "OLDER",
    "NewestLines",
    "RunPart",
    "Story",
    "StoryLine",
    "StoryTelling",
    "window_start",
]
