"""Thesis chapter 6 on MIREX 2011: variance components, reliability, and how many queries are enough."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adjudge.reproduction.claims import Claim
from adjudge.reproduction.data import Data
from adjudge.reproduction.plots import Panel, Plot, Series
from adjudge.reproduction.reliability_tables import MEASURES, N_QUERIES, ROWS, SCALES, TARGET, Row
from adjudge.reproduction.studies import Effort, Found, study
from adjudge.stats.generalizability import GStudy, gstudy

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
