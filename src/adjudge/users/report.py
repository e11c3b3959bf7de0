"""The report of an evaluation: what it is computed from, and its sections about systems, queries and users.

Sections compute; nothing here draws.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Protocol, Unpack

import numpy as np

from adjudge.arrays import Floats
from adjudge.checks import (
    CONFIDENCE,
    HALF_ALPHA,
    PAPER_WIDTH,
    POSITIVE,
    RESAMPLES,
    SEED,
    Alternative,
    Interval,
    checked,
)
from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.formats.effectiveness import EffectivenessLike, as_effectiveness, or_table
from adjudge.formats.schema import Tabular
from adjudge.latex import PAGE
from adjudge.measures.base import Measure
from adjudge.measures.evaluation import default_measures, evaluate
from adjudge.model.collection import COLLECTION, Collection
from adjudge.model.effectiveness import EFFECTIVENESS, Effectiveness
from adjudge.parallel import Progress
from adjudge.registry import unknown
from adjudge.reporting.document import SECTIONS, Block, FigureBlock, Paragraph, Report, Section, TableBlock, section
from adjudge.reporting.figures import HardQueries, Spread, hard_queries, spread
from adjudge.reporting.render import form_of, write_report
from adjudge.seeds import Seed
from adjudge.stats.distributions import prediction_interval
from adjudge.stats.effects import Verdict
from adjudge.stats.gtheory.plan import make_plan, power_plan
from adjudge.stats.gtheory.report import plan_blocks
from adjudge.stats.power import MOST_QUERIES, fewest_queries
from adjudge.stats.summary import Summary, summarize
from adjudge.tables import Heading
from adjudge.text import counted, listed, percent, shown_p
from adjudge.users.comparison import MOST_RANKED, SHARED_LETTERS, CompareSettings, Comparison, Pair, compare
from adjudge.users.noticing import AgreementMapping, agreement_figure, noticeable_difference, noticeable_interval
from adjudge.users.satisfaction import Satisfaction, SatisfactionMapping, satisfaction, satisfaction_interval

_PAGE_ORDER = (
    "overview", "leaderboard", "differences", "ranking", "users", "reliability", "experiments", "effort", "experts",
    "queries", "power", "assumptions",
)  # fmt: skip


class ExpertOpinion(Protocol):
    """What experts' answers say of an evaluation, as :func:`adjudge.groundtruth.experts_of` makes it."""

    def section(self) -> Section:
        """Its section of the page."""


class FinishedExperiment(Protocol):
    """What an experiment found, as :func:`adjudge.experiment` returns it."""

    @property
    def title(self) -> str:
        """What it is about."""

    def introduction(self) -> Sequence[str]:
        """What was asked, of which data, and notes on these."""

    def sentences(self) -> list[str]:
        """What it means, the conclusion first."""

    def sections(self) -> Sequence[Section]:
        """Its part of the page: the conclusion, then what it rests on."""


@dataclass(frozen=True)
class Evidence:
    """Everything computed once, for all sections. The first measure is the main one."""

    eff: Effectiveness
    summary: Summary
    comparisons: dict[str, Comparison]
    satisfaction: Satisfaction
    collection: Collection | None = None
    experts: ExpertOpinion | None = None
    experiments: tuple[FinishedExperiment, ...] = ()
    slices: Tabular | None = None
    by: str | Iterable[str] | None = None

    @property
    def main(self) -> Comparison:
        """The comparison under the first measure."""
        return self.comparisons[self.eff.measures[0]]

    @property
    def is_uneven(self) -> bool:
        """Whether some data set has more queries than another."""
        return len(set(Counter(self.eff.datasets).values())) > 1


@checked(confidence=CONFIDENCE)
def gather(
    eff: Effectiveness,
    *,
    confidence: float = 0.95,
    threshold: float = 0.5,
    satisfied: Iterable[SatisfactionMapping] | None = None,
    collection: Collection | None = None,
    experts: ExpertOpinion | None = None,
    experiments: Iterable[FinishedExperiment] = (),
    slices: Tabular | None = None,
    by: str | Iterable[str] | None = None,
    **comparing: Unpack[CompareSettings],
) -> Evidence:
    """Compute what sections need; ``satisfied`` are own mappings to satisfaction, ``comparing`` goes to ``compare``.

    With the ``collection`` a section can say what is not judged, with ``experts`` how far they confirm judgments, with
    ``experiments`` how far tests and numbers of queries can be trusted. ``slices`` and ``by`` go to the leaderboard.
    """
    comparisons = {name: compare(eff[name], confidence=confidence, **comparing) for name in eff.measures}
    return Evidence(
        eff,
        summarize(eff, confidence=confidence, interval=comparing.get("interval", "t")),
        comparisons,
        satisfaction(eff, mappings=satisfied, threshold=threshold, confidence=confidence),
        collection,
        experts,
        tuple(experiments),
        slices,
        by,
    )


