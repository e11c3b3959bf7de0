"""Tables of chapters 3 and 4 of the thesis, as printed: their answers and collections are more than what is public.

The thesis drops zeros at the end of a number; all have four digits.
"""

from __future__ import annotations

SCALES = ("broad", "fine", "graded3", "graded4", "graded5", "binary20", "binary40", "binary60", "binary80")
"""Columns of the tables of chapter 3."""
FAMILIES = ("normal", "truncated-normal", "beta", "empirical")
"""Columns of Tables 4.4 and 4.5."""

SCALE_NAMES = {"broad": "Broad", "fine": "Fine"} | {f"graded{n}": f"{n} levels" for n in (3, 4, 5)}
SCALE_NAMES |= {f"binary{n}": f"relevant from {n}" for n in (20, 40, 60, 80)}

Key = tuple[str, str]


def short_name(measure: str) -> str:
    """A measure as the thesis writes it: CG_e is CG with exponential gain.

    >>> short_name("Q(gain=exp,ideal=max)@5"), short_name("ERR(ideal=max)@5"), short_name("P@5"), short_name("CG@5")
    ('Q_e', 'ERR_e', 'P', 'CG_l')
    """
    name = measure.removesuffix("@5").partition("(")[0]
    if name in ("P", "AP", "RR", "GAP", "ADR"):
        return name
    exponential = "gain=exp" in measure or (name == "ERR" and "linear" not in measure)
    return f"{name}_{'e' if exponential else 'l'}"


def _by_scale(text: str) -> dict[Key, str]:
    """A number for each measure and scale that has one."""
    rows = [line.split() for line in text.strip().splitlines()]
    return {
        (measure, scale): f"{float(cell):.4f}"
        for measure, *cells in rows
        for scale, cell in zip(SCALES, cells, strict=True)
        if cell != "-"
    }


def _by_family(text: str) -> dict[Key, tuple[str, ...]]:
    """Numbers, one a family, for each measure and scale."""
    rows = [line.split() for line in text.strip().splitlines()]
    return {(measure, scale): tuple(f"{float(cell):.4f}" for cell in cells) for scale, measure, *cells in rows}


TABLE_3_2 = _by_scale("""
P@5                              -     -     -     -     - .1515 .1494  .158 .1893
AP(ideal=max)@5                  -     -     -     -     - .1562 .1513 .1671 .2154
RR@5                             -     -     -     -     - .2268 .2229 .2305 .2507
CG@5                         .1159 .1284 .1293 .1232  .111     -     -     -     -
CG(gain=exp)@5               .1175     - .1283 .1297   .13     -     -     -     -
DCG@5                        .1202 .1293 .1314 .1248 .1215 .1515 .1494  .158 .1893
DCG(gain=exp)@5              .1226     - .1335 .1347   .14     -     -     -     -
EDCG@5                       .1726 .1843 .1784  .203 .2097 .2371 .2171 .2085 .2237
EDCG(gain=exp)@5             .2145     - .2237  .226 .2741     -     -     -     -
Q(ideal=max)@5               .1327 .1535  .141 .1296 .1304     -     -     -     -
Q(gain=exp,ideal=max)@5      .1306     - .1448 .1409 .1425     -     -     -     -
RBP(ideal=max)@5             .1202 .1202 .1314 .1239 .1195 .1515 .1494  .158 .1893
RBP(gain=exp,ideal=max)@5     .127     - .1347 .1355 .1397     -     -     -     -
ERR(gain=linear,ideal=max)@5 .1812 .1831 .1857 .1905 .1953 .1927 .1859 .1916 .2176
ERR(ideal=max)@5              .193     - .1979 .1978 .2043     -     -     -     -
GAP(ideal=max)@5             .1224 .1221 .1346  .128 .1189     -     -     -     -
ADR(ideal=max)@5             .1874     -  .181 .2042 .2226 .1747 .1654 .1781 .2226
""")
"""Bias of P(Sat) at the endpoints (3.11)."""

