"""The models of relevance of the thesis: its Table A.1, M_out and M_jud for the Broad and the Fine scale of MIREX.

Fitted to all judgments of MIREX 2007, 2009, 2010 and 2011, four digits as printed. Fine was cut into the levels
5, 15, …, 95. aSYS and aART are on the scale of grades there (0 to 2, 0 to 100); here they are relevance, 0 to 1, so
their effects are multiplied by the highest grade.

Urbano, J., Evaluation in Audio Music Similarity, PhD thesis, Universidad Carlos III de Madrid, 2013.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from adjudge.model.scales import BROAD, FINE
from adjudge.relevance.fitting import FittedModel
from adjudge.relevance.ordinal import Ordinal

SOURCE = "Urbano 2013 (thesis), Table A.1"

_EFFECTS: dict[tuple[str, str], dict[str, float]] = {
    ("broad", "output"): {
        "fSYS": -19.7968,
        "OV": -0.3227,
        "fSYS:OV": 29.6378,
        "fART": 3.2530,
        "sGEN": 1.8975,
        "fGEN": 5.4055,
        "sGEN:fGEN": -2.9606,
    },
    ("broad", "judgments"): {"fSYS": 0.9789, "aSYS": 1.1964, "aART": 7.1813},
    ("fine", "output"): {
        "fSYS": -17.4721,
        "OV": 0.1336,
        "fSYS:OV": 26.4550,
        "fART": 2.9111,
        "sGEN": 2.0443,
        "fGEN": 5.4544,
        "sGEN:fGEN": -3.4851,
    },
    ("fine", "judgments"): {"fSYS": 0.7954, "aSYS": 0.0128, "aART": 0.2078},
}
_INTERCEPTS: dict[tuple[str, str], tuple[float, ...]] = {
    ("broad", "output"): (-1.4351, -3.5205),
    ("broad", "judgments"): (-5.2165, -11.9251),
    ("fine", "output"): (-0.5092, -1.2231, -1.7919, -2.2787, -2.7216, -3.1956, -3.8044, -4.6928, -5.9567),
    ("fine", "judgments"): (-2.7554, -4.9168, -7.0128, -9.0010, -10.8548, -12.7158, -14.6722, -16.8831, -19.2536),
}
_LEVELS = {"broad": (0.0, 1.0, 2.0), "fine": tuple(float(level) for level in range(5, 100, 10))}
_HIGHEST = {"broad": BROAD.maximum, "fine": FINE.maximum}
_ON_GRADES = ("aSYS", "aART")

PUBLISHED_SCALES = tuple(_LEVELS)


def published_model(scale: str, kind: Literal["output", "judgments"]) -> FittedModel:
    """M_out (``output``) or M_jud (``judgments``) for the scale ``broad`` or ``fine``.

    >>> print(published_model("broad", "output").features)
    ('fSYS', 'OV', 'fSYS:OV', 'fART', 'sGEN', 'fGEN', 'sGEN:fGEN')
    """
    effects, highest = _EFFECTS[scale, kind], _HIGHEST[scale]
    slopes = [effect * (highest if name in _ON_GRADES else 1.0) for name, effect in effects.items()]
    ordinal = Ordinal(np.array(_INTERCEPTS[scale, kind]), np.array(slopes))
    return FittedModel(tuple(effects), ordinal, tuple(level / highest for level in _LEVELS[scale]), SOURCE)
