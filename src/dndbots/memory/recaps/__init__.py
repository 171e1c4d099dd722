"""Recaps ("Previously on …"): a session retold from what one viewer perceived."""

from dndbots.memory.recaps.recap import LENGTHS, Length, Recap, RecapLine, write_recap

__all__ = ["LENGTHS", "Length", "Recap", "RecapLine", "write_recap"]
