"""The page on everything else that goes by a name: scales, gains, curves, experiments, ground truth, audio, reports."""

from __future__ import annotations

from typing import Any

from papers.studies import STUDIES, Study
from scripts.docs.reference_chapters import Chapter, Page, Told, by_docstring, by_line
from scripts.docs.reference_words import paragraphs, prose, sentence

from adjudge.audio.features import AUDIO_FEATURES
from adjudge.audio.library.excerpts import PLACES
from adjudge.audio.systems import BASELINES
from adjudge.audio.systems.base import Baseline
from adjudge.experiments.simulate.copulas import DEPENDENCES
from adjudge.experiments.simulate.margins import MARGINS, Family
from adjudge.experiments.spec import EXPERIMENT_SECTIONS, EXPERIMENTS, Experiment
from adjudge.groundtruth import COMPARISONS, FUNCTIONS
from adjudge.groundtruth.building import Function
from adjudge.groundtruth.evidence import DEFAULT_COMPARISONS, Comparison
from adjudge.measures import GAINS
from adjudge.model.scales import BINARY, BROAD, FINE, Scale, conversion
from adjudge.preferences.simulated import BEHAVIOURS, Behaviour
from adjudge.preferences.trust import CUES
from adjudge.reporting.document import SECTIONS
from adjudge.stats.distributions import DISTRIBUTIONS
from adjudge.users.curves import CurveForm
from adjudge.users.noticing import FORMS
from adjudge.users.satisfaction import CURVES, MONOTONE, CurveKind

_PLACES = {
    "middle": "Half-way; where half of that or more is silence, the nearest place where most is heard.",
    "start": "The beginning.",
    "representative": "The place, to a second, whose timbre is nearest to that of the whole recording.",
}


def _scale(scale: Scale) -> Told:
    grades = f"{scale.levels} grades, {scale.minimum:g} to {scale.maximum:g}"
    return Told(sentence(grades))


def _form(form: CurveForm) -> Told:
    told = by_docstring(form.function)
    names = ", ".join(f"`{name}`" for name in form.parameters)
    return Told(told.line, told.more, (("coefficients", names),))


def _curve(kind: CurveKind) -> Told:
    if isinstance(kind.at, CurveForm):
        return Told("One of those that never fall, below.")
    return by_docstring(kind.at or kind.function)


def _experiment(kind: type[Experiment]) -> Told:
    settings = [f"`{name}={value}`" for name, value in kind().to_dict().items() if name != "experiment"]
    told = by_line(kind.title, kind, (("Settings", ", ".join(settings)),))
    return Told(f"{told.line} {kind.question}", (paragraphs(kind)[0], *told.more), told.facts)


def _margin(family: Family) -> Told:
    facts = (("For values that are", prose(family.needs)), ("Taken by `auto`", "yes" if family.automatic else "no"))
    return by_docstring(family.fit, facts)


def _function(function: Function) -> Told:
    return Told(f"**{sentence(prose(function.about))}**", tuple(paragraphs(function.cut)))


def _comparison(comparison: Comparison) -> Told:
    usual = comparison.name in DEFAULT_COMPARISONS.values()
    facts = (
        ("Takes", comparison.takes + (", for which it is the default" if usual else "")),
        ("Random", "yes, by `--seed`" if comparison.is_random else "no"),
    )
    return Told(f"**{sentence(prose(comparison.about))}**", tuple(paragraphs(comparison.compare)), facts)


def _baseline(system: Baseline) -> Told:
    needs = ", ".join(f"`{name}`" for name in system.needs)
    return by_docstring(system.start, (("Needs the audio features", needs or "none"),))


def _behaviour(behaviour: Behaviour) -> Told:
    return Told(behaviour.about, (), (("listens", "yes" if behaviour.listens else "no"),))


def _study(study: Study) -> Told:
    facts = (("Reproduces", prose(", ".join(study.covers))), ("Needs", ", ".join(f"`{one}`" for one in study.needs)))
    return by_line(study.title, study.run, facts)


def _said(words: Any) -> Told:
    return Told(words)


