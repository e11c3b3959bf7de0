"""Baseline systems for music similarity: registered distances between clips, and the runs they give.

``base`` says what a system is, ``timbre``, ``patterns`` and ``plain`` have the systems, ``distances`` and ``proximity``
what they compute with. ``queries`` chooses what is asked, ``ranking`` turns distances into runs, without documents that
share an artist with the query (``labels``), ties by ``chance``; ``matrices`` writes distances as they are.
``statistics`` has what MIREX reported of systems before anybody judged, ``statistics_words`` says it in sentences.
"""

from adjudge.audio.systems import patterns, plain, timbre  # noqa: F401 - registers them all
from adjudge.audio.systems.base import BASELINES, Distances, Sounds, baseline
from adjudge.audio.systems.ranking import choose_queries, make_runs, sounds_of, write_runs

__all__ = ["BASELINES", "Distances", "Sounds", "baseline", "choose_queries", "make_runs", "sounds_of", "write_runs"]