def sections_in_order() -> list[str]:
    """All sections in the order of the page, whatever was imported first; those registered elsewhere come last."""
    order = {name: place for place, name in enumerate(_PAGE_ORDER)}
    return sorted(SECTIONS, key=lambda name: order.get(name, len(order)))


def make_report(
    evidence: Evidence,
    *,
    title: str | None = None,
    sections: Iterable[str] | None = None,
    command: str | None = None,
    progress: Progress | None = None,
) -> Report:
    """Make every section, or the named ones; ``progress`` is called after each."""
    known = sections_in_order()
    names = known if sections is None else list(dict.fromkeys(sections))
    for name in names:
        if name not in SECTIONS:
            raise unknown("report section", name, SECTIONS)
    if evidence.slices is not None and "leaderboard" not in names:
        raise AdjudgeError(f"slices are part of the section leaderboard, which is not among {listed(names)}")
    made: list[Section] = []
    for n_done, name in enumerate(names, start=1):
        if (part := SECTIONS[name](evidence)) is not None:
            made += [part] if isinstance(part, Section) else part
        if progress is not None:
            progress(n_done, len(names) + 1)  # drawing it is still to come
    if not made:
        raise AdjudgeError(f"Nothing to report: {', '.join(names)} cannot be made for this evaluation.")
    eff, main = evidence.eff, evidence.main
    provenance = main.provenance.with_settings(threshold=evidence.satisfaction.threshold)
    if command is not None:
        provenance = provenance.with_settings(command=command)
    subtitle = (
        f"{len(eff.systems)} systems, {counted(eff.n_queries, _unit(eff))}, {', '.join(eff.measures)}. "
        f"Differences by {main.test} test with {main.correction} correction at α = {main.alpha:g}."
    )
    heading = title or f"{eff.measures[0]} of {len(eff.systems)} systems".replace("effectiveness", "Effectiveness", 1)
    return Report(heading, subtitle, tuple(made), provenance.to_dict(), answer(evidence))


_NAMED = 3  # systems in a sentence
_POWER = 0.8
_FEW_QUERIES = 10
_MOST_PLANNED = 100_000  # queries that are worth a number
_CERTAIN = 1e6  # an effect that every query shows alike
_SIDES = {"greater": "better", "less": "worse"}


def answer(evidence: Evidence) -> tuple[Block, ...]:
    """What a report begins with: who leads, what is real and what is noticed, what would settle the rest; a figure."""
    main = evidence.main
    sentences = (_lead_sentence(evidence), _count_sentence(main), _rest_sentence(main, _unit(evidence.eff)))
    return (*map(Paragraph, sentences), main.figure("forest"))


def _lead_sentence(evidence: Evidence) -> str:
    """Who has the highest mean, and who is tied with it: systems without a significant difference are tied."""
    main, order = evidence.main, evidence.main.ranking
    means = dict(zip(main.systems, main.means, strict=True))
    best = order[0]
    over = _over(evidence.eff, evidence.summary.of(best, main.measure).n_queries)
    if len(main) == 1:
        return f"{_pair_words(main)}: {main.pairs[0].sentence(main.measure)} {over}."
    highest = f"the highest mean {main.measure}, {means[best]:.3f} {over}"
    if not main.complete or main.alternative != "two-sided":
        return f"{best} has {highest}; {_baseline_words(main)}."
    alike = [name for name in order if np.isclose(means[name], means[best], rtol=1e-9, atol=1e-12)]
    others = [name for name in order if name not in alike]
    tied = [name for name in others if not main.of(best, name).significant]
    better = [name for name in others if _winner(main.of(best, name), main) == name]
    text = f"{listed(alike, most=_NAMED)} {'has' if len(alike) == 1 else 'share'} {highest}"
    if tied:
        names = f"all {len(others)} others" if _NAMED < len(tied) == len(others) else listed(tied, most=_NAMED)
        text += f", tied with {names}"
    elif others and not better:
        names = {1: others[0], 2: "both others"}.get(len(others), f"all {len(others)} others")
        text += f", significantly ahead of {names}"
    return f"{text}{f', but the {main.test} test prefers {listed(better, most=_NAMED)}' if better else ''}."


def _winner(pair: Pair, main: Comparison) -> str | None:
    """Which of two systems the test says is better; None where it does not say."""
    if not pair.significant:
        return None
    if main.alternative != "two-sided":
        return pair.system if main.alternative == "greater" else pair.other
    return pair.system if pair.estimate > (0.5 if pair.estimand == "share of wins" else 0) else pair.other


