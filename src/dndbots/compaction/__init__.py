"""Compaction: raw logs become campaign data, in the background, losing nothing."""
