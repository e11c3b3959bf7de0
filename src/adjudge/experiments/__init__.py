"""Experiments about evaluation itself: which test, measure, scale and number of queries give conclusions that hold.

Each is a frozen specification (:mod:`~adjudge.experiments.spec`) run over samples of effectiveness
(:mod:`~adjudge.experiments.samples`) by any number of workers (:mod:`~adjudge.experiments.run`), always with the
same numbers.
"""

from adjudge.lazy import attach

__getattr__, __dir__ = attach(__name__)