def _pair_words(main: Comparison) -> str:
    """Two systems, and which is better."""
    (pair,) = main.pairs
    winner = _winner(pair, main)
    if winner is None and main.alternative != "two-sided":
        return f"{pair.system} is not shown to be {_SIDES[main.alternative]} than {pair.other}"
    if winner is None:
        return f"{pair.system} and {pair.other} are tied"
    if winner == pair.other and main.alternative == "two-sided":
        return f"{pair.system} has the higher mean, but the {main.test} test prefers {pair.other}"
    return f"{winner} is better than {pair.other if winner == pair.system else pair.system}"


def _baseline_words(main: Comparison) -> str:
    """How many systems are better and worse than the baselines, and how many are tied with them."""
    winners, names = [_winner(pair, main) for pair in main.pairs], listed(main.baselines, most=_NAMED)
    worse, tied = sum(winner in main.baselines for winner in winners), winners.count(None)
    side = "" if main.alternative == "two-sided" else f"not shown to be {_SIDES[main.alternative]}"
    counts = {"significantly better": len(main) - worse - tied, "significantly worse": worse, side or "tied": tied}
    first, *more = [f"{n:,} {what}" for what, n in counts.items() if n]
    are = "is" if first.startswith("1 ") else "are"
    of = (
        f"the {counted(len(main), 'system')} compared" if len(main.baselines) == 1 else counted(len(main), "comparison")
    )
    return f"of {of} with {names}, {listed([first.replace(' ', f' {are} ', 1), *more])}"


def _unit(eff: Effectiveness) -> str:
    """What counts as one query: a data set where only means of data sets are known."""
    return "data set" if eff.datasets and eff.datasets == eff.queries else "query"


def _over(eff: Effectiveness, n_queries: int) -> str:
    unit, n_datasets = _unit(eff), len(set(eff.datasets))
    of = f" of {n_datasets} data sets" if unit == "query" and n_datasets > 1 else ""
    return f"over {counted(n_queries, unit)}{of}"


def _count_sentence(main: Comparison) -> str:
    """How many differences are significant, and how many users would notice."""
    n, n_significant = len(main), sum(pair.significant for pair in main.pairs)
    noticed = [pair for pair in main.pairs if pair.noticeable]
    is_known = any(pair.noticeable is not None for pair in main.pairs)
    correction = "no" if main.correction == "none" else main.correction
    how = f"statistically significant ({main.test} test, {correction} correction, α = {main.alpha:g})"
    if n == 1:
        real, negation = f"The difference is {'' if n_significant else 'not '}{how}", "" if noticed else "not "
        if not is_known:
            return f"{real}; whether users would notice it is not known."
        if main.margin_is_given:
            return f"{real}, and {negation}as large as {main.margin:g}, the smallest that matters."
        return f"{real}; most users would {negation}notice one of this size."
    real = f"{_part(n_significant, n).capitalize()} differences {'is' if n_significant < 2 else 'are'} {how}"
    if not is_known:
        return f"{real}; whether users would notice them is not known."
    both = sum(pair.significant for pair in noticed)
    of_them = f", {'all' if both == len(noticed) else both or 'none'} of them significant" if noticed else ""
    if len(noticed) == 1:
        of_them = f", which is {'' if both else 'not '}significant"
    if main.margin_is_given:
        are = "is" if len(noticed) < 2 else "are"
        return f"{real}; {_part(len(noticed), n)} {are} at least {main.margin:g}, the smallest that matters{of_them}."
    return f"{real}; most users would notice {_part(len(noticed), n)}{of_them}."


def _part(n: int, of: int) -> str:
    return f"all {of:,}" if n == of else f"{f'{n:,}' if n else 'none'} of the {of:,}"


