"""The satisfaction mappings of the thesis: its Table 4.3, 40 combinations of measure and scale.

Cubics fitted to 4,050 lists of five songs that crowd workers called good or bad; every measure is at cutoff 5 and
user-oriented (``ideal=max``). Rounded to four digits, as published. RMS residuals .0034 to .0402 (its Table 4.2).

Urbano, J., Evaluation in Audio Music Similarity, PhD thesis, Universidad Carlos III de Madrid, 2013.
"""

from __future__ import annotations

from adjudge.users.satisfaction import SatisfactionMapping

SOURCE = "Urbano 2013 (thesis), Table 4.3"

_P, _AP, _GAP = "P@5", "AP(ideal=max)@5", "GAP(ideal=max)@5"
_CG, _CG_EXP = "CG@5", "CG(gain=exp)@5"
_DCG, _DCG_EXP = "DCG@5", "DCG(gain=exp)@5"
_Q, _Q_EXP = "Q(ideal=max)@5", "Q(gain=exp,ideal=max)@5"
_RBP, _RBP_EXP = "RBP(ideal=max)@5", "RBP(gain=exp,ideal=max)@5"

_COEFFICIENTS: dict[str, dict[str, tuple[float, float, float, float]]] = {
    "broad": {
        _CG: (0.1872, -0.0969, 1.9908, -1.237),
        _CG_EXP: (0.1601, 0.9345, -0.3245, 0.1463),
        _DCG: (0.1614, 0.4043, 1.1288, -0.8535),
        _DCG_EXP: (0.1253, 1.2334, -0.7733, 0.2884),
        _Q: (0.1291, 1.0993, -0.2774, -0.1157),
        _Q_EXP: (0.1117, 1.6064, -1.4001, 0.5267),
        _RBP: (0.1666, 0.3591, 1.2609, -0.9536),
        _RBP_EXP: (0.1297, 1.1906, -0.6452, 0.204),
        _GAP: (0.1018, 1.7272, -1.6028, 0.6471),
    },
    "fine": {
        _CG: (0.2007, -0.4632, 3.6754, -2.6338),
        _DCG: (0.1873, -0.3, 3.3552, -2.4675),
        _Q: (0.1509, 0.3214, 2.0057, -1.7292),
        _RBP: (0.1722, -0.1443, 3.0142, -2.253),
        _GAP: (0.1131, 1.0327, 0.6077, -0.9409),
    },
    "graded4": {
        _CG: (0.2162, -0.1609, 2.151, -1.3492),
        _CG_EXP: (0.1879, 0.6952, 0.5243, -0.5204),
        _DCG: (0.1908, 0.1522, 1.637, -1.1374),
        _DCG_EXP: (0.1592, 1.1177, -0.4211, 0.0049),
        _Q: (0.143, 0.9574, -0.0258, -0.2404),
        _Q_EXP: (0.1125, 1.8645, -1.93, 0.8061),
        _RBP: (0.1884, 0.1822, 1.5873, -1.1176),
        _RBP_EXP: (0.1605, 1.0565, -0.2106, -0.1524),
        _GAP: (0.124, 1.4399, -0.883, 0.1802),
    },
    "graded5": {
        _CG: (0.1895, -0.0282, 1.9266, -1.2236),
        _CG_EXP: (0.1734, 1.1467, -0.3836, -0.0491),
        _DCG: (0.1853, 0.1434, 1.737, -1.2215),
        _DCG_EXP: (0.141, 1.5581, -1.2976, 0.465),
        _Q: (0.1438, 0.8224, 0.3413, -0.4773),
        _Q_EXP: (0.0956, 2.4332, -3.2653, 1.5964),
        _RBP: (0.1761, 0.2562, 1.5186, -1.1098),
        _RBP_EXP: (0.1406, 1.5719, -1.3141, 0.4653),
        _GAP: (0.1209, 1.4456, -0.8938, 0.2014),
    },
    "binary20": {
        _P: (0.1541, 0.1227, 0.0152, 0.5589),
        _AP: (0.1428, 0.4791, 0.4859, -0.3479),
        _DCG: (0.1742, -0.0972, 1.0231, -0.2768),
        _RBP: (0.1635, 0.0401, 0.6029, 0.0208),
    },
    "binary40": {
        _P: (0.2352, -0.3261, 1.5421, -0.5807),
        _AP: (0.1659, 0.9044, -0.0926, -0.1725),
        _DCG: (0.2292, -0.1256, 1.4722, -0.7195),
        _RBP: (0.2291, -0.1532, 1.5484, -0.7779),
    },
}

TABLE_4_3: tuple[SatisfactionMapping, ...] = tuple(
    SatisfactionMapping(measure, scale, "cubic", coefficients, source=SOURCE)
    for scale, measures in _COEFFICIENTS.items()
    for measure, coefficients in measures.items()
)