TABLE_3_3 = _by_scale("""
P@5                              -     -     -     -     - .5842 .5945 .5999 .5733
AP(ideal=max)@5                  -     -     -     -     - .5696  .562 .5586 .5101
RR@5                             -     -     -     -     - .6483 .6382 .6508 .6513
CG@5                         .5688 .4653 .5814 .5348 .5265     -     -     -     -
CG(gain=exp)@5               .5309     - .5438 .5241 .5014     -     -     -     -
DCG@5                         .531 .4733  .542 .5304 .5203 .5529 .5579 .5756 .5533
DCG(gain=exp)@5              .5313     -  .544 .5287  .512     -     -     -     -
EDCG@5                        .563 .5172 .5877  .566 .5527 .6139 .5999  .623 .6424
EDCG(gain=exp)@5             .5942     - .6148  .614 .5963     -     -     -     -
Q(ideal=max)@5               .5432 .4904 .5486 .5387 .5303     -     -     -     -
Q(gain=exp,ideal=max)@5      .5387     - .5473 .5325 .5186     -     -     -     -
RBP(ideal=max)@5             .5274 .4719  .539 .5276 .5176  .551 .5614 .5731 .5489
RBP(gain=exp,ideal=max)@5    .5272     - .5387 .5247 .5075     -     -     -     -
ERR(gain=linear,ideal=max)@5 .5672  .515 .5783 .5683 .5595 .5587 .5743 .6081 .6044
ERR(ideal=max)@5             .5741     - .5906  .585 .5725     -     -     -     -
GAP(ideal=max)@5             .5229 .4665 .5333 .5166 .5105     -     -     -     -
ADR(ideal=max)@5             .5827     - .5933 .5837 .5649 .5622 .5756 .5924 .5649
""")
"""Distance between 1 and P(Agr = 1) (3.12)."""

TABLE_3_4 = _by_scale("""
P@5                              -     -     -     -     - .0443 .0414 .0452 .0452
AP(ideal=max)@5                  -     -     -     -     - .0547  .054  .054 .0491
RR@5                             -     -     -     -     - .0521 .0516 .0732 .0657
CG@5                         .0453  .046 .0475 .0466 .0467     -     -     -     -
CG(gain=exp)@5                .045     - .0494 .0535 .0516     -     -     -     -
DCG@5                        .0479 .0446 .0505 .0512 .0518 .0523 .0489 .0547 .0501
DCG(gain=exp)@5              .0503     - .0531 .0526 .0515     -     -     -     -
EDCG@5                       .0639 .0607 .0696 .0657 .0648 .0535 .0509 .0596 .0631
EDCG(gain=exp)@5              .073     - .0818 .0887  .079     -     -     -     -
Q(ideal=max)@5               .0519 .0473 .0534 .0521 .0516     -     -     -     -
Q(gain=exp,ideal=max)@5       .049     - .0525 .0514 .0524     -     -     -     -
RBP(ideal=max)@5             .0486  .046 .0518 .0516 .0518 .0508 .0513 .0538 .0512
RBP(gain=exp,ideal=max)@5    .0495     - .0535 .0523 .0511     -     -     -     -
ERR(gain=linear,ideal=max)@5 .0573 .0547 .0594 .0597 .0599 .0547 .0541 .0639 .0628
ERR(ideal=max)@5              .057     - .0607  .063 .0593     -     -     -     -
GAP(ideal=max)@5             .0478 .0432 .0515 .0481 .0492     -     -     -     -
ADR(ideal=max)@5             .0574     -   .06 .0609 .0578 .0573 .0522 .0587 .0578
""")
"""Distance between 0 and P(Agr = -1) (3.13)."""

TABLE_3_5 = _by_scale("""
P@5                              -     -     -     -     - .1881 .2103 .1785 .0743
AP(ideal=max)@5                  -     -     -     -     -  .238 .2201 .1702 .1082
RR@5                             -     -     -     -     - .1654 .2216 .1842 .0971
CG@5                         .1774 .1718 .1249 .1698 .1634     -     -     -     -
CG(gain=exp)@5               .1746     - .1433 .1205 .1157     -     -     -     -
DCG@5                        .1769 .1685 .1724 .1587 .1615 .2303 .2262 .1642  .107
DCG(gain=exp)@5              .1543     - .1501  .123 .1118     -     -     -     -
EDCG@5                       .0972 .1008 .0763 .0861 .0954 .0669 .0951 .1054 .0518
EDCG(gain=exp)@5             .0763     - .0743 .0853 .1004     -     -     -     -
Q(ideal=max)@5               .2163 .1715 .2028 .2003 .1933     -     -     -     -
Q(gain=exp,ideal=max)@5      .1878     - .1737 .1434 .1224     -     -     -     -
RBP(ideal=max)@5             .1788 .1735 .1705 .1606  .163 .2075 .2091 .1793 .1044
RBP(gain=exp,ideal=max)@5    .1573     - .1493 .1251 .1142     -     -     -     -
ERR(gain=linear,ideal=max)@5 .1803 .1587 .1676 .1549 .1541 .1895 .2122 .1733 .0695
ERR(ideal=max)@5             .1417     - .1417 .1159 .1129     -     -     -     -
GAP(ideal=max)@5             .1878 .1832 .1706 .1749 .1677     -     -     -     -
ADR(ideal=max)@5             .1084     - .1112 .0799 .0803 .2052 .1717 .1448  .081
""")
"""Expected share of comparisons in which half or more agree."""

