"""Relevance estimated, and systems evaluated, without a single judgment: thesis chapter 7, Tables 8.1 and 8.2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from adjudge.reproduction.claims import Claim, Reason
from adjudge.reproduction.data import Data
from adjudge.reproduction.judged import BIN_EDGES, MEASURES, NOT_PRINTED, collection, in_bins, spearman
from adjudge.reproduction.plots import Panel, Plot, Series
from adjudge.reproduction.studies import Effort, Found, study

if TYPE_CHECKING:
    from adjudge.relevance.candidates import Candidates
    from adjudge.relevance.simulation import Checkpoint

# Table 8.1, MIREX 2011, Fine: confidence, accuracy, tau, error of differences, Spearman, error of scores (zeros
# at the end, which the thesis drops, written out); then the first two as an independent implementation gets them with
# the parameters of Table A.1
_TABLE_8_1 = {
    "CG_l": ((".934", ".935", ".869", ".041", ".967", ".030"), (".9304", ".9085")),
    "DCG_l": ((".926", ".928", ".856", ".042", ".965", ".032"), (".9241", ".8889")),
    "nDCG_l": ((".925", ".902", ".804", ".034", ".944", ".185"), (".9232", ".8889")),
    "RBP_l": ((".927", ".935", ".869", ".034", ".967", ".185"), (".9256", ".8889")),
}
_COLUMNS = ("mean confidence", "accuracy", "Kendall tau", "RMSE of differences", "Spearman rho", "RMSE of scores")
# Table 8.2, Fine, four editions: share of pairs with a confidence of .99 or more, accuracy there, accuracy of all
_TABLE_8_2 = {
    "CG_l": ("69.0 %", ".988", ".926"),
    "DCG_l": ("67.0 %", ".996", ".921"),
    "nDCG_l": ("66.8 %", ".996", ".918"),
    "RBP_l": ("67.0 %", ".992", ".926"),
}
# Table 7.1, Fine, tried on MIREX 2011: model, error, mean variance
_TABLE_7_1 = (("output", ".2501", ".0545"), ("judgments", ".0957", ".0070"))
_POOLED = Reason("data", "153 pairs of systems of MIREX 2011 here, 352 pairs of four editions there")
_OWN = Reason(
    "model",
    "the model of Table A.1 has seen the judgments of 2011, the one behind this number had not: its parameters are not "
    "printed. For M_jud every document's own judgment is among its features, as it must have been in the thesis; "
    "without it the error is .176",
)
_FINE_ERROR = Reason(
    "slip",
    "a slip in the thesis: the historical distribution has a variance of 900.4, so that its error is .3001 of the "
    "scale",
)


@study(
    "unjudged",
    title="Evaluation without judgments",
    covers=("T Table 7.1", "T Table 8.1", "T Table 8.2", "T Table A.1", "T Figure 7.1"),
    needs=("mirex2011",),
    partly={
        "T Table 7.1": "error and variance of the Fine models tried on 2011; what was fitted needs judgments of other "
        "editions, and Broad ones, which are not public",
        "T Table 8.1": "MIREX 2011 on Fine alone: other judgments are not public",
        "T Table 8.2": "the pairs of MIREX 2011 on Fine alone, so that single bins hold few pairs: the last bin and "
        "the mean are compared, all bins are in a figure",
        "T Table A.1": "used as printed; what it was fitted to is not public",
        "T Figure 7.1": "MIREX 2011 on Fine alone: other judgments are not public",
    },
)
def unjudged(data: Data, effort: Effort) -> Found:
    """What M_out says of MIREX 2011 before anybody has judged."""
    judged = collection(data)
    checks = {label: _before(judged, measure) for label, measure in MEASURES.items()}
    claims = (*_fixed(), *_models(judged), *_table_8_1(checks), *_table_8_2(checks))
    grades = 100 * judged.relevance
    note = f"The grades of MIREX 2011 have mean {grades.mean():.2f} and variance {grades.var():.1f}; the thesis takes "
    return Found(claims, (_grades(judged), _calibration(checks)), (f"{note}43.41 and 900.4, of four editions.",))


Check = tuple["Checkpoint", float]


def _before(judged: Candidates, measure: str) -> Check:
    """A session before its first judgment held against the truth, and Spearman's correlation with it."""
    from adjudge.relevance.goals import Goal
    from adjudge.relevance.session import Session
    from adjudge.relevance.simulation import checkpoint, true_scores

    session = Session(judged.unjudged(), measure, estimator="output", rule="pairs", goal=Goal(zone=0, least=0))
    truth = true_scores(judged, session.scoring)
    return checkpoint(session, truth), spearman(session.view.scores.mean, truth)


