"""Baseline systems for music similarity: registered distances between clips, and the runs they give.

``base`` defines what a system is, ``baselines`` has the systems and ``distances`` what they compute with, mutual
proximity included. ``ranking`` chooses queries and turns distances into runs or matrices; ``statistics`` counts what
MIREX reported of systems before anybody judged.
"""

from adjudge.audio.systems.base import BASELINES, Distances, Sounds, baseline
from adjudge.audio.systems.ranking import choose_queries, make_runs, sounds_of, write_runs

__all__ = ["BASELINES", "Distances", "Sounds", "baseline", "choose_queries", "make_runs", "sounds_of", "write_runs"]
