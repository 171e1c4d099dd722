"""What a context without a question tells of a long transcript: names, the story so far, the newest lines.

A pure function of what one viewer perceived, and of a bounded window of it: see `window`.
"""

from dndbots.memory.story.story import Story
from dndbots.memory.story.values import Telling, Told
from dndbots.memory.story.window import CHUNK, CHUNKS, EARLY, OLDER, Part, window_start

__all__ = ["CHUNK", "CHUNKS", "EARLY", "OLDER", "Part", "Story", "Telling", "Told", "window_start"]
