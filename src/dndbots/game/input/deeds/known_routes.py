"""Routes over ways that a character knows: the first way toward a place that is not next door."""

from collections import deque
from collections.abc import Iterator, Sequence

from dndbots.game.input.vocabulary.lexicon import word_group
from dndbots.game.input.vocabulary.scene_names import SceneName, SceneNames
from dndbots.game.input.vocabulary.word_roots import alike_groups, root_of
from dndbots.game.state.table import Table
from dndbots.text.words import words_of


def find_route(scene: SceneNames, said: Sequence[str]) -> SceneName | None:
    """Return the way from here toward a place that the words name; None if the character knows no route."""
    wanted = [text for text in said if text not in word_group("wayless")]
    if not wanted:
        return None
    start = scene.here.uid
    reached = {start}
    queue = deque((way.key, there) for way in scene.ways for there in _ends(scene.table, start, way.key))
    while queue:
        first, place = queue.popleft()
        if place in reached:
            continue
        reached.add(place)
        sights = scene.table.sights.get(place)
        ways = sights.ways if sights is not None else ()
        if any(_means(wanted, name) for name in (scene.table.names.get(place, ""), *ways)):
            return next((way for way in scene.ways if way.key == first), None)
        queue.extend((first, there) for way in ways for there in _ends(scene.table, place, way))
    return None


def _ends(table: Table, place: str, way: str) -> Iterator[str]:
    """Yield where a way leads: as it was taken, or by its name back to where the character came from."""
    there = table.ways.get(place, {}).get(way)
    if there is not None:
        yield there
        return
    said = {root_of(word) for word in words_of(way)}
    for origin, taken in table.ways.items():
        led = [taken_way for taken_way, end in taken.items() if end == place]
        names = (
            table.names.get(origin, ""),
            *led,
        )  # "off the bridge" leads back to where "onto the bridge" began
        name = {root_of(word) for name in names for word in words_of(name)} - {"the", "to"}
        if place in taken.values() and name & said:
            yield origin


def _means(wanted: Sequence[str], name: str) -> bool:
    """Check that the last word fits a name, by itself or by a word like it."""
    words = [*words_of(name)]
    roots = {root_of(word) for word in words}
    groups = {group for word in words for group in alike_groups(word)}
    return any(root_of(text) in roots or alike_groups(text) & groups for text in wanted[-1:])
