from .answers import Preferences, PreferredQuery, RankedQuery, Rankings
from .building import (
    FUNCTIONS,
    BuiltList,
    Construction,
    GroundTruth,
    aggregation,
    build,
    check_lists,
    parse_construction,
)
from .comparing import ComparedConstructions, ComparedSystems, compare_constructions, compare_systems
from .evidence import (
    COMPARISONS,
    DEFAULT_ALPHA,
    Evidence,
    comparison,
    inconsistencies,
    list_consistency,
    non_transitive_triples,
)
from .files import (
    read_experts,
    read_lists,
    read_preferences,
    read_rankings,
    write_lists,
    write_preferences,
    write_rankings,
)
from .lists import PartialList, PartialLists
from .report import Experts, experts_of
from .simulated import SimulatedPreferences, SimulatedRankings, simulate_preferences, simulate_rankings

__all__ = [
    "COMPARISONS",
    "DEFAULT_ALPHA",
    "FUNCTIONS",
    "BuiltList",
    "ComparedConstructions",
    "ComparedSystems",
    "Construction",
    "Evidence",
    "Experts",
    "GroundTruth",
    "PartialList",
    "PartialLists",
    "Preferences",
    "PreferredQuery",
    "RankedQuery",
    "Rankings",
    "SimulatedPreferences",
    "SimulatedRankings",
    "aggregation",
    "build",
    "check_lists",
    "compare_constructions",
    "compare_systems",
    "comparison",
    "experts_of",
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
