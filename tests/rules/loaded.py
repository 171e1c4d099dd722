"""Loaded dice: a source of chance that shows the faces it is told to, and fails when they run out."""

import random


class Loaded(random.Random):
    def __init__(self, *faces: int) -> None:
        super().__init__(0)
        self.faces = list(faces)

    def randint(self, a: int, b: int) -> int:
        face = self.faces.pop(0)
        assert a <= face <= b, f"a die from {a} to {b} cannot show {face}"
        return face
