"""The fit of a context: what the other text of a prompt leaves is its budget."""

from dndbots.errors import BudgetTooSmall, InvalidSetting
from dndbots.memory.context.brief import NO_BRIEFING, Briefing
from dndbots.memory.context.budget import ContextBuilder
from dndbots.memory.context.kept_front import build_kept
from dndbots.memory.context.repetition import NOTHING_BESIDE, ToldBeside
from dndbots.memory.context.scene import find_scene
from dndbots.memory.context.viewer_cache import ViewerCache
from dndbots.memory.context.xray import Context, whole_prompt
from dndbots.memory.human_gates import gates_of
from dndbots.memory.recall.search import LEAST_BUDGET
from dndbots.storage.views.view import View
from dndbots.tokens import count_tokens, has_token_break


def fit_context(
    view: View,
    cache: ViewerCache,
    *,
    budget: int,
    query: str | None,
    encoding: str,
    beside: str = "",
    briefing: Briefing = NO_BRIEFING,
    told: ToldBeside = NOTHING_BESIDE,
) -> Context:
    """Return the viewer's knowledge as a context that fits into the budget together with `beside`.

    `beside` is the other text of the prompt, `briefing` what the game adds, and `cache` must be this viewer's
    own. What is `told` to the reader elsewhere is not told again.
    """
    check_budget(budget)
    if query is not None and (not isinstance(query, str) or not query.strip()):
        raise InvalidSetting("query", query, reason="is no question; leave the query out to ask nothing")
    room = budget
    if beside:
        room -= count_tokens(f"{beside}\n\n", encoding)
        if room < LEAST_BUDGET:
            raise BudgetTooSmall(budget=budget, least=budget - room + LEAST_BUDGET)
    while True:
        context = _fit_alone(
            view, cache, budget=room, query=query, encoding=encoding, briefing=briefing, told=told
        )
        tokens = _prompt_tokens(beside, context, encoding)
        if tokens <= budget:
            return context.model_copy(update={"budget": budget, "beside": beside, "prompt_tokens": tokens})
        room -= 1  # two texts joined may have a token more than both of them apart


def _prompt_tokens(beside: str, context: Context, encoding: str) -> int:
    """Count the whole prompt; counts that are known already are added up where that is exact."""
    if beside and has_token_break(before := f"{beside}\n\n", context.text):
        return count_tokens(before, encoding) + context.tokens
    return count_tokens(whole_prompt(beside, context.text), encoding) if beside else context.tokens


def _fit_alone(
    view: View,
    cache: ViewerCache,
    *,
    budget: int,
    query: str | None,
    encoding: str,
    briefing: Briefing,
    told: ToldBeside,
) -> Context:
    def build() -> Context:
        gates = gates_of(view)
        cache.catch_up(view, gates)
        now = ContextBuilder(
            view=view,
            cache=cache,
            gates=gates,
            scene=find_scene(view, cache, query),
            budget=budget,
            encoding=encoding,
            query=query,
            briefing=briefing,
            beside=told,
        )
        blocks = None if told.texts else build_kept(now)
        return now.build() if blocks is None else now.context_of(blocks)

    # A context depends on the log, the briefing and what is told beside it: at the same seq it is the same.
    return cache.cached("context", (view.head, budget, query, briefing, told), build)


def check_budget(budget: object) -> None:
    """Raise `BudgetTooSmall` unless the budget is a whole number of at least `LEAST_BUDGET`."""
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < LEAST_BUDGET:
        raise BudgetTooSmall(budget=budget, least=LEAST_BUDGET)
