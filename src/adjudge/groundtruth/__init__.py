"""Rankings and preferences of experts to partially ordered lists, and how consistent those are.

Importing this package registers every comparison and aggregation function.
"""

from adjudge.groundtruth import comparisons
from adjudge.groundtruth.building import BuiltList, Construction, GroundTruth, build, parse_construction
from adjudge.groundtruth.consistency import inconsistencies, list_consistency, non_transitive_triples
from adjudge.groundtruth.evidence import COMPARISONS, DEFAULT_ALPHA, Evidence
from adjudge.groundtruth.functions import FUNCTIONS
from adjudge.groundtruth.lists import PartialList, PartialLists
from adjudge.groundtruth.preferred import Preferences, PreferredQuery
from adjudge.groundtruth.rankings import RankedQuery, Rankings

__all__ = [
    "COMPARISONS",
    "DEFAULT_ALPHA",
    "FUNCTIONS",
    "BuiltList",
    "Construction",
    "Evidence",
    "GroundTruth",
    "PartialList",
    "PartialLists",
    "Preferences",
    "PreferredQuery",
    "RankedQuery",
    "Rankings",
    "build",
    "comparisons",
    "inconsistencies",
    "list_consistency",
    "non_transitive_triples",
    "parse_construction",
]
