"""Thesis chapter 6 on MIREX 2011: variance components, reliability, and how many queries are enough.

Reliability as the thesis prints it: variance components, reliability and queries needed, of every year and scale.

Thesis chapter 6 for collections that are not public: what follows from the variance components it prints of them.

Shares of variance are printed with three digits, so that what is computed from them has a known error of rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from adjudge.arrays import Floats
from adjudge.stats.gtheory.designs import NESTED, SYSTEMS_QUERIES, Design
from adjudge.stats.gtheory.dstudy import coefficient, errors, queries_for
from adjudge.stats.gtheory.gstudy import GStudy, gstudy
from papers.claims import Bound, Claim, Panel, Plot, Reason, Series, independent, printed_value
from papers.data import Data
from papers.studies import Effort, Found, study
from papers.thesis_tables import printed_rows

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


def _row(row: dict[str, str]) -> Row:
    shares = row["var_system"], row["var_query"], row["var_residual"]
    rest = (row[name] for name in ("e_rho2", "e_rho2_queries", "phi", "phi_queries"))
    return Row(row["scale"], row["measure"], int(row["year"]), shares, *rest)


ROWS = tuple(map(_row, printed_rows("thesis_tables_6_1_to_6_3")))
"""Tables 6.1, 6.2 and 6.3."""

ASSESSORS_2006 = (0.036, 0.223, 0.002, 0.312, 0.428)
"""RBP@5 on Fine in Table 6.4: shares of system, query, assessor in query, system x query and residual."""
JUDGMENTS_2006 = 1629 / 60
"""Judgments that one assessor made for a query in 2006 (Table 1.1)."""


SIZES = (5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200)
"""Numbers of queries at which curves are drawn."""
_OTHERS = (
    "2011 on Fine, whole and cut at 40, only: the judgments of other years, and Broad ones, are not public (the study "
    "reliability-printed starts from the variance components that the thesis prints of them)"
)


@study(
    "reliability",
    title="Reliability of MIREX 2011 by Generalizability Theory",
    covers=("T Table 1.1", "T Table 6.1", "T Table 6.2", "T Table 6.3", "T Figure 6.1", "T Figure 6.2"),
    needs=("mirex2011",),
    partly={
        "T Table 1.1": "the row of 2011 without its 10 teams: names of systems are hashed, and other years not public",
        **dict.fromkeys(("T Table 6.1", "T Table 6.2", "T Table 6.3", "T Figure 6.1", "T Figure 6.2"), _OTHERS),
    },
)
def reliability(data: Data, effort: Effort) -> Found:
    """Tables 6.1 to 6.3 and the curves of Figures 6.1 and 6.2."""
    rows = [row for row in ROWS if row.year == 2011 and row.scale != "broad"]
    eff = data.effectiveness([MEASURES[row.measure] for row in rows])
    studies = {row: gstudy(eff[MEASURES[row.measure]]) for row in rows}
    claims = (*_collection(data), *(claim for row, one in studies.items() for claim in _claims(row, one)))
    curves = [(SCALES[row.scale], row.measure, one) for row, one in studies.items()]
    return Found(claims, reliability_plots(curves, part="", about="MIREX 2011"))


def _collection(data: Data) -> Iterator[Claim]:
    collection = data.mirex2011
    judgments, metadata = collection.need_judgments(), collection.metadata
    counts = [
        ("systems", "18", len(collection.systems)),
        ("queries", "100", judgments.n_queries),
        ("judgments", "6,322", len(judgments)),
    ]
    if metadata is not None:
        counts.insert(2, ("documents", "7,000", len(metadata)))
    for what, printed, ours in counts:
        yield Claim.printed("T Table 1.1", f"{what} of 2011", printed, ours)


def _claims(row: Row, one: GStudy) -> Iterator[Claim]:
    """The seven numbers of the thesis for one measure."""
    for effect, printed, ours in zip(
        ("systems", "queries", "residual"), row.shares, one.fractions().values(), strict=True
    ):
        yield Claim.printed("T Table 6.1", f"{row.name}: share of variance, {effect}", printed, ours)
    found = one.dstudy(N_QUERIES, target=TARGET, interval="none")
    values = found.rows[0]
    for table, sign, index, printed, queries in (
        ("T Table 6.2", "Eρ²", "e_rho2", row.e_rho2, row.e_rho2_queries),
        ("T Table 6.3", "Φ", "phi", row.phi, row.phi_queries),
    ):
        needed = found.need(index).n_queries
        yield Claim.printed(table, f"{row.name}: {sign}", printed, float(getattr(values, index)))
        ours = float("nan") if needed is None else needed
        yield Claim.printed(table, f"{row.name}: queries for {sign} = .95", queries, ours)


def reliability_plots(
    curves: Iterable[tuple[str, str, GStudy]], *, part: str, about: str, columns: int = 2
) -> tuple[Plot, Plot]:
    """Figures 6.1 and 6.2: reliability over the number of queries, a panel for each title, a curve for each measure."""
    panels: dict[str, list[tuple[str, GStudy]]] = {}
    for title, measure, one in curves:
        panels.setdefault(title, []).append((measure, one))

    def plot(figure: str, sign: str, index: str, what: str) -> Plot:
        drawn = (Panel(title, tuple(_series(*one, index) for one in ones), (TARGET,)) for title, ones in panels.items())
        return Plot(
            f"figure-{figure.replace('.', '-')}{part}",
            f"T Figure {figure}",
            f"{what}, {sign}, over the number of queries: {about}. The dotted line is .95.",
            f"Curves of {sign} that rise with the number of queries, one for each measure.",
            "queries",
            sign,
            tuple(drawn),
            columns=columns,
            log_x=True,
        )

    return (
        plot("6.1", "Eρ²", "e_rho2", "Stability of the ranking"),
        plot("6.2", "Φ", "phi", "Stability of scores"),
    )


def _series(measure: str, one: GStudy, index: str) -> Series:
    rows = one.dstudy(SIZES, interval="none").rows
    return Series(measure, tuple(map(float, SIZES)), tuple(float(getattr(row, index)) for row in rows))


_ROUNDED = Reason(
    "rounding",
    "computed from shares of variance that Table 6.1 prints with three digits: the most that rounding may do",
)
_ROUND = Reason("reading", "a round number of the text: those that Table 6.2 prints are 32.7 on average")
_OF_2007 = Reason(
    "slip",
    "what Tables 6.2 and 6.3 print gives the same as ours; for 2007 alone they give .025 and .043, so that the "
    "text, which says about, seems to have that year in mind",
)
_ABOUT = Reason("reading", "the thesis says about, reading its figure; this is what the components of Table 6.4 give")
_FROM_TABLES = (
    "the same from what Tables 6.2 and 6.3 print for each measure, scale and year, and the most that rounding may do"
)
_BY_HAND = ".036 / (.036 + .312 / 100 + .428 / (100 n)) for n = 2 less n = 1, by hand from Table 6.4"
_HALF = 0.0005  # of the last printed digit of a share
_CORNERS = np.array([(0.0, 0.0, 0.0), *product((-_HALF, _HALF), repeat=3)])


@study(
    "reliability-printed",
    title="Reliability of other editions, from the components that are printed",
    covers=("T Figure 6.5",),
    partly={"T Figure 6.5": "from the components of Table 6.4, rounded to three digits: the judgments are not public"},
)
def reliability_printed(data: Data, effort: Effort) -> Found:
    """Tables 6.2 and 6.3 of what the data do not have, the averages of the text, and assessors of 2006."""
    others = [row for row in ROWS if row.year != 2011 or row.scale == "broad"]
    claims = (*(claim for row in others for claim in _printed_claims(row)), *_averages(), *_assessors())
    curves = [(f"{SCALES[row.scale]}, {row.year}", row.measure, _study(row)) for row in ROWS]
    about = "every year and scale, from the components of Table 6.1"
    plots = reliability_plots(curves, part="-printed", about=about, columns=4)
    return Found(claims, (*plots, *_assessor_plots()))


def _shares(row: Row) -> Floats:
    return np.array([printed_value(share) for share in row.shares])


def _study(row: Row) -> GStudy:
    return _printed(SYSTEMS_QUERIES, _shares(row), N_QUERIES)


def _printed(design: Design, shares: Floats, n_queries: int) -> GStudy:
    return GStudy(design, shares, 0, n_queries, 1, "printed", "")


def _printed_claims(row: Row) -> Iterator[Claim]:
    """Reliability and queries needed, with what rounding of the components may do to them."""
    variances = _shares(row) + _CORNERS
    for table, sign, absolute, printed, queries in (
        ("T Table 6.2", "Eρ²", False, row.e_rho2, row.e_rho2_queries),
        ("T Table 6.3", "Φ", True, row.phi, row.phi_queries),
    ):
        error = errors(variances, SYSTEMS_QUERIES, 1, absolute=absolute)
        index = coefficient(variances[:, 0], error.at(N_QUERIES))
        needed = queries_for(TARGET, variances[:, 0], error)
        yield Claim.around(
            table,
            f"{row.name}: {sign}",
            printed,
            float(index[0]),
            _apart(index) + 0.00005,
            basis="rounding",
            why=_ROUNDED,
        )
        what = f"{row.name}: queries for {sign} = .95"
        yield Claim.around(table, what, queries, float(needed[0]), _apart(needed), basis="rounding", why=_ROUNDED)


def _apart(values: Floats) -> float:
    """How far rounding may move the first value."""
    return float(np.abs(values - values[0]).max())


def _averages() -> Iterator[Claim]:
    """Section 6.2.2, over all measures, scales and years; bounds are what Tables 6.2 and 6.3 print for the same."""
    variances = np.array([_shares(row) + _CORNERS for row in ROWS])
    for sign, absolute, queries, gain in (("Eρ²", False, "35", ".025"), ("Φ", True, "64", ".045")):
        error = errors(variances, SYSTEMS_QUERIES, 1, absolute=absolute)
        whole, half = (coefficient(variances[..., 0], error.at(n)) for n in (N_QUERIES, N_QUERIES // 2))
        if not absolute:
            yield Claim.printed("T 6.2.2", f"{sign}, average of all", ".98", float(whole[:, 0].mean()))
        needed, added = queries_for(TARGET, variances[..., 0], error), whole - half
        counts = np.array([float(row.phi_queries if absolute else row.e_rho2_queries) for row in ROWS])
        printed = np.array([printed_value(row.phi if absolute else row.e_rho2) for row in ROWS])
        twice = printed - printed / (2 - printed)  # less half as many queries, by Spearman and Brown
        for what, number, ours, others, why in (
            (f"queries for {sign} = .95, average of all", queries, needed, counts, _ROUND),
            (f"what 100 queries add to 50 in {sign}, on average", gain, added, twice, _OF_2007),
        ):
            apart = float(np.mean([_apart(one) for one in ours])) + (0.00005 if ours is added else 0.0)
            mean = float(others.mean())
            bound = Bound(mean - apart, mean + apart, "rounding", _FROM_TABLES)
            yield Claim("T 6.2.2", what, number, float(ours[:, 0].mean()), bound, why)


def _assessors() -> Iterator[Claim]:
    """Section 6.4: what a second assessor adds."""
    rows = _printed(NESTED, np.array(ASSESSORS_2006), 60).dstudy(N_QUERIES, assessors=[1, 2], interval="none").rows
    what = "what a second assessor adds to Eρ² with 100 queries"
    yield Claim("T Figure 6.5", what, ".05", rows[1].e_rho2 - rows[0].e_rho2, independent(".0430", _BY_HAND), _ABOUT)


def _assessor_plots() -> tuple[Plot, Plot]:
    """Figure 6.5: reliability with one to five assessors a query."""
    one = _printed(NESTED, np.array(ASSESSORS_2006), 60)

    def plot(part: str, x_label: str, cost: float) -> Plot:
        panels = []
        for sign, index in (("Eρ²", "e_rho2"), ("Φ", "phi")):
            series = []
            for n in range(1, 6):
                rows = one.dstudy(SIZES, assessors=n, interval="none").rows
                x = tuple(size * (n * cost if cost else 1.0) for size in SIZES)
                y = tuple(float(getattr(row, index)) for row in rows)
                series.append(Series("1 assessor" if n == 1 else f"{n} assessors", x, y))
            panels.append(Panel(sign, tuple(series), (TARGET,)))
        return Plot(
            f"figure-6-5-{part}",
            "T Figure 6.5",
            f"Reliability in MIREX 2006 by RBP@5 on Fine with 1 to 5 assessors a query, over the number of {x_label}.",
            f"Curves of reliability that rise with the number of {x_label}, one for each number of assessors.",
            x_label,
            "reliability",
            tuple(panels),
            log_x=True,
        )

    return plot("queries", "queries", 0.0), plot("judgments", "judgments", JUDGMENTS_2006)
