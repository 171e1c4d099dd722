"""Rot: does a memory keep a long campaign, for each of those who play it, and what does it cost?

    python -m bench.rot --turns 100,1000,10000 --out rot-report

Tells a seeded campaign in prose, hands it to each system line by line, and asks questions whose answers are
known, for each viewer and at many ages. Scores without a model. `docs/benchmark.md` explains the method.
"""
