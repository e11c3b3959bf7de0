"""Relevance estimated, and systems evaluated, without a single judgment: thesis chapter 7, Tables 8.1 and 8.2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from papers.claims import ANOTHER, SECOND, Claim, Panel, Plot, Reason, Series, between, independent
from papers.data import Data
from papers.judged import BIN_EDGES, MEASURES, NOT_PRINTED, OF_BINS, collection, in_bins, spearman
from papers.studies import Effort, Found, study

if TYPE_CHECKING:
    from adjudge.relevance.candidates import Candidates
    from adjudge.relevance.simulation import Checkpoint


# Table 8.1, MIREX 2011, Fine: confidence, accuracy, tau, error of differences, Spearman, error of scores (zeros
# at the end, which the thesis drops, written out); then the bounds: the first two by another implementation with the
# parameters of Table A.1, the others computed a second time with them
_TABLE_8_1 = {
    "CG_l": (
        (".934", ".935", ".869", ".041", ".967", ".030"),
        (".9304", ".9085", ".8170", ".0457", ".9463", ".0318"),
    ),
    "DCG_l": (
        (".926", ".928", ".856", ".042", ".965", ".032"),
        (".9241", ".8889", ".7778", ".0474", ".9319", ".0330"),
    ),
    "nDCG_l": (
        (".925", ".902", ".804", ".034", ".944", ".185"),
        (".9232", ".8889", ".7778", ".0356", ".9278", ".1944"),
    ),
    "RBP_l": (
        (".927", ".935", ".869", ".034", ".967", ".185"),
        (".9256", ".8889", ".7778", ".0353", ".9257", ".1941"),
    ),
}
_COLUMNS = ("mean confidence", "accuracy", "Kendall tau", "RMSE of differences", "Spearman rho", "RMSE of scores")
_BY_OTHERS = (ANOTHER, ANOTHER, SECOND, SECOND, SECOND, SECOND)
# Table 8.2, Fine, four editions: share of pairs with a confidence of .99 or more, accuracy there, accuracy of all; then
# the share, of 2011, computed a second time with a normal distribution of differences, and accuracies
_TABLE_8_2 = {
    "CG_l": (("69.0 %", ".988", ".926"), (0.660, "1.0000", ".9085")),
    "DCG_l": (("67.0 %", ".996", ".921"), (0.647, "1.0000", ".8889")),
    "nDCG_l": (("66.8 %", ".996", ".918"), (0.641, "1.0000", ".8889")),
    "RBP_l": (("67.0 %", ".992", ".926"), (0.647, "1.0000", ".8889")),
}
_A_PAIR = 1.5 / 153  # a share may be a pair of systems off: differences have Student's t here
# Table 7.1, Fine, tried on MIREX 2011: model, error, mean variance; both computed a second time
_TABLE_7_1 = (("output", (".2501", ".0545"), (".2461", ".0562")), ("judgments", (".0957", ".0070"), (".0956", ".0072")))
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
    from adjudge.relevance.choosing import Goal
    from adjudge.relevance.session import Session
    from adjudge.relevance.simulation import checkpoint, true_scores

    session = Session(judged.unjudged(), measure, estimator="output", rule="pairs", goal=Goal(zone=0, least=0))
    truth = true_scores(judged, session.scoring)
    return checkpoint(session, truth), spearman(session.view.scores.mean, truth)


def _fixed() -> Iterator[Claim]:
    """The error of taking the historical distribution for every document is its standard deviation."""
    from adjudge.relevance.estimators import HISTORICAL

    what = "error of the fixed distribution on {}, from its variance"
    broad, fine = (HISTORICAL[scale][1] ** 0.5 / highest for scale, highest in (("broad", 2), ("fine", 100)))
    yield Claim.printed("T 7.4", what.format("broad"), ".3981", broad)
    bound = independent(".30007", "the root of 900.4, which the thesis prints, over 100")
    yield Claim("T 7.4", what.format("fine"), ".3953", fine, bound, _FINE_ERROR)


def _models(judged: Candidates) -> Iterator[Claim]:
    """Error and claimed variance of the models of Table A.1 on MIREX 2011, where they have an estimate."""
    from adjudge.relevance.features import Evidence
    from adjudge.relevance.models import published_model

    for kind, printed, second in _TABLE_7_1:
        model = published_model("fine", "output" if kind == "output" else "judgments")
        table = Evidence(judged).table(model.features, own=True)
        mean, spread = model.ordinal.moments(table, np.array(model.levels))
        known = ~np.isnan(mean)
        values = float(np.sqrt(np.mean((mean - judged.relevance)[known] ** 2))), float(spread[known].mean())
        name = "M_out" if kind == "output" else "M_jud"
        for what, number, ours, value in zip(("RMSE", "mean variance"), printed, values, second, strict=True):
            yield Claim("T Table 7.1", f"{name}, Fine, tried on 2011: {what}", number, ours, independent(value), _OWN)


def _table_8_1(checks: dict[str, Check]) -> Iterator[Claim]:
    for label, (published, others) in _TABLE_8_1.items():
        check, rho = checks[label]
        values = (check.confidence, check.accuracy, check.tau, check.difference_error, rho, check.score_error)
        bounds = map(independent, others, _BY_OTHERS)
        for what, number, ours, bound in zip(_COLUMNS, published, values, bounds, strict=True):
            yield Claim("T Table 8.1", f"{label}: {what}", number, ours, bound, NOT_PRINTED)


def _table_8_2(checks: dict[str, Check]) -> Iterator[Claim]:
    for label, (published, (share, of_sure, of_all)) in _TABLE_8_2.items():
        check, _ = checks[label]
        sure = check.claimed >= BIN_EDGES[-2]
        values = float(sure.mean()), float(check.right[sure].mean()), check.accuracy
        bounds = between(share - _A_PAIR, share + _A_PAIR, SECOND), independent(of_sure), independent(of_all)
        for what, number, ours, bound in zip(OF_BINS, published, values, bounds, strict=True):
            yield Claim("T Table 8.2", f"{label}: {what}", number, ours, bound, _POOLED)


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
