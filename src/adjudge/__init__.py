"""Adjudge: evaluate retrieval systems.

>>> import adjudge as aj
>>> collection = aj.demo()
>>> eff = aj.evaluate(collection, ["CG@5", "nDCG@5"])
>>> best = aj.summarize(eff)["CG@5"][0]
>>> print(best)
KLN2: CG@5 = 0.647 ± 0.058 (60 queries)

Names are imported when they are first used, so that ``import adjudge`` costs next to nothing.
"""

from adjudge._version import __version__ as __version__
from adjudge.lazy import attach

__getattr__, __dir__ = attach(__name__)
