"""From words to acts: a line that a player typed, or a model's answer, becomes an `Act` of a character.

`line_reader` understands a typed line: `line_deeds` and `point_reader` read its clauses, with the `grammar`,
the readers in `talk` and `deeds`, and the words in `vocabulary`; `game_answers` answers questions to it.
`act_resolver` finds the people and things that a model names, `answer_filter` cleans a model's words, and
`person_player` is the seat of a person who types.
"""
