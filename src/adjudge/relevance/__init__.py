"""Relevance as a random variable: estimate it, rank systems by it, choose what to judge next, know when to stop."""

from adjudge.relevance.base import ESTIMATORS, RelevanceModel, Scores, estimator
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.choosing import GOALS, RULES, Goal, rule
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
    "judging",
    "rule",
]
