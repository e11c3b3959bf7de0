"""Rankings and preferences of experts to partially ordered lists, and how consistent those are."""

from adjudge.groundtruth.building import FUNCTIONS, BuiltList, Construction, GroundTruth, build, parse_construction
from adjudge.groundtruth.comparing import ComparedConstructions, compare_constructions
from adjudge.groundtruth.consistency import inconsistencies, list_consistency, non_transitive_triples
from adjudge.groundtruth.evidence import COMPARISONS, DEFAULT_ALPHA, Evidence
from adjudge.groundtruth.files import (
    read_experts,
    read_lists,
    read_preferences,
    read_rankings,
    write_lists,
    write_preferences,
    write_rankings,
)
from adjudge.groundtruth.lists import PartialList, PartialLists
from adjudge.groundtruth.preferences import Preferences, PreferredQuery
from adjudge.groundtruth.rankings import RankedQuery, Rankings
from adjudge.groundtruth.simulated import (
    SimulatedPreferences,
    SimulatedRankings,
    simulate_preferences,
    simulate_rankings,
)

__all__ = [
    "COMPARISONS",
    "DEFAULT_ALPHA",
    "FUNCTIONS",
    "BuiltList",
    "ComparedConstructions",
    "Construction",
    "Evidence",
    "GroundTruth",
    "PartialList",
    "PartialLists",
    "Preferences",
    "PreferredQuery",
    "RankedQuery",
    "Rankings",
    "SimulatedPreferences",
    "SimulatedRankings",
    "build",
    "compare_constructions",
    "inconsistencies",
    "list_consistency",
    "non_transitive_triples",
    "parse_construction",
    "read_experts",
    "read_lists",
    "read_preferences",
    "read_rankings",
    "simulate_preferences",
    "simulate_rankings",
    "write_lists",
    "write_preferences",
    "write_rankings",
]
