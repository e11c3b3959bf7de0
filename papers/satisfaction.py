"""Chapter 3 of the thesis, and the curves of chapter 4, with the 2,200 answers that are public (the thesis has 4,115).

What the thesis prints is of other listeners and other lists. A number here can be as near as two samples are, no
nearer: tolerances are three standard errors of ours, by resampling queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from papers.claims import Claim, Numbers, Panel, Plot, Reason, Series, as_printed, independent, printed_value
from papers.data import Data
from papers.studies import Effort, Found, study
from papers.thesis_tables import SCALE_NAMES, TABLE_3_2, TABLE_3_3, TABLE_3_4, TABLE_3_5, Key, short_name

if TYPE_CHECKING:
    from adjudge.preferences.curves import AgreementBins, Endpoints, Estimate, SatisfactionBins, ShareBins
    from adjudge.preferences.learning import Prior
    from adjudge.preferences.study import Evidence


_RESAMPLES = 300
_BELOW = 2e-9  # a difference of the threshold itself counts, whatever rounding has done to it
_MAIN = ("CG@5", "DCG@5", "Q(ideal=max)@5", "RBP(ideal=max)@5", "GAP(ideal=max)@5")
_OTHER = Reason(
    "data",
    "other listeners and other lists: the thesis asked about 4,115 examples from five editions of MIREX, of which none "
    "is public; what is near is within three standard errors of ours, by resampling queries",
)
_BIAS = Reason(
    "unknown",
    "the thesis has other listeners and other lists, which may be all; but by (3.11) the curves of its Table 4.3 have "
    "larger biases than the bins that it prints here, too (.172 for CG on Broad). Whether other listeners, fitted "
    "curves or a mistake make the difference cannot be told without the 4,115 answers",
)
_EDITIONS = Reason(
    "data", "comparisons of MIREX 2011 alone, and thresholds of other listeners; the thesis has 37,450 of five editions"
)
_READ = Reason(
    "data",
    "the thesis reads the threshold off a plot of its own 4,115 answers; here straight lines join the bins of 2,200",
)
_OFF_THE_PLOT = Reason("reading", "read off a plot there; by the curve that the thesis fits through the plot here")
_THRESHOLDS = (  # thesis 3.3.2 and 3.4: from which difference on half prefer the better system; the same in 2012
    ("ERR(gain=linear,ideal=max)@5", "fine", ".4", ".2993"),
    ("Q(ideal=max)@5", "fine", ".35", ".2875"),
    ("Q(ideal=max)@5", "broad", ".5", ".4814"),
    ("GAP(ideal=max)@5", "fine", ".35", ".2912"),
    ("GAP(ideal=max)@5", "graded3", ".5", ".4190"),
    ("RBP(ideal=max)@5", "binary20", ".45", ".2955"),
    ("RBP(ideal=max)@5", "binary80", ".45", ".2708"),
)
# Bounds: Tables 3.2 to 3.5 with the answers of 2012, computed a second time (bias on Broad, reach on Fine only)
_OF_2012: dict[Key, dict[str, str]] = {
    ("CG@5", "broad"): {"T Table 3.2": ".2572", "T Table 3.3": ".5698", "T Table 3.4": ".0729"},
    ("DCG@5", "broad"): {"T Table 3.2": ".2468", "T Table 3.3": ".5181", "T Table 3.4": ".0764"},
    ("Q(ideal=max)@5", "broad"): {"T Table 3.2": ".2482", "T Table 3.3": ".5282", "T Table 3.4": ".0789"},
    ("RBP(ideal=max)@5", "broad"): {"T Table 3.2": ".2468", "T Table 3.3": ".5184", "T Table 3.4": ".0778"},
    ("GAP(ideal=max)@5", "broad"): {"T Table 3.2": ".2407", "T Table 3.3": ".5162", "T Table 3.4": ".0751"},
    ("CG@5", "fine"): {"T Table 3.3": ".4280", "T Table 3.4": ".0711", "T Table 3.5": ".1975"},
    ("DCG@5", "fine"): {"T Table 3.3": ".4280", "T Table 3.4": ".0709", "T Table 3.5": ".2314"},
    ("Q(ideal=max)@5", "fine"): {"T Table 3.3": ".4375", "T Table 3.4": ".0707", "T Table 3.5": ".2445"},
    ("RBP(ideal=max)@5", "fine"): {"T Table 3.3": ".4283", "T Table 3.4": ".0704", "T Table 3.5": ".2190"},
    ("GAP(ideal=max)@5", "fine"): {"T Table 3.3": ".4282", "T Table 3.4": ".0641", "T Table 3.5": ".2243"},
}
_CELL = "the nearest of 1,800 lists; of the numbers with four digits between .2 and .8, one in five has a list as near"
_FEWEST = 50  # lists in the bin of an endpoint, for its share to say anything
_ANSWERS = (
    "of the 2,200 answers of 2012 (the 4,115 of the thesis are not public); numbers are compared for the five main "
    "measures on Broad and Fine, the other 85 combinations in a figure"
)
_COMPARISONS = "of the comparisons of MIREX 2011 alone, on scales that follow from Fine: other judgments are not public"
_PARTLY = {
    "T Table 3.2": f"{_ANSWERS}; on Fine the last bin has 4 to 11 lists, too few for an endpoint",
    "T Table 3.3": _ANSWERS,
    "T Table 3.4": _ANSWERS,
    "T Table 3.5": _COMPARISONS,
    "T Table 4.3": "drawn as printed; the answers that its curves were fitted to are not public",
    **{f"T Figure 3.{number}": _ANSWERS.partition(";")[0] for number in (2, 3, 4, 5)},
    "T Figure 3.6": _COMPARISONS,
}


@study(
    "satisfaction",
    title="Effectiveness and the satisfaction of listeners",
    covers=(
        *(f"T Table {number}" for number in ("3.1", "3.2", "3.3", "3.4", "3.5", "4.1", "4.3")),
        *(f"T Figure {number}" for number in ("3.2", "3.3", "3.4", "3.5", "3.6", "4.1")),
    ),
    needs=("user-study-2012", "mirex2011"),
    partly=_PARTLY,
    weight=2,
)
def satisfaction(data: Data, effort: Effort) -> Found:
    """Bins, distances and thresholds of all 95 combinations."""
    from adjudge.preferences.curves import agreement_bins, satisfaction_bins
    from adjudge.preferences.learning import prior_of
    from adjudge.preferences.study import evidence

    seen = {key: evidence(data.answers, *key, ties="lists") for key in TABLE_3_2}
    satisfied = {key: satisfaction_bins(one) for key, one in seen.items()}
    agreed = {key: agreement_bins(one) for key, one in seen.items()}
    priors = {key: prior_of(data.mirex2011, *key) for key in seen if key[1] != "broad"}
    ends = {key: _endpoints(key, one, effort) for key, one in seen.items()}
    reach = {key: _reach(prior, agreed[key]) for key, prior in priors.items()}
    claims = (
        *_combinations(),
        *_distances(ends, satisfied),
        *_priors(priors, reach),
        *_thresholds(agreed),
        *_one_query(data),
    )
    plots = (
        *_compared(ends, reach),
        *_bin_figures(seen, satisfied, agreed),
        _prior_figure(priors, agreed),
        _curves(),
    )
    return Found(claims, plots, (_refitted(seen),))


def _endpoints(key: Key, seen: Evidence, effort: Effort) -> Endpoints:
    from adjudge.preferences.curves import endpoints

    return endpoints(seen, resamples=_RESAMPLES if _is_main(key) else 0, seed=effort.seed)


def _is_main(key: Key) -> bool:
    return key[0] in _MAIN and key[1] in ("broad", "fine")


def _reach(prior: Prior, bins: AgreementBins) -> float:
    """Share of comparisons from the threshold on, which lies on straight lines between the bins."""
    from adjudge.preferences.learning import interpolated_difference

    threshold = interpolated_difference(bins)
    return 0.0 if threshold is None else 1 - float(prior.cdf(threshold - _BELOW))


def _named(key: Key) -> str:
    return f"{short_name(key[0])} on {SCALE_NAMES[key[1]]}"


def _combinations() -> Iterator[Claim]:
    from adjudge.preferences.questions import thesis_combinations
    from adjudge.users.satisfaction import TABLE_4_3

    yield Claim.printed("T Table 3.1", "combinations of a measure and a scale", "95", len(thesis_combinations()))
    yield Claim.printed("T Table 4.1", "combinations that have a curve", "40", len(TABLE_4_3))


_DISTANCES: tuple[tuple[str, str, dict[Key, str], Callable[[Endpoints], Estimate], Reason], ...] = (
    ("T Table 3.2", "bias at the endpoints", TABLE_3_2, lambda ends: ends.bias, _BIAS),
    ("T Table 3.3", "distance of P(Agr = 1) to 1", TABLE_3_3, lambda ends: ends.positive, _OTHER),
    ("T Table 3.4", "distance of P(Agr = -1) to 0", TABLE_3_4, lambda ends: ends.negative, _OTHER),
)


def _distances(ends: dict[Key, Endpoints], satisfied: dict[Key, SatisfactionBins]) -> Iterator[Claim]:
    for source, what, table, part, why in _DISTANCES:
        for key, found in ends.items():
            if not _is_main(key) or (table is TABLE_3_2 and not _has_endpoints(satisfied[key].satisfied)):
                continue
            one = part(found)
            error = (one.high - one.low) / (2 * 1.96)  # of a 95 % interval
            bound = independent(_OF_2012[key][source])
            yield Claim(source, f"{what}, {_named(key)}", table[key], one.value, bound, why, 3 * error)


def _has_endpoints(bins: ShareBins) -> bool:
    return bool(min(bins.count[0], bins.count[-1]) >= _FEWEST)


def _priors(priors: dict[Key, Prior], reach: dict[Key, float]) -> Iterator[Claim]:
    share = float(priors["CG@5", "fine"].cdf(0.3))
    what = "share of differences in CG on Fine up to .3"
    yield Claim("T 3.4", what, ".8", share, independent(".8124"), _EDITIONS)
    for key, ours in reach.items():
        if _is_main(key):
            what = f"share of comparisons in which half agree, {_named(key)}"
            bound = independent(_OF_2012[key]["T Table 3.5"])
            yield Claim("T Table 3.5", what, TABLE_3_5[key], ours, bound, _EDITIONS)


def _thresholds(agreed: dict[Key, AgreementBins]) -> Iterator[Claim]:
    from adjudge.preferences.learning import interpolated_difference

    for measure, scale, published, second in _THRESHOLDS:
        key = (measure, scale)
        ours = interpolated_difference(agreed[key])
        what = f"difference from which on half prefer the better system, {_named(key)}"
        value = float("nan") if ours is None else ours
        yield Claim("T 3.4", what, published, value, independent(second), _READ)


def _one_query(data: Data) -> Iterator[Claim]:
    """Thesis 4.1: system STBD1 and query d007449; names are hashed here."""
    from adjudge.users.satisfaction import find_satisfaction

    values = data.effectiveness(["Q(ideal=max)@5"]).matrix()
    ours = float(values.flat[int(np.abs(values - 0.6095).argmin())])
    what = "Q_l on Fine of STBD1 for query d007449"
    yield Claim("T 4.1", what, ".6095", ours, as_printed(".6095"), searched=_CELL)
    curve = find_satisfaction("Q(ideal=max)@5", "fine").mapping
    value = float("nan") if curve is None else float(curve(0.6095))
    yield Claim.around(
        "T 4.1", "satisfaction at that effectiveness", ".7", value, 0.05, basis="reading", why=_OFF_THE_PLOT
    )


def _refitted(seen: dict[Key, Evidence]) -> str:
    """How far cubics fitted to the public answers lie from the printed ones."""
    from adjudge.preferences.curves import distance, satisfaction_curve
    from adjudge.users.satisfaction import TABLE_4_3

    main = [one for one in TABLE_4_3 if _is_main((one.measure, one.scale))]
    cubics = [satisfaction_curve(seen[one.measure, one.scale], kind="cubic") for one in main]
    found = [
        distance(ours, printed, seen[printed.measure, printed.scale].lists)
        for ours, printed in zip(cubics, main, strict=True)
    ]
    return (
        f"Cubics fitted to the 2,200 answers lie {min(found):.3f} to {max(found):.3f} from those of Table 4.3 (root "
        "mean square over the lists, ten combinations); coefficients themselves are collinear and say nothing."
    )


def _compared(ends: dict[Key, Endpoints], reach: dict[Key, float]) -> Iterator[Plot]:
    """Published and own numbers of all combinations, a figure a table."""
    for source, what, table, part, _ in _DISTANCES:
        yield _scatter(source, what, table, {key: part(one).value for key, one in ends.items()})
    yield _scatter("T Table 3.5", "share of comparisons in which half agree", TABLE_3_5, reach)


def _scatter(source: str, what: str, table: dict[Key, str], ours: dict[Key, float]) -> Plot:
    groups = {"Broad and Fine": ("broad", "fine"), "other graded scales": ("graded",), "binary scales": ("binary",)}
    series = []
    for label, starts in groups.items():
        keys = [key for key in ours if key[1].startswith(starts)]
        x, y = (tuple(values) for values in zip(*((printed_value(table[key]), ours[key]) for key in keys), strict=True))
        series.append(Series(label, x, y, joined=False))
    return Plot(
        f"satisfaction-{source.lower().replace('t table ', 'table-').replace('.', '-')}",
        source,
        f"{what.capitalize()}: published, and by the public data, for every combination; equal ones are on the line.",
        f"Each point is a combination of a measure and a scale: its published {what} to the right, ours upwards.",
        "published",
        "ours",
        (Panel(what, tuple(series), diagonal=True),),
    )


def _panels(series: dict[Key, Series], **more: float) -> tuple[Panel, ...]:
    """A panel a measure, a curve a scale."""
    return tuple(
        Panel(
            short_name(name),
            tuple(one for (measure, _), one in series.items() if measure == name),
            tuple(more.values()),
        )
        for name in _measures(series)
    )


def _measures(keys: Iterable[Key]) -> list[str]:
    """Measures, those on Broad and Fine first, so that legends begin with these scales."""
    names = dict.fromkeys(measure for measure, _ in keys)
    return sorted(names, key=lambda name: short_name(name) in ("P", "AP", "RR"))


def _bin_figures(
    seen: dict[Key, Evidence], satisfied: dict[Key, SatisfactionBins], agreed: dict[Key, AgreementBins]
) -> Iterator[Plot]:
    lists = {key: _series(key, one.satisfied, tuple(map(float, one.satisfied.count))) for key, one in satisfied.items()}
    shares = {key: _series(key, one.satisfied) for key, one in satisfied.items()}
    positive = {key: _series(key, one.agree) for key, one in agreed.items()}
    negative = {key: _series(key, one.disagree) for key, one in agreed.items()}
    yield _figure(
        ("satisfaction-lists", "T Figure 3.2"),
        "Lists of examples without a preference, by effectiveness; 884 examples of 2012.",
        "Most bins hold a hundred lists or more; the last ones of Fine and of scales with many levels hold few.",
        ("effectiveness", "lists"),
        _panels(lists),
        log_y=True,
    )
    yield _figure(
        ("satisfaction-shares", "T Figure 3.3"),
        "P(Sat): share of lists called good, by effectiveness; 884 examples of 2012.",
        "Satisfaction rises with effectiveness; measures with exponential gain lie higher.",
        ("effectiveness", "P(Sat)"),
        _panels(shares),
    )
    yield _figure(
        ("satisfaction-positive", "T Figure 3.4"),
        "P(Agr = 1): share who prefer the better system, by difference; 2,200 examples of 2012.",
        "The share rises with the difference, on Fine fastest, and passes a half between .2 and .5.",
        ("|Δ|", "P(Agr = 1)"),
        _panels(positive, half=0.5),
    )
    yield _figure(
        ("satisfaction-negative", "T Figure 3.5"),
        "P(Agr = -1): share who prefer the worse system, by difference; 2,200 examples of 2012.",
        "About a tenth prefer the worse system at small differences, fewer at large ones.",
        ("|Δ|", "P(Agr = -1)"),
        _panels(negative),
    )


def _figure(
    name: tuple[str, str],
    caption: str,
    alt: str,
    axes: tuple[str, str],
    panels: tuple[Panel, ...],
    *,
    log_y: bool = False,
) -> Plot:
    return Plot(*name, caption, alt, *axes, panels, columns=4, log_y=log_y)


def _series(key: Key, bins: ShareBins, y: Numbers = ()) -> Series:
    used = bins.used
    x = ((bins.edges[:-1] + bins.edges[1:]) / 2)[used]
    values = np.array(y)[used] if y else bins.share[used]
    return Series(SCALE_NAMES[key[1]], tuple(x.tolist()), tuple(values.tolist()))


def _prior_figure(priors: dict[Key, Prior], agreed: dict[Key, AgreementBins]) -> Plot:
    from adjudge.preferences.learning import interpolated_difference

    at = np.linspace(0, 1, 21)
    panels = []
    for name in _measures(priors):
        own = {key: prior for key, prior in priors.items() if key[0] == name}
        series = [
            Series(SCALE_NAMES[key[1]], tuple(at.tolist()), tuple(prior.cdf(at).tolist())) for key, prior in own.items()
        ]
        marks = {key: interpolated_difference(agreed[key]) for key in own}
        x = [mark for mark in marks.values() if mark is not None]
        y = [float(own[key].cdf(mark)) for key, mark in marks.items() if mark is not None]
        panels.append(Panel(short_name(name), (*series, Series("half agree", tuple(x), tuple(y), joined=False))))
    return _figure(
        ("satisfaction-priors", "T Figure 3.6"),
        "Differences between systems of MIREX 2011: share of comparisons up to each size; points mark from where on "
        "half of the listeners prefer the better system (lower is better).",
        "Eight of ten differences are below .3 to .4; most points lie between .65 and .85.",
        ("|Δ|", "F(|Δ|)"),
        tuple(panels),
    )


def _curves() -> Plot:
    from adjudge.users.satisfaction import TABLE_4_3

    at = np.linspace(0, 1, 21)
    series = {
        (one.measure, one.scale): Series(SCALE_NAMES[one.scale], tuple(at.tolist()), tuple(one(at).tolist()))
        for one in TABLE_4_3
    }
    return _figure(
        ("satisfaction-curves", "T Figure 4.1"),
        "The curves of Table 4.3: P(Sat) by effectiveness.",
        "Curves rise from about .15 to about .85; with exponential gain they rise early.",
        ("effectiveness", "P(Sat)"),
        _panels(series),
    )