TABLE_4_4 = _by_family("""
fine     CG@5                       .5071  .5602  .4808   .526
fine     DCG@5                       .512  .5671  .4844  .5262
fine     Q(ideal=max)@5             .5304  .6044  .4928  .5277
fine     RBP(ideal=max)@5           .5106  .5646  .4843  .5264
fine     GAP(ideal=max)@5           .5246  .6182  .4822  .5273
graded4  CG@5                       .6254  .7945  .6686  .5213
graded4  CG(gain=exp)@5             .6512  .9658  .6435  .5234
graded4  DCG@5                      .5743  .7703  .6153  .5267
graded4  DCG(gain=exp)@5            .6015  .9098    .62  .5259
graded4  Q(ideal=max)@5              .653   .953   .629  .5295
graded4  Q(gain=exp,ideal=max)@5    .6146  .9455  .6255  .5279
graded4  RBP(ideal=max)@5           .5712  .7648  .6147  .5267
graded4  RBP(gain=exp,ideal=max)@5  .5973  .9021  .6192  .5259
graded4  GAP(ideal=max)@5           .5969  .8719  .6225  .5276
graded5  CG@5                       .5873  .7195  .6083  .5246
graded5  CG(gain=exp)@5             .6453  .9896  .5921  .5286
graded5  DCG@5                      .5494  .7014   .569  .5291
graded5  DCG(gain=exp)@5            .6111  .9476  .5769    .53
graded5  Q(ideal=max)@5             .6052  .8346  .5891  .5311
graded5  Q(gain=exp,ideal=max)@5    .6173  .9641  .5808  .5307
graded5  RBP(ideal=max)@5           .5464  .6957  .5685  .5291
graded5  RBP(gain=exp,ideal=max)@5  .6075  .9396  .5762  .5297
graded5  GAP(ideal=max)@5           .5706  .7905  .5724  .5291
binary20 P@5                        1.386  .7657  .5964  .3683
binary20 AP(ideal=max)@5           1.2939  .7727  .4512  .3596
binary20 DCG@5                     1.3777  .9091  .4543  .3605
binary20 RBP(ideal=max)@5          1.3704  .8873  .4507  .3607
binary40 P@5                       1.0539 1.0551  .8957  .4739
binary40 AP(ideal=max)@5            .9349 1.1075  .7677  .4681
binary40 DCG@5                      .9926 1.0948  .7644  .4638
binary40 RBP(ideal=max)@5           .9863 1.0784  .7686  .4701
""")
"""Mean distance of distributions fitted to 50 queries from those left over; scales that follow from Fine."""

TABLE_4_5 = _by_family("""
fine     CG@5                       .7098  .7523  .7057  .8457
fine     DCG@5                      .7114  .7559  .7062  .8418
fine     Q(ideal=max)@5              .729  .7952  .7127  .8398
fine     RBP(ideal=max)@5            .711  .7543   .707  .8422
fine     GAP(ideal=max)@5           .7227  .8078   .704  .8423
graded4  CG@5                       .8261 1.0107  .9179  .8409
graded4  CG(gain=exp)@5             .8496 1.1974  .8973  .8428
graded4  DCG@5                      .7773  .9892  .8704  .8416
graded4  DCG(gain=exp)@5            .7966 1.1325   .879  .8406
graded4  Q(ideal=max)@5             .8669 1.2081  .8863  .8438
graded4  Q(gain=exp,ideal=max)@5    .8159  1.181  .8845  .8429
graded4  RBP(ideal=max)@5           .7751  .9836  .8704  .8426
graded4  RBP(gain=exp,ideal=max)@5  .7936 1.1247  .8786  .8411
graded4  GAP(ideal=max)@5           .7993 1.1001  .8786  .8427
graded5  CG@5                       .7875   .925  .8513  .8463
graded5  CG(gain=exp)@5             .8476  1.226  .8447  .8496
graded5  DCG@5                      .7522  .9095  .8171  .8474
graded5  DCG(gain=exp)@5            .8114 1.1776  .8338  .8471
graded5  Q(ideal=max)@5             .8181 1.0721  .8409  .8509
graded5  Q(gain=exp,ideal=max)@5    .8213 1.1999  .8395  .8478
graded5  RBP(ideal=max)@5             .75  .9039  .8171  .8484
graded5  RBP(gain=exp,ideal=max)@5  .8081 1.1688  .8329  .8476
graded5  GAP(ideal=max)@5           .7743 1.0067  .8228  .8489
binary20 P@5                       1.7547 1.0001  .7669  .5754
binary20 AP(ideal=max)@5           1.6545  .9918  .6199  .5638
binary20 DCG@5                     1.7616 1.1631  .6217  .5621
binary20 RBP(ideal=max)@5          1.7574 1.1223  .6266  .5616
binary40 P@5                       1.3241 1.3235 1.1445   .738
binary40 AP(ideal=max)@5            1.215 1.3903 1.0474  .7496
binary40 DCG@5                     1.2878 1.3889 1.0352  .7441
binary40 RBP(ideal=max)@5          1.2803 1.3669 1.0382  .7423
""")
"""Mean distance of distributions fitted to 20 queries from those left over; scales that follow from Fine."""