def _fixed() -> Iterator[Claim]:
    """The error of taking the historical distribution for every document is its standard deviation."""
    from adjudge.relevance.estimators import HISTORICAL

    for scale, highest, published, why in (("broad", 2, ".3981", None), ("fine", 100, ".3953", _FINE_ERROR)):
        ours = HISTORICAL[scale][1] ** 0.5 / highest
        yield Claim("T 7.4", f"error of the fixed distribution on {scale}, from its variance", published, ours, why=why)


def _models(judged: Candidates) -> Iterator[Claim]:
    """Error and claimed variance of the models of Table A.1 on MIREX 2011, where they have an estimate."""
    from adjudge.relevance.features import Evidence
    from adjudge.relevance.table_a_1 import published_model

    for kind, error, variance in _TABLE_7_1:
        model = published_model("fine", "output" if kind == "output" else "judgments")
        table = Evidence(judged).table(model.features, own=True)
        mean, spread = model.ordinal.moments(table, np.array(model.levels))
        known = ~np.isnan(mean)
        ours = float(np.sqrt(np.mean((mean - judged.relevance)[known] ** 2)))
        name = "M_out" if kind == "output" else "M_jud"
        yield Claim("T Table 7.1", f"{name}, Fine, tried on 2011: RMSE", error, ours, why=_OWN)
        yield Claim(
            "T Table 7.1",
            f"{name}, Fine, tried on 2011: mean variance",
            variance,
            float(spread[known].mean()),
            why=_OWN,
        )


def _table_8_1(checks: dict[str, Check]) -> Iterator[Claim]:
    for label, (published, independent) in _TABLE_8_1.items():
        check, rho = checks[label]
        values = (check.confidence, check.accuracy, check.tau, check.difference_error, rho, check.score_error)
        others = (*independent, *[""] * 4)
        for what, number, ours, other in zip(_COLUMNS, published, values, others, strict=True):
            yield Claim("T Table 8.1", f"{label}: {what}", number, ours, why=NOT_PRINTED, independent=other)


def _table_8_2(checks: dict[str, Check]) -> Iterator[Claim]:
    for label, (share, accuracy, overall) in _TABLE_8_2.items():
        check, _ = checks[label]
        sure = check.claimed >= BIN_EDGES[-2]
        yield Claim(
            "T Table 8.2", f"{label}: pairs with confidence in [.99, 1]", share, float(sure.mean()), why=_POOLED
        )
        yield Claim(
            "T Table 8.2", f"{label}: accuracy of those", accuracy, float(check.right[sure].mean()), why=_POOLED
        )
        yield Claim("T Table 8.2", f"{label}: accuracy of all pairs", overall, check.accuracy, why=_POOLED)


def _grades(judged: Candidates) -> Plot:
    grades = 100 * judged.relevance
    counts = np.histogram(grades, np.arange(-2.5, 103, 5))[0] / len(grades)
    x = tuple(map(float, range(0, 101, 5)))
    return Plot(
        "unjudged-grades",
        "T Figure 7.1",
        "Fine judgments of MIREX 2011: share within 2.5 of each grade.",
        "Many grades near 0, then a broad hill around 60 to 70; few above 90.",
        "grade",
        "share of judgments",
        (Panel("MIREX 2011", (Series("Fine", x, tuple(counts.tolist())),)),),
    )


def _calibration(checks: dict[str, Check]) -> Plot:
    panels = tuple(Panel(label, (in_bins(check),), diagonal=True) for label, (check, _) in checks.items())
    return Plot(
        "unjudged-calibration",
        "T Table 8.2",
        "Accuracy of the signs of differences by how sure the model is of them: pairs of MIREX 2011, no judgments. "
        "Bands are 95 % intervals of the share.",
        "Accuracy follows confidence, with much luck below .95, and is 1 above .99.",
        "confidence",
        "accuracy",
        panels,
    )
