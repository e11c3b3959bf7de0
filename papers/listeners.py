"""The 2,200 answers of listeners (ISMIR 2012): every number and figure of the paper that they allow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from papers.claims import ANOTHER, Claim, Numbers, Panel, Plot, Reason, Series, independent
from papers.data import Data
from papers.studies import Effort, Found, study

if TYPE_CHECKING:
    from adjudge.arrays import Floats
    from adjudge.preferences.curves import AgreementBins, SatisfactionBins, ShareBins
    from adjudge.preferences.study import Evidence


_COMBINATIONS = {
    "nAG Broad": ("CG@5", "broad"),
    "nAG Fine": ("CG@5", "fine"),
    "nDCG Broad": ("DCG@5", "broad"),
    "nDCG Fine": ("DCG@5", "fine"),
}
_FIRST_BINS = {  # published; by another implementation
    "nAG Broad": (".5", ".5"),
    "nAG Fine": (".3", ".3"),
    "nDCG Broad": (".5", ".4"),
    "nDCG Fine": (".3", ".3"),
}
_TENS = Reason("reading", "a bound read off a plot, and told in tens of per cent: right to 5 %")
_AT_ZERO = Reason(
    "reading",
    "the paper carries its lower bound for all bins over to a nAG of 0; of the lists that have it more are called "
    "good, the lowest share of a bin is 23 %",
)
_REJECTED = Reason("slip", "a slip in the paper: it says that 781 of 881 were rejected, which are 89 %")
_HALF = Reason(
    "reading",
    "the paper gives .5 for the Broad scale, over both measures; the bin [.4, .5) of nDCG has 54 % already, which "
    "another implementation found too",
)
_BY_EYE = Reason(
    "reading",
    "read off Figure 4 by eye, in steps of 5 %, so right to one step; here it is the share of the bin in which the end "
    "of the interval lies",
)


@study(
    "listeners",
    title="What 2,200 answers of listeners say",
    covers=("U12 Figure 2", "U12 Figure 3", "U12 Figure 4", "U12 Figure 5"),
    needs=("user-study-2012", "mirex2011"),
)
def listeners(data: Data, effort: Effort) -> Found:
    """Counts, shares of bins, and the systems of MIREX 2011 that the paper takes for its example."""
    from adjudge.preferences.curves import agreement_bins, satisfaction_bins
    from adjudge.preferences.study import evidence

    seen = {label: evidence(data.answers, *one, ties="lists") for label, one in _COMBINATIONS.items()}
    agreed = {label: agreement_bins(one) for label, one in seen.items()}
    satisfied = {label: satisfaction_bins(one) for label, one in seen.items()}
    claims = (
        *_counts(data),
        *_people(data),
        *_single(satisfied),
        *_pairs(seen, agreed),
        *_example(data, satisfied["nAG Fine"]),
    )
    notes = (
        "Names of systems are hashed in the public data: HKHLL1, and SSPK2 and DM2, were searched for among all "
        "systems and pairs, and are those nearest to the numbers that the paper prints. That they agree shows that "
        "such a system and such a pair are there, not that these are their names.",
        "Who was trusted (3,393 answers of 100 people, 781 rejected, trust from 60 % to 100 %) was decided by the "
        "platform while people answered. Its records do not tell by which rule: a trust of .7 and four traps, for "
        "example, leave 101 people and 3,433 answers. Countries are not among the public columns.",
    )
    return Found(claims, (_differences(seen), _scores(seen), _satisfaction(satisfied), _preferences(agreed)), notes)


def _counts(data: Data) -> Iterator[Claim]:
    from adjudge.preferences.study import BAD, GOOD, A, B

    answers, collection = data.answers, data.mirex2011
    asked = answers.questions.questions
    lists = {documents for one in asked for documents in one.lists}
    queries = set(answers.questions.queries)
    same = np.array([one.a == one.b for one in asked])[answers.question]
    choices = {name: float(np.count_nonzero(answers.choice == code)) for name, code in (("good", GOOD), ("bad", BAD))}
    preferred = float(np.isin(answers.choice, (A, B)).sum())
    neither = choices["good"] + choices["bad"]
    n = len(answers)
    values: tuple[tuple[str, str, str, float], ...] = (
        ("3.1", "systems", "18", len(collection.systems)),
        ("3.1", "queries of MIREX 2011", "100", len(collection.queries)),
        ("3.1", "judgments of MIREX 2011", "6,322", len(collection.need_judgments())),
        ("3.1", "examples", "2,200", n),
        ("3.1", "queries used", "73", len(queries)),
        ("3.1", "different lists", "2,869", len(lists)),
        ("3.1", "different clips, queries included", "3,031", len(queries.union(*lists))),
        ("4", "examples with the same list twice", "27", float(same.sum())),
        ("4", "preferences among those", "2", float(np.isin(answers.choice[same], (A, B)).sum())),
        ("4.1", "nonpreferences", "884", neither),
        ("4.1", "nonpreferences, share", "40 %", neither / n),
        ("4.1", "lists of nonpreferences", "1,768", 2 * neither),
        ("4.1", "both good", "440", choices["good"]),
        ("4.1", "both bad", "444", choices["bad"]),
        ("4.2", "preferences", "1,316", preferred),
        ("4.2", "preferences, share", "60 %", preferred / n),
    )
    return (Claim.printed(f"U12 {section}", what, published, ours) for section, what, published, ours in values)


def _people(data: Data) -> Iterator[Claim]:
    """Of the records of people: a row for each of them in each batch."""
    people, markets, batches = (data.people[name].n_unique() for name in ("worker_id", "channel", "batch"))
    yield Claim.printed("U12 4", "people who came", "881", people)
    rejected = independent("88.65 %", "781 of 881, both of which the paper prints")
    yield Claim("U12 4", "share of people rejected, all but 100", "87 %", 1 - 100 / people, rejected, _REJECTED)
    yield Claim.printed("U12 4", "crowdsourcing markets", "7", markets)
    yield Claim.printed("U12 4", "batches", "4", batches)
    answers = float(data.people.numbers("judgments_count").sum())
    yield Claim.printed("U12 4", "answers in all, traps included", "6,895", answers)


def _single(satisfied: dict[str, SatisfactionBins]) -> Iterator[Claim]:
    shares = satisfied["nAG Broad"].satisfied.share
    for what, published, ours in (("lowest", "20 %", shares.min()), ("highest", "80 %", shares.max())):
        share = f"{what} share of good in a bin, nAG Broad"
        yield Claim.around("U12 4.1", share, published, float(ours), 0.05, basis="reading", why=_TENS)
    what = "share of good for a nAG of 0, Broad"
    yield Claim("U12 4.1", what, "20 %", float(shares[0]), independent("27.80 %"), _AT_ZERO)


def _pairs(seen: dict[str, Evidence], agreed: dict[str, AgreementBins]) -> Iterator[Claim]:
    counts = np.bincount(np.rint(10 * seen["nAG Broad"].sizes).astype(np.int64))
    for what, ours in (("fewest", counts.min()), ("most", counts.max())):
        yield Claim.printed(
            "U12 3.1", f"examples of each difference 0, .1, …, 1 in nAG Broad, {what}", "200", float(ours)
        )
    for label, (published, other) in _FIRST_BINS.items():
        first = agreed[label].first_above()
        what = f"first bin in which more than half prefer the better system, {label}"
        ours = float("nan") if first is None else first
        yield Claim("U12 Figure 5", what, published, ours, independent(other, ANOTHER), _HALF)
    best = float(agreed["nAG Broad"].agree.share[-1])
    what = "positive preferences in [.9, 1], nAG Broad"
    yield Claim.around("U12 Figure 5", what, "80 %", best, 0.05, basis="reading", why=_TENS)
    worse = [float(np.mean(one.agrees == -1)) for one in seen.values()]
    between = sum(0.05 <= share <= 0.1 for share in worse)
    what = "combinations, of four, in which about 5 to 10 % of the answers prefer the worse system"
    yield Claim.printed("U12 4.2", what, "4", between)
    for what, published, ours in (("least", "6.2 %", min(worse)), ("most", "7.6 %", max(worse))):
        said = f"negative preferences over all examples, {what} of the four"
        yield Claim.printed(ANOTHER, said, published, ours)


def _example(data: Data, satisfied: SatisfactionBins) -> Iterator[Claim]:
    """Section 5.3: a system with its interval, and a pair whose difference is significant, yet hardly noticed."""
    from adjudge.stats.intervals import t_interval

    values = data.effectiveness(["CG@5"]).matrix()
    mean, half, _ = t_interval(values)
    one = int(np.argmin(np.abs(mean - 0.422) + np.abs(mean - half - 0.376) + np.abs(mean + half - 0.468)))
    ends = float(mean[one] - half[one]), float(mean[one] + half[one])
    for what, published, ours, other in (
        ("effectiveness", ".422", float(mean[one]), ".421880"),
        ("lower end of its interval", ".376", ends[0], ".375925"),
        ("upper end of its interval", ".468", ends[1], ".467835"),
    ):
        said, bound = f"system HKHLL1, nAG Fine: {what}", independent(other, ANOTHER)
        yield Claim("U12 5.3", said, published, ours, bound, searched="the nearest of 18 systems to all three")
    bins = satisfied.satisfied
    for what, published, ours in zip(("lower", "upper"), ("35 %", "45 %"), ends, strict=True):
        share = float(bins.share[int(ours * len(bins.count))])
        said = f"satisfied by HKHLL1, at the {what} end"
        yield Claim.around("U12 5.3", said, published, share, 0.05, basis="reading", why=_BY_EYE)
    yield from _significant(values)


def _significant(values: Floats) -> Iterator[Claim]:
    from adjudge.stats.intervals import t_interval

    pairs = [(a, b) for a in range(values.shape[1]) for b in range(values.shape[1]) if a != b]
    mean, half, _ = t_interval(np.stack([values[:, a] - values[:, b] for a, b in pairs], axis=1))
    gaps = np.abs(mean - 0.0815) + np.abs(mean - half - 0.051) + np.abs(mean + half - 0.112)
    one = int(np.argmin(gaps))
    for what, published, ours, other in (
        ("difference", ".082", mean[one], ".0815"),
        ("lower end of its interval", ".051", mean[one] - half[one], ".0508"),
        ("upper end of its interval", ".112", mean[one] + half[one], ".1122"),
        ("smallest difference that is significant", ".031", half[one], ".0307"),
    ):
        said, bound = f"SSPK2 and DM2, nAG Fine: {what}", independent(other, ANOTHER)
        yield Claim("U12 5.3", said, published, float(ours), bound, searched="the nearest of 306 ordered pairs")


def _centres(bins: ShareBins) -> Numbers:
    return tuple(((bins.edges[:-1] + bins.edges[1:]) / 2).tolist())


def _spread(values: dict[str, Floats]) -> tuple[Panel, ...]:
    """How many values there are nearest to each tenth, a panel each; nAG on Broad has no others."""
    edges, tenths = np.linspace(-0.05, 1.05, 12), tuple(round(0.1 * i, 1) for i in range(11))
    counts = {label: np.histogram(one, edges)[0] for label, one in values.items()}
    return tuple(
        Panel(label, (Series("examples", tenths, tuple(map(float, count))),), levels=(0.0,))
        for label, count in counts.items()
    )


def _differences(seen: dict[str, Evidence]) -> Plot:
    return Plot(
        "listeners-differences",
        "U12 Figure 2",
        "Examples by the difference in effectiveness between their two lists.",
        "On nAG Broad as many examples of every difference; on Fine fewer and fewer from .6 on.",
        "|Δ|",
        "examples",
        _spread({label: one.sizes for label, one in seen.items()}),
    )


def _scores(seen: dict[str, Evidence]) -> Plot:
    return Plot(
        "listeners-scores",
        "U12 Figure 3",
        "Lists of the 884 examples without a preference, by their effectiveness.",
        "The whole range is covered on Broad; on Fine there are few lists below .1 and above .9.",
        "effectiveness",
        "lists",
        _spread({label: one.lists for label, one in seen.items()}),
    )


def _share_series(label: str, bins: ShareBins) -> Series:
    low, high = tuple(bins.low.tolist()), tuple(bins.high.tolist())
    return Series(label, _centres(bins), tuple(bins.share.tolist()), low, high)


def _satisfaction(satisfied: dict[str, SatisfactionBins]) -> Plot:
    panels = tuple(
        Panel(label, (_share_series("both good", one.satisfied),), diagonal=True) for label, one in satisfied.items()
    )
    return Plot(
        "listeners-satisfaction",
        "U12 Figure 4",
        "Share of good nonpreferences by effectiveness; bands are 95 % intervals that know which answers are alike.",
        "The share rises from about a quarter to about three quarters, nearly as the diagonal does.",
        "effectiveness",
        "share of good",
        panels,
    )


def _preferences(agreed: dict[str, AgreementBins]) -> Plot:
    kinds = {"positive preferences": "agree", "nonpreferences": "cannot_tell", "negative preferences": "disagree"}
    panels = tuple(
        Panel(
            title,
            tuple(
                Series(label, _centres(getattr(one, name)), tuple(getattr(one, name).share.tolist()))
                for label, one in agreed.items()
            ),
            levels=(0.5,) if name == "agree" else (),
        )
        for title, name in kinds.items()
    )
    return Plot(
        "listeners-preferences",
        "U12 Figure 5",
        "Shares of positive preferences, nonpreferences and negative preferences by the difference in effectiveness.",
        "The larger the difference, the more prefer the better system; Fine lies above Broad; 5 to 10 % disagree.",
        "|Δ|",
        "share of answers",
        panels,
        columns=3,
    )
