"""Reliability as the thesis prints it: variance components, reliability and queries needed, of every year and scale."""

from __future__ import annotations

from dataclasses import dataclass

MEASURES = {
    "CG": "CG@5",
    "DCG": "DCG@5",
    "nDCG": "nDCG@5",
    "Q": "Q@5",
    "RBP": "RBP(ideal=judged)@5",
    "GAP": "GAP@5",
    "P": "P(rel=40)@5",
    "AP": "AP(rel=40,ideal=judged)@5",
}
"""What the thesis calls them in chapters 5 and 6, and how they are written here."""
SCALES = {"broad": "Broad", "fine": "Fine", "binary40": "Fine cut at 40"}
N_QUERIES = 100
TARGET = 0.95


@dataclass(frozen=True)
class Row:
    """One measure, scale and year: shares of variance (Table 6.1), Eρ² (6.2) and Φ (6.3) with queries for .95."""

    scale: str
    measure: str
    year: int
    shares: tuple[str, str, str]
    e_rho2: str
    e_rho2_queries: str
    phi: str
    phi_queries: str

    @property
    def name(self) -> str:
        """In words."""
        return f"{self.measure}@5, {SCALES[self.scale]}, {self.year}"


def _row(line: str) -> Row:
    scale, measure, year, s, q, e, *rest = line.split()
    return Row(scale, measure, int(year), (s, q, e), *rest)


# scale, measure, year; shares of system, query and residual; Eρ² and queries; Φ and queries
_TABLES = """
broad CG 2007 .162 .4 .438 .9738 52 .951 98
broad CG 2009 .35 .291 .359 .9898 20 .9818 36
broad CG 2010 .266 .448 .286 .9893 21 .9731 53
broad CG 2011 .179 .478 .343 .9812 37 .9561 88
broad DCG 2007 .155 .405 .44 .9725 54 .9484 104
broad DCG 2009 .348 .28 .372 .9894 21 .9816 36
broad DCG 2010 .259 .44 .301 .9885 23 .9722 55
broad DCG 2011 .18 .465 .355 .9807 38 .9565 87
broad nDCG 2007 .17 .347 .483 .9724 54 .9535 93
broad nDCG 2009 .374 .23 .397 .9895 21 .9835 32
broad nDCG 2010 .285 .366 .349 .9879 24 .9755 48
broad nDCG 2011 .198 .407 .395 .9804 38 .961 78
broad Q 2007 .157 .351 .492 .9696 60 .9491 102
broad Q 2009 .374 .236 .39 .9897 20 .9836 32
broad Q 2010 .28 .382 .338 .9881 23 .9749 49
broad Q 2011 .206 .403 .391 .9814 37 .9629 74
broad RBP 2007 .173 .346 .481 .9729 53 .9544 91
broad RBP 2009 .375 .232 .394 .9896 20 .9836 32
broad RBP 2010 .29 .363 .347 .9882 23 .9761 47
broad RBP 2011 .197 .41 .393 .9804 38 .9608 78
broad GAP 2007 .151 .363 .486 .9687 62 .9466 108
broad GAP 2009 .363 .236 .401 .9891 21 .9828 34
broad GAP 2010 .268 .394 .338 .9875 24 .9734 52
broad GAP 2011 .204 .409 .387 .9814 36 .9625 75
fine CG 2007 .173 .404 .423 .9761 47 .9543 91
fine CG 2009 .369 .292 .339 .9909 18 .9832 33
fine CG 2010 .262 .502 .236 .9911 18 .9726 54
fine CG 2011 .184 .511 .304 .9838 32 .9576 85
fine DCG 2007 .17 .412 .418 .976 47 .9535 93
fine DCG 2009 .36 .286 .354 .9903 19 .9825 34
fine DCG 2010 .259 .489 .252 .9904 19 .9722 55
fine DCG 2011 .186 .501 .314 .9834 33 .958 84
fine nDCG 2007 .206 .3 .494 .9765 46 .9628 74
fine nDCG 2009 .422 .182 .396 .9907 18 .9865 27
fine nDCG 2010 .353 .297 .349 .9902 19 .982 35
fine nDCG 2011 .219 .412 .369 .9834 33 .9655 68
fine Q 2007 .19 .318 .492 .9748 50 .9592 81
fine Q 2009 .398 .187 .415 .9897 20 .9851 29
fine Q 2010 .334 .32 .346 .9898 20 .9805 38
fine Q 2011 .214 .405 .381 .9825 34 .9646 70
fine RBP 2007 .208 .296 .495 .9768 46 .9634 73
fine RBP 2009 .425 .182 .393 .9908 18 .9866 26
fine RBP 2010 .36 .296 .344 .9905 19 .9825 34
fine RBP 2011 .217 .413 .37 .9833 33 .9653 69
fine GAP 2007 .188 .328 .483 .975 49 .9586 82
fine GAP 2009 .416 .202 .383 .9909 18 .9861 27
fine GAP 2010 .342 .33 .328 .9905 19 .9812 37
fine GAP 2011 .226 .419 .355 .9845 30 .9669 66
binary40 P 2007 .158 .375 .467 .9713 57 .9494 102
binary40 P 2009 .34 .271 .388 .9887 22 .981 37
binary40 P 2010 .238 .466 .296 .9877 24 .969 61
binary40 P 2011 .167 .464 .369 .9784 42 .9526 95
binary40 AP 2007 .137 .398 .465 .9673 65 .941 120
binary40 AP 2009 .313 .27 .417 .9868 26 .9785 42
binary40 AP 2010 .208 .454 .338 .984 31 .9634 73
binary40 AP 2011 .174 .452 .375 .9789 41 .9546 91
"""
ROWS = tuple(map(_row, _TABLES.split("\n")[1:-1]))
"""Tables 6.1, 6.2 and 6.3."""

ASSESSORS_2006 = (0.036, 0.223, 0.002, 0.312, 0.428)
"""RBP@5 on Fine in Table 6.4: shares of system, query, assessor in query, system x query and residual."""
JUDGMENTS_2006 = 1629 / 60
"""Judgments that one assessor made for a query in 2006 (Table 1.1)."""
