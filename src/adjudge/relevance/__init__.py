"""Relevance as a random variable: estimate it, rank systems by it, choose what to judge next, know when to stop.

Importing this package registers every estimator, selection rule and goal.
"""

from adjudge.relevance import estimators, hierarchical
from adjudge.relevance.base import ESTIMATORS, RelevanceModel, Scores, estimator
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.choosing import RULES, rule
from adjudge.relevance.goals import GOALS, Goal
from adjudge.relevance.session import Session, judging

__all__ = [
    "ESTIMATORS",
    "GOALS",
    "RULES",
    "Candidates",
    "Goal",
    "RelevanceModel",
    "Scores",
    "Session",
    "candidates",
    "estimator",
    "estimators",
    "hierarchical",
    "judging",
    "rule",
]