SECOND_TRIALS = 400
"""Trials of the second computation that the numbers below come from (scripts/independent_papers.py)."""
OMEGA_2011: dict[int, dict[str, tuple[tuple[float, float], ...]]] = {
    50: {
        "CG@5": ((0.4986, 0.120), (0.5267, 0.115), (0.4752, 0.123), (0.5254, 0.126)),
        "DCG@5": ((0.5043, 0.116), (0.5351, 0.111), (0.4799, 0.120), (0.5267, 0.122)),
        "Q(ideal=max)@5": ((0.5258, 0.109), (0.5734, 0.104), (0.4916, 0.114), (0.5285, 0.116)),
        "RBP(ideal=max)@5": ((0.5052, 0.117), (0.5350, 0.112), (0.4810, 0.121), (0.5262, 0.123)),
        "GAP(ideal=max)@5": ((0.5166, 0.117), (0.5816, 0.118), (0.4769, 0.119), (0.5276, 0.119)),
    },
    20: {
        "CG@5": ((0.7012, 0.225), (0.7128, 0.211), (0.7021, 0.232), (0.8415, 0.214)),
        "DCG@5": ((0.7053, 0.216), (0.7194, 0.203), (0.7057, 0.223), (0.8397, 0.203)),
        "Q(ideal=max)@5": ((0.7262, 0.200), (0.7582, 0.184), (0.7172, 0.207), (0.8396, 0.190)),
        "RBP(ideal=max)@5": ((0.7069, 0.218), (0.7201, 0.204), (0.7070, 0.224), (0.8398, 0.205)),
        "GAP(ideal=max)@5": ((0.7122, 0.211), (0.7633, 0.198), (0.6981, 0.222), (0.8392, 0.198)),
    },
}
"""Tables 4.4 and 4.5 for MIREX 2011 on Fine: mean distance and standard deviation of a trial, by family."""
BEST_2011: dict[int, dict[str, dict[str, tuple[int, int, int, int]]]] = {
    50: {
        "fine": {"normal": (0, 1, 0, 0), "beta": (4, 5, 5, 5)},
        "graded4": {"normal": (0, 4, 0, 2), "beta": (0, 7, 0, 2), "empirical": (2, 9, 7, 9)},
        "graded5": {"normal": (0, 4, 0, 2), "beta": (0, 9, 1, 7), "empirical": (0, 9, 2, 6)},
        "binary20": {"empirical": (4, 4, 4, 4)},
        "binary40": {"empirical": (4, 4, 4, 4)},
    },
    20: {
        "fine": {"normal": (0, 5, 0, 5), "truncated-normal": (0, 3, 0, 0), "beta": (0, 5, 0, 5)},
        "graded4": {"normal": (0, 9, 3, 8), "beta": (0, 9, 1, 6), "empirical": (0, 2, 0, 0)},
        "graded5": {"normal": (0, 9, 3, 7), "beta": (0, 9, 2, 6)},
        "binary20": {"beta": (0, 3, 0, 3), "empirical": (1, 4, 1, 4)},
        "binary40": {"empirical": (4, 4, 4, 4)},
    },
}
"""Measures of a scale that a family predicts best in 2011: least and most in 300 resamples of the trials.

For few trials here (20), then for as many as the thesis has (200).
"""
