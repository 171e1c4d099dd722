"""Facts read out of play without a model: by rule, in the turn's own words; rather none than a wrong one."""

from dndbots.compaction.rules.extractor import RuleExtractor

__all__ = ["RuleExtractor"]
