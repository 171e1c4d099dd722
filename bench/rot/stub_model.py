"""A model that needs no model: embeddings from hashed words, and a chat that hands back what it was given.

Peers that ask a model or an embedder get this one, so that they run offline. It is deterministic and counts
its calls. An embedding is a bag of stemmed words and pairs of them, hashed to 512 numbers. It matches words,
as BM25 does, and knows no synonyms, so peers are measured below what they reach with a real embedder.
"""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

SIZE = 512
CALLS: Counter[str] = Counter()
_WORD = re.compile(r"[a-z0-9']+")
_STOP = re.compile(
    r"(?:a|an|and|are|as|at|be|by|did|do|does|for|from|has|have|he|her|him|his|how|i|in|is|it|its|me|my|of|on|or|our"
    r"|she|so|that|the|their|them|they|this|to|us|was|we|were|what|when|where|which|who|whom|whose|why|will|with"
    r"|you|your)"
)


def embed(text: str) -> list[float]:
    """The vector of a text, of length one."""
    CALLS["embed"] += 1
    words = [
        re.sub(r"('s|ies|es|s|ing|ed)$", "", word)
        for word in _WORD.findall(text.lower())
        if not _STOP.fullmatch(word)
    ]
    vector = [0.0] * SIZE
    for feature, count in Counter([*words, *map(" ".join, pairwise(words))]).items():
        digest = hashlib.blake2b(feature.encode(), digest_size=8).digest()
        at = int.from_bytes(digest[:4], "big") % SIZE
        vector[at] += (1.0 if digest[4] & 1 else -1.0) * (1 + math.log(count))
    length = math.sqrt(sum(number * number for number in vector)) or 1.0
    return [number / length for number in vector]


def embed_many(texts: Sequence[str]) -> list[list[float]]:
    """The vectors of several texts."""
    return [embed(text) for text in texts]