def _rest_sentence(main: Comparison, unit: str) -> str:
    """How many queries would settle what is open: neither significant nor shown to be too small to matter.

    Differences that are significant and not noticeable, but not shown to be too small to notice, are named last.

    By a t test of each pair, if its difference is as large as it looks, at the level that the correction leaves to
    those that are not significant. In a one-sided test, differences that point the other way are not open.
    """
    silent = [pair for pair in main.pairs if not pair.significant]
    unsure = [
        pair
        for pair in main.pairs
        if pair.significant and pair.noticeable is False and pair.verdict == Verdict.DIFFERENT
    ]
    side = {"two-sided": 0, "greater": 1, "less": -1}[main.alternative]
    astray = [pair for pair in silent if pair.difference * side < 0]
    small = [pair for pair in silent if pair.verdict == Verdict.EQUIVALENT and pair not in astray]
    rest = [pair for pair in silent if pair not in astray and pair not in small]
    now, best = max(pair.n_queries for pair in main.pairs), main.ranking[0]
    share = {"none": 1, "bh": 1, "holm": len(silent)}.get(main.correction, len(main))

    def needed(pairs: Sequence[Pair], place: int) -> int | None:
        """Queries for the pair at this place, from the easiest to the hardest."""
        effects = np.nan_to_num([abs(pair.d_z) for pair in pairs], posinf=_CERTAIN)
        effect, level = sorted(effects.tolist(), reverse=True)[place], main.alpha / share
        n = fewest_queries(effect, 1, alpha=level, power=_POWER, alternative="greater" if side else "two-sided")
        return None if n is None or n > _MOST_PLANNED else int(float(f"{n:.2g}"))

    why = (
        [f"{len(small):,} {'is' if len(small) == 1 else 'are'} shown to be smaller than {main.margin:.3f}"]
        if small
        else []
    )
    if unsure and (n_small := sum(pair.verdict in (Verdict.EQUIVALENT, Verdict.BOTH) for pair in main.pairs)):
        are = "is" if n_small == 1 else "are"
        why = [f"{_part(n_small, len(main))} differences {are} shown to be smaller than {main.margin:.3f}"]
    why += [f"{len(astray):,} {'points' if len(astray) == 1 else 'point'} the other way"] if astray else []
    text = f"No difference{' that matters' if small else ''} is left open{f': {listed(why)}' if why else ''}"
    if unsure:
        text = listed(why).capitalize() if why else ""
    if rest:
        many = needed(rest, (len(rest) - 1) // 2)
        what = (
            f"half of the {len(rest):,} differences that are open" if len(rest) > 1 else "the difference that is open"
        )
        queries = (
            f"Not even {counted(_MOST_PLANNED, unit)}"
            if many is None
            else f"About {counted(many, unit)}, for the {now:,} there are,"
        )
        text = f"{queries} would settle {what}"
    ties = [pair for pair in silent if best in (pair.system, pair.other)] if main.complete and not side else []
    if ties and len(main) > 1:
        last = needed(ties, -1)
        queries = f"not even {counted(_MOST_PLANNED, unit)}" if last is None else f"about {counted(last, unit)}"
        text += f"; {queries} would put {best} alone at the top"
    if rest or (ties and len(main) > 1):
        text += f" (paired t test, {percent(_POWER)} power, if differences are as large as they look)"
    sentences = [f"{text}."] if text else []
    if unsure:
        are, them, matter = ("is", "it", "it matters") if len(unsure) == 1 else ("are", "them", "they matter")
        what = matter if main.margin_is_given else f"most users would notice {them}"
        sentences.append(f"{len(unsure):,} {are} real, but it is open whether {what}.")
    if now < _FEW_QUERIES:
        sentences.append(f"With {counted(now, unit)} all of this is rough.")
    return " ".join(sentences)


@checked(
    data=or_table(COLLECTION | EFFECTIVENESS),
    alpha=HALF_ALPHA,
    confidence=CONFIDENCE,
    margin=POSITIVE,
    resamples=RESAMPLES,
    seed=SEED,
    width=PAPER_WIDTH,
)
def report(
    data: Collection | EffectivenessLike,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    output: str | Path | None = None,
    figures: str | Path | None = None,
    title: str | None = None,
    sections: Iterable[str] | None = None,
    confidence: float = 0.95,
    threshold: float = 0.5,
    satisfied: Iterable[SatisfactionMapping] | None = None,
    collection: Collection | None = None,
    experts: ExpertOpinion | None = None,
    experiments: Iterable[FinishedExperiment] = (),
    slices: Tabular | None = None,
    by: str | Iterable[str] | None = None,
    command: str | None = None,
    progress: Progress | None = None,
    test: str = "permutation",
    correction: str = "holm",
    baseline: str | Iterable[str] | None = None,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    interval: Interval = "t",
    margin: float | None = None,
    mappings: Iterable[AgreementMapping] | None = None,
    resamples: int | None = None,
    seed: Seed = 0,
    width: float = PAGE,
    standalone: bool = False,
) -> Report:
    """Everything about an evaluation on one page: means, differences, what users would notice, failing queries.

    A collection is evaluated under ``measures``, or under a few that its scale and depth call for; of effectiveness, or
    of a table of it (:func:`adjudge.formats.read_effectiveness`), they are chosen. The page goes to
    ``output`` (.html, .md, .tex or .json), every figure as SVG and PDF to the folder ``figures``. ``sections`` limits
    it to those named. ``threshold`` is the share of satisfied users that is a success, ``satisfied`` are own mappings
    to satisfaction. With effectiveness, ``collection`` is what it was computed from, so that a section can say what is
    not judged. ``experts`` (:func:`adjudge.groundtruth.experts_of`) and findings of ``experiments`` add a section each.
    ``slices`` and ``by`` are those of :func:`adjudge.leaderboard`, whose board is a section.
    From ``test`` to ``seed``, the settings are those of :func:`adjudge.compare`. Figures in the folder
    and tables of a ``.tex`` file are ``width`` inches wide or less, and a ``standalone`` one compiles as it comes.

    >>> import adjudge as aj
    >>> page = aj.report(aj.demo(), "CG@5", test="t", sections=["overview", "ranking"])
    >>> page.title, [section.title for section in page.sections]
    ('CG@5 of 12 systems', ['Overview', 'Who is tied with whom'])
    """
    if output is not None:
        form_of(output)  # refused before anything is computed
    if isinstance(data, Collection):
        collection = data
        data = evaluate(data, default_measures(data) if measures is None else measures)
    else:
        data = as_effectiveness(data)
        if measures is not None:
            data = data[list(map(str, [measures] if isinstance(measures, str | Measure) else measures))]
    evidence = gather(
        data, confidence=confidence, threshold=threshold, satisfied=satisfied, collection=collection, experts=experts,
        experiments=experiments, slices=slices, by=by, test=test, correction=correction, baseline=baseline,
        alternative=alternative, alpha=alpha, interval=interval, margin=margin, mappings=mappings, resamples=resamples,
        seed=seed,
    )  # fmt: skip
    made = make_report(evidence, title=title, sections=sections, command=command, progress=progress)
    if output is not None:
        write_report(made, output, figures=figures, width=width, standalone=standalone)
    return made


_SHOWN_PAIRS = 30
_MANY_SYSTEMS, _MANY_LETTERS = 60, 12  # of one system; beyond them letters are no help


@section("overview")
def overview(evidence: Evidence) -> Section:
    """Means with intervals, by every measure."""
    summary = evidence.summary
    text = (
        f"Intervals hold {percent(summary.confidence)} ({summary.interval}). They may overlap although systems differ: "
        "pairs are compared below."
    )
    if _unit(evidence.eff) == "data set":
        text += " Only means of data sets are known: what this report says of queries is about data sets."
    return Section("overview", "Overview", (Paragraph(text), _mean_table(evidence)))


def _mean_table(evidence: Evidence) -> TableBlock:
    summary, letters = evidence.summary, dict[str, str]()
    if evidence.main.complete and len(summary.systems) <= _MANY_SYSTEMS:
        letters = evidence.main.letters
    table = summary.table()
    note = ""
    if max(map(len, letters.values()), default=_MANY_LETTERS + 1) <= _MANY_LETTERS:
        column = Heading("ties", "left", SHARED_LETTERS), [letters[system] for system in summary.systems]
        table = table.insert([heading.name for heading in table.headings].index(summary.measures[0]) + 1, [column])
        note = f" In {summary.measures[0]}, {SHARED_LETTERS}."
    records = [
        {"system": system, "team": summary.of(system, summary.measures[0]).team}
        | {measure: summary.of(system, measure).mean for measure in summary.measures}
        for system in summary.systems
    ]
    if evidence.is_uneven:
        note += " Every query counts alike; in the leaderboard, every data set does."
    caption = f"Mean effectiveness with {percent(summary.confidence)} intervals, by {summary.measures[0]}.{note}"
    columns = capitalized(table.headings, except_for=summary.measures)
    if _unit(evidence.eff) == "data set":
        columns = tuple(replace(h, name="Data sets", about="") if h.name == "Queries" else h for h in columns)
    rows = tuple(map(tuple, table.rows))
    return TableBlock("effectiveness", caption, columns, rows, records, frozenset(table.styles))


def capitalized(headings: Iterable[Heading], *, except_for: Iterable[str] = ()) -> tuple[Heading, ...]:
    """Headings as in reports: words begin with a capital, symbols and names stay as they are."""
    names = set(except_for)
    return tuple(
        replace(heading, name=heading.name.capitalize())
        if heading.name.islower() and len(heading.name) > 1 and heading.name not in names
        else heading
        for heading in headings
    )


@section("differences")
def differences(evidence: Evidence) -> Section:
    """Which differences are significant, which noticeable, and where the two answers disagree."""
    main = evidence.main
    texts = [
        _count_sentence(main),
        _margin_sentence(main),
        _disagreement_sentence(main),
        f"{main.about_test}." if main.about_test else "",
    ]
    blocks: list[Block] = [*(Paragraph(text) for text in texts if text), _pair_table(main), main.figure("pair-sizes")]
    if main.complete:
        blocks.append(main.figure("pair-matrix"))
    if len(evidence.comparisons) > 1:
        blocks.append(_by_measure(evidence))
    return Section("differences", "Which differences are real, and which matter", tuple(blocks))


def _margin_sentence(main: Comparison) -> str:
    """What noticeable means here, and how many differences are shown to be smaller."""
    if main.margin is None:
        if main.agreement is not None:
            return f"Users would notice none of them: {main.margin_source}."
        return f"Whether users would notice a difference is not known: {main.margin_source}."
    small = sum(pair.verdict in (Verdict.EQUIVALENT, Verdict.BOTH) for pair in main.pairs)
    source = main.margin_source if main.margin_is_given else f"a difference is noticeable when {main.margin_source}"
    text = (
        f"{source[0].upper()}{source[1:]}. The data show that {_part(small, len(main))} {'is' if small < 2 else 'are'} "
        f"smaller than {main.margin:.3f}."
    )
    return f"{text} {main.about_equivalence}." if main.about_equivalence else text


def _disagreement_sentence(main: Comparison) -> str:
    parts = []
    for is_significant, words in ((True, "significant but not noticeable"), (False, "noticeable but not significant")):
        found = [pair for pair in main.parted if pair.significant == is_significant]
        if found:
            example = found[-1] if is_significant else found[0]
            parts.append(
                f"{len(found)} are {words}, such as {example.system} over {example.other}: "
                f"{example.sentence(main.measure)}."
            )
    return " ".join(parts)


def _pair_table(main: Comparison) -> TableBlock:
    shown = main.pairs if len(main) <= _SHOWN_PAIRS else _main_pairs(main)
    caption = "Pairs of systems, largest difference first"
    if len(shown) < len(main):
        caption += f" ({len(shown)} of {len(main)}: neighbours in the ranking, then where the answers disagree)"
    caption += ". Intervals are of one pair each; p-values are corrected for all pairs."
    table = replace(main, pairs=tuple(shown)).table()
    answers = ("significant", "noticeable")
    headings = [replace(h, align="center") if h.name in answers else h for h in table.headings]
    rows = tuple(map(tuple, table.rows))
    return TableBlock("pairs", caption, capitalized(headings), rows, main.to_dicts(), n_key=table.n_key)


def _main_pairs(main: Comparison) -> Sequence[Pair]:
    """With many pairs: neighbours in the ranking, which decide it, then pairs where the answers disagree."""
    neighbours = {frozenset(pair) for pair in pairwise(main.ranking)}
    chosen = [pair for pair in main.pairs if frozenset((pair.system, pair.other)) in neighbours]
    rest = [pair for pair in main.parted if pair not in chosen]
    return sorted([*chosen, *rest][:_SHOWN_PAIRS], key=lambda pair: -pair.difference)


def _by_measure(evidence: Evidence) -> TableBlock:
    columns = (
        Heading("Measure", "left"),
        Heading("Pairs"),
        Heading("Significant"),
        Heading("Noticeable"),
        Heading("Smallest that matters", about="difference on a query from which on most users prefer the better list"),
    )
    rows = []
    for name, comparison in evidence.comparisons.items():
        known = [pair.noticeable for pair in comparison.pairs if pair.noticeable is not None]
        margin = "not known" if comparison.margin is None else f"{comparison.margin:.3f}"
        significant = sum(pair.significant for pair in comparison.pairs)
        rows.append((name, str(len(comparison)), str(significant), str(sum(known)) if known else "–", margin))
    return TableBlock("by-measure", "The same question under every measure.", columns, tuple(rows))


@section("ranking")
def ranking(evidence: Evidence) -> Section | None:
    """Which systems cannot be told apart: a critical-difference diagram on mean ranks.

    Nothing is said with fewer than three systems, with lists left out, or when only some pairs were compared.
    """
    main = evidence.main
    result = main.friedman
    if result is None or not main.complete:
        return None
    p = shown_p(result.p)
    text = (
        f"The Friedman test asks whether all systems could be alike: χ² = {result.chi2:.1f}, df = {result.df}, "
        f"p {p if p.startswith('<') else f'= {p}'}. "
    )
    if len(main.systems) > MOST_RANKED:
        text += f"A critical-difference diagram has room for {MOST_RANKED} systems: the figure of means shows ties."
        return Section("ranking", "Who is tied with whom", (Paragraph(text),))
    text += (
        f"A bar joins systems none of which differ significantly ({main.test} test, {main.correction} correction); "
        "it is thin where it passes others."
    )
    return Section("ranking", "Who is tied with whom", (Paragraph(text), main.figure("critical-difference")))


_SHOWN_QUERIES = 15
_DIFFERENCES = (0.01, 0.02, 0.05, 0.1, 0.2)


@section("reliability")
def reliability(evidence: Evidence) -> Section | None:
    """Whether another collection of this size would say the same, and how many queries are enough."""
    with kept_warnings():
        try:
            plan = make_plan(evidence.eff, confidence=evidence.summary.confidence, alpha=evidence.main.alpha)
        except AdjudgeError:  # one system, one query, or nothing that varies
            return None
    # power has a section of its own
    blocks = tuple(block for block in plan_blocks(plan) if getattr(block, "name", "") != "power-plan")
    return Section("reliability", "Would another collection say the same", blocks)


@section("queries")
def queries(evidence: Evidence) -> Section:
    """How effectiveness and satisfaction spread over queries, and which queries defeat everyone."""
    main, eff = evidence.main.measure, evidence.eff.select(systems=evidence.summary.systems)
    matrix = eff[main].matrix()
    hardest = _hardest(main, eff.systems, eff.queries, matrix)
    blocks = (*_expectations(evidence, matrix), _spread(evidence, matrix), *hardest)
    return Section("queries", "From query to query", blocks)


def _spread(evidence: Evidence, matrix: Floats) -> FigureBlock:
    main, systems, satisfied = evidence.main.measure, evidence.summary.systems, evidence.satisfaction
    labels, panels = [main], [matrix]
    if main in satisfied.measures:
        labels.append("P(satisfied)")
        places = [satisfied.systems.index(name) for name in systems]
        panels.append(satisfied.p_sat[:, places, satisfied.measures.index(main)])
    wide = np.nanquantile(matrix, [0.05, 0.95], axis=0)
    most = int(np.argmax(wide[1] - wide[0]))
    alt = (
        f"Distribution of {main} over {len(matrix)} queries for {len(systems)} systems; {systems[most]} varies most, "
        f"from {wide[0, most]:.2f} to {wide[1, most]:.2f} for 90 % of the queries."
    )
    caption = "Every tick is a query; the thick line holds the middle half, the thin one 90 %, the dot is the median."
    return FigureBlock("spread", caption, alt, Spread(systems, tuple(labels), tuple(panels)), spread)


def _expectations(evidence: Evidence, matrix: Floats) -> tuple[Block, ...]:
    """What to expect of a new query: prediction intervals, satisfaction and success."""
    main, satisfied = evidence.main.measure, evidence.satisfaction
    level, known = percent(evidence.summary.confidence), main in satisfied.measures
    columns = [Heading("System", "left"), Heading(f"{main}, new query", about=f"{level} prediction interval")]
    if known:
        share = percent(satisfied.threshold)
        columns += [
            Heading("P(Sat)", about="mean share of satisfied users, with its interval"),
            Heading("P(Succ)", about=f"share of queries on which more than {share} of the users are satisfied"),
        ]
    rows = []
    for s, system in enumerate(evidence.summary.systems):
        row = [system, _expected(matrix[:, s], evidence.summary.confidence)]
        if known:
            user = satisfied.of(system, main)
            success = f"{user.success:.2f} [{user.success_low:.2f}, {user.success_high:.2f}]"
            row += [f"{user.mean:.3f} [{user.low:.3f}, {user.high:.3f}]", success]
        rows.append(tuple(row))
    text = (
        "A mean hides how different queries are. The prediction interval says where one more query may fall, which is "
        "far wider than the interval of the mean."
    )
    caption = "What to expect of one more query, and of users."
    return Paragraph(text), TableBlock("expectations", caption, tuple(columns), tuple(rows))


def _expected(values: Floats, confidence: float) -> str:
    """Where one more query may fall, with the level where too few queries allow no better one."""
    known = values[np.isfinite(values)]
    if len(known) < 2:
        return "–"
    found = prediction_interval(known, confidence=confidence)
    short = f" ({percent(found.attained, 0)})" if found.attained < confidence else ""
    return f"{found.low:.3f} to {found.high:.3f}{short}"


def _hardest(main: str, systems: tuple[str, ...], names: tuple[str, ...], matrix: Floats) -> tuple[Block, ...]:
    """The queries on which all systems together do worst."""
    n = np.isfinite(matrix).sum(axis=1)
    mean = np.divide(np.nansum(matrix, axis=1), n, out=np.full(len(n), np.inf), where=n > 0)
    hardest = np.argsort(mean, kind="stable")[:_SHOWN_QUERIES]
    failed = int(np.count_nonzero(np.nan_to_num(matrix, nan=1.0).max(axis=1) <= 0))
    worst = names[int(hardest[0])]
    text = f"On average over systems, {worst} is the hardest query ({mean[hardest[0]]:.3f})."
    if failed:
        text += f" On {counted(failed, 'query')} every system has effectiveness 0."
    top = max(1.0, float(np.nanmax(matrix)))
    label = f"{main} on the {len(hardest)} hardest queries; a full disc is {top:g}"
    data = HardQueries(label, tuple(names[i] for i in hardest), systems, matrix[hardest] / top, top)
    caption = "Queries on which systems fail together, hardest first; the larger the disc, the better."
    alt = f"The {len(hardest)} hardest queries, from {worst} with a mean {main} of {mean[hardest[0]]:.3f}."
    return Paragraph(text), FigureBlock("hard-queries", caption, alt, data, hard_queries)


@section("power")
def power(evidence: Evidence) -> Section | None:
    """What this collection can and cannot see: variance, detectable differences, queries needed."""
    matrix = evidence.eff[evidence.main.measure].matrix()
    if not np.isfinite(matrix).all() or len(matrix) < 2 or matrix.shape[1] < 2:
        return None
    plan = power_plan(matrix, differences=_DIFFERENCES, alpha=evidence.main.alpha, power=0.8)
    if plan is None:
        return None
    text = (
        f"For a typical pair (differences vary with a standard deviation of {plan.typical:.3f}) these "
        f"{plan.n_queries} queries detect a difference of {plan.detectable[0]:.3f} with 80 % power: paired t test, "
        f"α = {plan.alpha:g}, one pair, two-sided."
    )
    columns = (Heading("Difference", "left"), Heading("Queries for 80 % power"))
    rows = tuple((f"{size:g}", f"over {MOST_QUERIES:,}" if n is None else f"{n:,}") for size, n, _ in plan.rows)
    caption = "Queries needed to detect a true difference of a typical pair."
    table = TableBlock("queries-needed", caption, columns, rows)
    return Section("power", "What this collection can see", (Paragraph(text), table))


@section("assumptions")
def assumptions(evidence: Evidence) -> Section:
    """What was assumed, and the notes of the evaluation."""
    settings, main = evidence.eff.provenance.settings, evidence.main
    drawn = "" if main.resamples is None else f" {main.resamples:,} resamples, shared by all pairs, seed {main.seed}."
    has_curves = bool(evidence.satisfaction.measures) or main.agreement is not None
    sentences = [
        f"Unjudged documents: {settings.get('unjudged', 'as given')}. "
        f"Missing lists: {settings.get('missing', 'as given')}. Ties: {settings.get('ties', 'as given')}. "
        f"Scale: {settings.get('scale', 'not known')}.",
        "Queries are taken to be a random sample of those that users ask; "
        f"the same queries are compared in pairs ({main.test} test).{drawn}",
        f"Noticeable: {main.margin_source}." if main.margin_source else "",
        "Curves from effectiveness to users are taken as known: their own uncertainty is not in the intervals."
        if has_curves
        else "",
        *(f"{reason[:1].upper()}{reason[1:]}." for reason in evidence.satisfaction.missing),
        *evidence.eff.notes,
    ]
    return Section("assumptions", "What was assumed", tuple(Paragraph(text) for text in sentences if text))


_AT = np.array([0.0, 0.5, 1.0])


@section("users")
def users(evidence: Evidence) -> Section | None:
    """What effectiveness means to users: curves, and where most notice a difference; nothing without a mapping."""
    notice = {name: main.agreement for name, main in evidence.comparisons.items() if main.agreement is not None}
    satisfy = dict(zip(evidence.satisfaction.measures, evidence.satisfaction.mappings, strict=True))
    if not notice and not satisfy:
        return None
    blocks: list[Block] = [Paragraph(_sentence(notice, satisfy)), _table(evidence, notice, satisfy)]
    if notice:
        blocks.append(agreement_figure(notice))
    if satisfy:
        blocks.append(evidence.satisfaction.figure("users-satisfied"))
    return Section("users", "What it means to users", tuple(blocks))


def _sentence(notice: dict[str, AgreementMapping], satisfy: dict[str, SatisfactionMapping]) -> str:
    """Where most notice a difference under the first measure that is known, and where the curves come from."""
    named = [*(mapping.source for mapping in notice.values()), *(mapping.source for mapping in satisfy.values())]
    sources = "; ".join(dict.fromkeys(filter(None, named))) or "mappings of your own"
    text = f"What users make of effectiveness is read off curves: {sources}."
    if not notice:
        return text
    name, mapping = next(iter(notice.items()))
    least = noticeable_difference(mapping)
    if least is None:
        return f"{text} No difference in {name} is noticed by more than half of the users on one query."
    return f"{text} On one query, more than half of the users notice differences in {name} from {least:.2f} on."


def _table(
    evidence: Evidence, notice: dict[str, AgreementMapping], satisfy: dict[str, SatisfactionMapping]
) -> TableBlock:
    columns = (
        Heading("Measure", "left"),
        Heading("Noticed from", about="difference on one query from which on more than half prefer the better system"),
        *(Heading(f"P(Sat | {value:g})", about=f"share satisfied with a list of {value:g}") for value in _AT),
    )
    rows = [
        (name, _noticed(notice.get(name)), *_satisfied(satisfy.get(name)))
        for name in evidence.eff.measures
        if name in notice or name in satisfy
    ]
    return TableBlock("users-numbers", "What users notice, and are satisfied with.", columns, tuple(rows))


def _noticed(mapping: AgreementMapping | None) -> str:
    if mapping is None:
        return "–"
    value, (low, high) = noticeable_difference(mapping), noticeable_interval(mapping)
    if value is None:
        return "never"
    ends = "" if low is None else f" [{low:.2f}, {1.0 if high is None else high:.2f}]"
    return f"{value:.2f}{ends}"


def _satisfied(mapping: SatisfactionMapping | None) -> list[str]:
    if mapping is None:
        return ["–"] * len(_AT)
    lows, highs = satisfaction_interval(mapping, _AT)
    return [
        f"{value:.2f}" if np.isnan(low) else f"{value:.2f} [{low:.2f}, {high:.2f}]"
        for value, low, high in zip(mapping(_AT), lows, highs, strict=True)
    ]
