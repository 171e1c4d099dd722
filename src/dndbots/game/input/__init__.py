"""From words to acts: a line that a player typed, or a model's answer, becomes an `Act` of a character.

`line_parser` reads a typed line, `act_resolver` finds the people and things that it names, `answer_filter`
cleans a model's words, and `person_player` is the seat of a person who types.
"""