FAMILIES = Page(
    "Everything else with a name",
    """
Whatever options and functions take by name and has no page of its own. Measures are [here](measures.md), tests
[here](tests.md), estimators, rules and goals [here](estimators.md), file formats [here](formats.md).

Made from the registries, with their docstrings: whoever [adds a member](../contributing/adding.md) finds it on
this page.
""",
    (
        Chapter(
            "Relevance scales",
            "Which grades assessors may give (`--scale`, `scale=`), besides intervals such as `0..4`. "
            "`--rescale` converts. " + paragraphs(conversion)[0] + " " + paragraphs(conversion)[1],
            {scale.name: scale for scale in (BINARY, BROAD, FINE)},
            _scale,
            short=True,
        ),
        Chapter(
            "Gains",
            "From grades to gains, in measures that have the parameter: `nDCG(gain=exp)@10`. Your own: "
            "[`adjudge.measures.gain`](python.md#measuresgain).",
            GAINS,
            lambda gain: by_docstring(gain.function),
            short=True,
        ),
        Chapter(
            "Satisfaction curves",
            "Forms that a mapping from effectiveness λ to P(Sat) may have in a file of mappings (`--users`); see "
            "[what was learnt from users](../guides/preferences_fit.md).",
            CURVES,
            _curve,
            short=True,
        ),
        Chapter(
            "Satisfaction curves that are fitted",
            "[`adjudge fit`](commands.md#adjudge-fit) takes the most likely of those that never fall.",
            MONOTONE,
            _form,
            short=True,
        ),
        Chapter(
            "Agreement curves",
            "How users see a difference of size x: the better system's list preferred, none, or the other's. "
            "[`adjudge fit`](commands.md#adjudge-fit) takes the most likely one.",
            FORMS,
            _form,
            short=True,
        ),
        Chapter(
            "Cues of attention",
            "What besides traps tells whether a participant listens. The share of answers that show a cue is likelier "
            "of attentive or of inattentive people; cues count with a weight w. See "
            "[participants](../guides/preferences_participants.md).",
            CUES,
            by_docstring,
        ),
        Chapter(
            "Simulated participants",
            "Against whom the rules that stop participants are tried.",
            BEHAVIOURS,
            _behaviour,
            short=True,
        ),
        Chapter(
            "Experiments",
            "Monte-Carlo questions about tests, measures and numbers of queries, run by "
            "[`adjudge experiment`](commands.md#adjudge-experiment) and [`adjudge.experiment`](python.md#experiment); "
            "see [experiments](../guides/experiments.md). Settings are shown with their defaults; what is `[]` is "
            "settled by the data.",
            EXPERIMENTS,
            _experiment,
        ),
        Chapter(
            "Distributions",
            "Fitted to the effectiveness of a system on some queries, to predict it on others (`experiment fit`).",
            DISTRIBUTIONS,
            by_docstring,
        ),
        Chapter(
            "Margins of simulated systems",
            "How the effectiveness of one system is modelled when queries are simulated (`--margin`).",
            MARGINS,
            _margin,
        ),
        Chapter(
            "Dependences of simulated systems",
            "How systems go together on simulated queries (`--dependence`).",
            DEPENDENCES,
            by_docstring,
        ),
        Chapter(
            "Aggregation functions of ground truth",
            "Where a new group of a partially ordered list begins. A construction is written with the tails of its "
            "tests and, if not the default, a comparison: `Any-1`, `All-2:signed-rank`. See "
            "[ground truth from experts](../guides/groundtruth.md).",
            FUNCTIONS,
            _function,
        ),
        Chapter(
            "Comparisons of ground truth",
            "How it is told that experts hold two documents apart.",
            COMPARISONS,
            _comparison,
        ),
        Chapter(
            "Places of excerpts",
            "Which part of a recording people will hear (`--place` of "
            "[`adjudge audio prepare`](commands.md#adjudge-audio-prepare)); see [audio](../guides/audio.md).",
            {place: _PLACES[place] for place in PLACES},
            _said,
            short=True,
        ),
        Chapter(
            "Audio features",
            "What [`adjudge audio features`](commands.md#adjudge-audio-features) computes of a clip.",
            AUDIO_FEATURES,
            lambda feature: by_docstring(feature.compute),
        ),
        Chapter(
            "Baseline systems",
            "What [`adjudge audio runs`](commands.md#adjudge-audio-runs) ranks a library with.",
            BASELINES,
            _baseline,
        ),
        Chapter(
            "Sections of a report",
            "What [`adjudge report`](commands.md#adjudge-report) can say (`--section`); a section with nothing to say "
            "is left out.",
            SECTIONS,
            by_docstring,
            short=True,
        ),
        Chapter(
            "Reports of experiments",
            "What the report of each experiment shows.",
            EXPERIMENT_SECTIONS,
            by_docstring,
            short=True,
        ),
        Chapter(
            "Studies that are reproduced",
            "What [`adjudge reproduce`](commands.md#adjudge-reproduce) reproduces; see "
            "[the papers' tables](reproduction.md).",
            STUDIES,
            _study,
        ),
    ),
)
