"""Which of several procedures lead, when all were tried in the same trials: never more than the trials can tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adjudge.arrays import Floats
from adjudge.experiments.conflicts import jackknifed

_CLEAR = 0.975  # of Student's distribution: beyond that many errors two rates are called different


def leading(names: Sequence[str], value: Floats, without: Floats, *, highest: bool = False) -> tuple[str, ...]:
    """Names with the lowest (or highest) value: the first leads, others are not clearly behind it.

    ``without`` has the values without one trial each, trials x names. Trials are shared, so that differences are surer
    than intervals suggest: what counts is the jackknife error of the difference, times Student's 97.5 % quantile for so
    many trials. Names without a value are left out; if none has one, or nothing tells them apart, all lead.

    >>> moved = np.array([[0.50, 0.51, 0.70], [0.52, 0.50, 0.71], [0.48, 0.49, 0.69]])
    >>> leading(["t", "permutation", "sign"], moved.mean(axis=0), moved)
    ('t', 'permutation')
    """
    from scipy.special import stdtrit

    if np.isnan(value).all():
        return tuple(names)
    behind = np.where(np.isnan(value), np.inf, -value if highest else value)
    best = int(np.argmin(behind))
    margin = float(stdtrit(max(len(without) - 1, 1), _CLEAR)) * jackknifed(without - without[:, [best]])
    order = [int(k) for k in np.argsort(behind, kind="stable") if k != best and np.isfinite(behind[k])]
    return tuple(names[k] for k in (best, *(k for k in order if not behind[k] - behind[best] > margin[k])))
