"""The page on judging little: estimators of relevance, their features, selection rules and goals."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from scripts.docs.reference_chapters import Chapter, Page, Told, by_docstring
from scripts.docs.reference_words import paragraphs, prose, sentence

from adjudge.relevance import ESTIMATORS, GOALS, RULES
from adjudge.relevance.choosing import GoalKind
from adjudge.relevance.features import FEATURES, Feature


def _estimator(start: Callable[..., Any]) -> Told:
    options = [one for one in inspect.signature(start).parameters.values() if one.kind is one.KEYWORD_ONLY]
    shown = ", ".join(f"`{one.name}={one.default!r}`" for one in options)
    return by_docstring(start, (("Options", shown or "none"),))


def _feature(feature: Feature) -> Told:
    needs = "yes" if feature.judged else "no"
    return Told(prose(feature.about), tuple(paragraphs(feature.compute)[1:]), (("needs judgments", needs),))


def _goal(goal: GoalKind) -> Told:
    reached = f"{'at most' if goal.falling else 'at least'} {goal.level:g}"
    return Told(sentence(prose(goal.about)), (), (("reached, unless told otherwise, at", reached),))


ESTIMATION = Page(
    "Estimators, rules and goals",
    """
How systems are ranked with few judgments: an estimator believes something about the relevance of every document, a
rule asks for the most telling one, a goal says when to stop. [`adjudge estimate`](commands.md#adjudge-estimate),
[`adjudge next`](commands.md#adjudge-next), [`adjudge simulate`](commands.md#adjudge-simulate), campaigns and
[`adjudge.judging`](python.md#judging) take them by their names here. Which to choose, and what they save:
[few judgments](../guides/low_cost.md).

Made from the registries of `adjudge.relevance`, with their docstrings. T and a number is a section or an equation of
the thesis.
""",
    (
        Chapter(
            "Estimators",
            "What is believed of documents that nobody has judged (`--estimator`, `estimator=`).",
            ESTIMATORS,
            _estimator,
        ),
        Chapter(
            "Features",
            "What estimators look at, for each pair of query and document. Relevance is grade / highest grade.",
            FEATURES,
            _feature,
            short=True,
        ),
        Chapter(
            "Selection rules",
            "Which document to judge next (`--rule`, `rule=`).",
            RULES,
            by_docstring,
        ),
        Chapter(
            "Goals",
            "When to stop (`--goal`, `--level`, `aj.relevance.Goal`). Systems nearer than the `--zone` count as a tie.",
            GOALS,
            _goal,
            short=True,
        ),
    ),
)
