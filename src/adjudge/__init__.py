"""Adjudge: evaluate retrieval systems.

>>> import adjudge as aj
>>> collection = aj.demo()
>>> eff = aj.evaluate(collection, ["CG@5", "nDCG@5"])
>>> best = aj.summarize(eff)["CG@5"][0]
>>> print(best)
KLN2: CG@5 = 0.647 ± 0.058 (60 queries)

Names are imported when they are first used, so that ``import adjudge`` costs next to nothing.
"""

from __future__ import annotations

from adjudge._version import __version__

TYPE_CHECKING = False  # as of typing, which need not be imported for it: the command line starts here
if TYPE_CHECKING:
    from typing import Any

    from papers.run import reproduce

    from adjudge.audio.library.folder import open_library
    from adjudge.audio.library.prepare import prepare_library
    from adjudge.audio.similarity import sound_similarity
    from adjudge.audio.systems.ranking import make_runs, sounds_of
    from adjudge.embedded import demo
    from adjudge.errors import AdjudgeError, AdjudgeWarning, InputError
    from adjudge.experiments.run import open_experiment as read_experiment
    from adjudge.experiments.run import run_experiment as experiment
    from adjudge.experiments.samples import samples_of, strata_of
    from adjudge.experiments.simulate.collection import fit_collection
    from adjudge.formats.effectiveness import read_effectiveness
    from adjudge.formats.reading import read, write
    from adjudge.groundtruth.building import build as ground_truth
    from adjudge.groundtruth.building import check_lists
    from adjudge.groundtruth.comparing import compare_constructions
    from adjudge.groundtruth.files import read_lists, read_preferences, read_rankings, write_lists, write_rankings
    from adjudge.groundtruth.simulated import simulate_preferences, simulate_rankings
    from adjudge.measures.assessors import evaluate_assessors
    from adjudge.measures.base import Measure, measure, parse_measure, parse_measures
    from adjudge.measures.evaluation import evaluate
    from adjudge.measures.parameters import gain
    from adjudge.model.collection import Collection
    from adjudge.model.effectiveness import AssessedEffectiveness, Effectiveness
    from adjudge.model.scales import BINARY, BROAD, FINE, Scale
    from adjudge.preferences.attention_checks import make_traps
    from adjudge.preferences.files import read_answers, read_questions, write_questions
    from adjudge.preferences.generation import make_questions
    from adjudge.preferences.influence import influence
    from adjudge.preferences.learning import learn
    from adjudge.preferences.quality import quality
    from adjudge.relevance.choosing import Goal
    from adjudge.relevance.session import judging
    from adjudge.stats.agreement import agreement, ratings
    from adjudge.stats.gtheory.gstudy import gstudy
    from adjudge.stats.summary import summarize
    from adjudge.users.comparison import compare
    from adjudge.users.files import read_mappings, write_mappings
    from adjudge.users.satisfaction import satisfaction
    from adjudge.web.client import connect

_HOMES = {  # module, and after a colon the name that it has there, if that is another
    "open_library": "adjudge.audio.library.folder",
    "prepare_library": "adjudge.audio.library.prepare",
    "sound_similarity": "adjudge.audio.similarity",
    "make_runs": "adjudge.audio.systems.ranking",
    "sounds_of": "adjudge.audio.systems.ranking",
    "demo": "adjudge.embedded",
    "AdjudgeError": "adjudge.errors",
    "AdjudgeWarning": "adjudge.errors",
    "InputError": "adjudge.errors",
    "experiment": "adjudge.experiments.run:run_experiment",
    "read_experiment": "adjudge.experiments.run:open_experiment",
    "samples_of": "adjudge.experiments.samples",
    "strata_of": "adjudge.experiments.samples",
    "fit_collection": "adjudge.experiments.simulate.collection",
    "read": "adjudge.formats",
    "read_effectiveness": "adjudge.formats",
    "write": "adjudge.formats",
    "Measure": "adjudge.measures",
    "measure": "adjudge.measures",
    "evaluate": "adjudge.measures",
    "evaluate_assessors": "adjudge.measures.assessors",
    "parse_measure": "adjudge.measures",
    "parse_measures": "adjudge.measures",
    "gain": "adjudge.measures",
    "AssessedEffectiveness": "adjudge.model.effectiveness",
    "Collection": "adjudge.model.collection",
    "Effectiveness": "adjudge.model.effectiveness",
    "BINARY": "adjudge.model.scales",
    "BROAD": "adjudge.model.scales",
    "FINE": "adjudge.model.scales",
    "Scale": "adjudge.model.scales",
    "Goal": "adjudge.relevance",
    "judging": "adjudge.relevance",
    "reproduce": "papers",
    "gstudy": "adjudge.stats.gtheory.gstudy",
    "summarize": "adjudge.stats.summary",
    "compare": "adjudge.users.comparison",
    "satisfaction": "adjudge.users.satisfaction",
    "agreement": "adjudge.stats.agreement",
    "ratings": "adjudge.stats.agreement",
    "connect": "adjudge.web.client",
    "read_answers": "adjudge.preferences.files",
    "read_questions": "adjudge.preferences.files",
    "write_questions": "adjudge.preferences.files",
    "make_questions": "adjudge.preferences.generation",
    "make_traps": "adjudge.preferences.attention_checks",
    "learn": "adjudge.preferences.learning",
    "quality": "adjudge.preferences.quality",
    "influence": "adjudge.preferences.influence",
    "read_mappings": "adjudge.users.files",
    "write_mappings": "adjudge.users.files",
    "read_rankings": "adjudge.groundtruth.files",
    "read_preferences": "adjudge.groundtruth.files",
    "read_lists": "adjudge.groundtruth.files",
    "write_lists": "adjudge.groundtruth.files",
    "write_rankings": "adjudge.groundtruth.files",
    "ground_truth": "adjudge.groundtruth.building:build",
    "check_lists": "adjudge.groundtruth.building",
    "compare_constructions": "adjudge.groundtruth.comparing",
    "simulate_preferences": "adjudge.groundtruth.simulated",
    "simulate_rankings": "adjudge.groundtruth.simulated",
}

__all__ = [
    "BINARY",
    "BROAD",
    "FINE",
    "AdjudgeError",
    "AdjudgeWarning",
    "AssessedEffectiveness",
    "Collection",
    "Effectiveness",
    "Goal",
    "InputError",
    "Measure",
    "Scale",
    "__version__",
    "agreement",
    "check_lists",
    "compare",
    "compare_constructions",
    "connect",
    "demo",
    "evaluate",
    "evaluate_assessors",
    "experiment",
    "fit_collection",
    "gain",
    "ground_truth",
    "gstudy",
    "influence",
    "judging",
    "learn",
    "make_questions",
    "make_runs",
    "make_traps",
    "measure",
    "open_library",
    "parse_measure",
    "parse_measures",
    "prepare_library",
    "quality",
    "ratings",
    "read",
    "read_answers",
    "read_effectiveness",
    "read_experiment",
    "read_lists",
    "read_mappings",
    "read_preferences",
    "read_questions",
    "read_rankings",
    "reproduce",
    "samples_of",
    "satisfaction",
    "simulate_preferences",
    "simulate_rankings",
    "sound_similarity",
    "sounds_of",
    "strata_of",
    "summarize",
    "write",
    "write_lists",
    "write_mappings",
    "write_questions",
    "write_rankings",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'adjudge' has no attribute {name!r}")
    import importlib

    home, _, there = _HOMES[name].partition(":")
    value = getattr(importlib.import_module(home), there or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
