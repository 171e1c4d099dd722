"""Reads facts out of English prose by rules, without a model: better no fact than a wrong one."""

from dndbots.extraction.english.extractor import RuleExtractor

__all__ = ["RuleExtractor"]
