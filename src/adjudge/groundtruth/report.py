"""The report of partially ordered lists: all of them in words and numbers, constructions compared, each list drawn.

Also the section of an evaluation's report about experts: its judgments as lists, and lists made in other ways.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adjudge.checks import DEFAULT_CONSTRUCTION
from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.groundtruth.building import (
    FEWEST_LISTS,
    Answers,
    BuiltList,
    GroundTruth,
    asked_of,
    check_lists,
    list_records,
    sentences,
    total_record,
)
from adjudge.groundtruth.comparing import (
    PAPER_CONSTRUCTIONS,
    ComparedConstructions,
    ComparedSystems,
    compare_constructions,
)
from adjudge.groundtruth.lists import PartialLists
from adjudge.model.collection import Collection
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import Block, FigureBlock, Paragraph, Report, Section, TableBlock, section
from adjudge.reporting.figures import cleaned, shortened
from adjudge.tables import Heading
from adjudge.text import counted, listed, number, share, shown_p
from adjudge.users.report import Evidence

_LONGEST_TITLE = 44


def list_sections(built: tuple[BuiltList, ...]) -> tuple[Section, ...]:
    """A section per query: what experts contradict, the drawing, the documents."""
    return tuple(
        Section(
            f"list-{place}",
            shortened(each.list.query, _LONGEST_TITLE) or f"Query {place}",
            (Paragraph(each.sentences()), *each.figures(f"list-{place}-drawn"), list_table(each, place)),
        )
        for place, each in enumerate(built, start=1)
    )


def list_table(built: BuiltList, place: int) -> TableBlock:
    """The documents of a list: group, what the answers say of each, and with how many others it is at odds."""
    evidence, wrong = built.evidence, built.inconsistencies()
    is_rank = evidence.unit == "rank"
    has_mean = is_rank and len(evidence.mean) > 0  # of strengths it is the estimate itself
    odds = [np.bincount(pairs.reshape(-1), minlength=len(evidence)) for pairs in (wrong.intra, wrong.inter)]
    columns = (
        Heading("Document", "left"),
        Heading("Group"),
        Heading("Median") if is_rank else Heading(evidence.unit.capitalize(), about="the higher, the more similar"),
        *([Heading("Mean")] if has_mean else []),
        Heading("Middle half", about="quartiles of the ranks") if is_rank else Heading("Interval", about="of 95 %"),
        Heading("Experts", about="who ranked it") if is_rank else Heading("Answers", about="that speak of it"),
        Heading("Differs", about="documents of its group that it differs from"),
        Heading("Alike", about="documents of other groups that it does not differ from"),
    )
    records: list[dict[str, Any]] = [
        {
            "query": built.list.query,
            "document": name,
            "group": group + 1,
            "middle": float(evidence.middle[i]),
            "mean": float(evidence.mean[i]) if has_mean else None,
            "lower": float(evidence.lower[i]),
            "upper": float(evidence.upper[i]),
            "answers": int(evidence.answers[i]),
            "differs": int(odds[0][i]),
            "alike": int(odds[1][i]),
        }
        for i, (name, group) in enumerate(zip(evidence.documents, built.list.group_numbers, strict=True))
    ]
    digits = 1 if is_rank else 2
    rows = tuple(
        (
            cleaned(row["document"]),
            str(row["group"]),
            f"{row['middle']:.{digits}f}",
            *([f"{row['mean']:.2f}"] if has_mean else []),
            f"{number(row['lower'], digits)} to {number(row['upper'], digits)}",
            str(row["answers"]),
            *(str(row[name] or "") for name in ("differs", "alike")),
        )
        for row in records
    )
    caption = f"The documents of {shortened(built.list.query, 60)}, the most similar first."
    return TableBlock(f"list-{place}-documents", caption, columns, rows, records)


MOST_LISTS = 60
"""Lists that a report draws; of more, the least consistent."""
_TRIPLES = ("triples_alike", "triples_ordered", "triples_circular")
_INTRA = Heading("Intra", about="pairs in one group that differ, of those there are")
_INTER = Heading("Inter", about="pairs in different groups that do not differ, of those there are")
_MISORDERED = Heading("Misordered", about="pairs in the wrong order")


def groundtruth_document(
    truth: GroundTruth,
    *,
    answers: Answers | None = None,
    comparison: ComparedConstructions | None = None,
    inputs: Provenance | Mapping[str, Any] | None = None,
    title: str | None = None,
) -> Report:
    """The report of lists: all of them in numbers, constructions compared where they were, then every list drawn.

    ``answers`` add how much was asked of whom, ``comparison`` is what
    :func:`~adjudge.groundtruth.comparing.compare_constructions` found, ``inputs`` say where it all came from.

    >>> from adjudge.groundtruth import Rankings, build
    >>> rankings = Rankings.from_orders([("q", name, [["a"], ["b"], ["c"]], []) for name in "uvwxyz"])
    >>> [section.title for section in groundtruth_document(build(rankings, "Any-1"), answers=rankings).sections]
    ['The lists', 'q']
    """
    sections = [lists_section(truth, answers=answers)]
    if comparison is not None:
        sections += construction_sections(comparison)
    if (triples := triples_section(truth)) is not None:
        sections.append(triples)
    drawn = tuple(truth.built[place] for place in sorted(least_consistent(truth, MOST_LISTS)))
    heading = title or f"Partially ordered lists of {counted(len(truth), 'query')}"
    made = "Lists made elsewhere" if truth.construction is None else f"Made by {truth.construction}"
    given = "" if answers is None else f" from {asked_of(answers)}"
    subtitle = f"{made}{given}. Pairs of documents by {truth.measured_by} at α = {truth.alpha:g}."
    provenance = inputs.to_dict() if isinstance(inputs, Provenance) else dict(inputs or Provenance().to_dict())
    names = ("alpha", "measured_by", "unranked", "seed")
    settings = {"construction": truth.made_by, **{name: getattr(truth, name) for name in names}}
    provenance["settings"] = {**settings, **provenance.get("settings", {})}
    return Report(heading, subtitle, (*sections, *list_sections(drawn)), provenance)


def least_consistent(truth: GroundTruth, most: int) -> list[int]:
    """Places of at most ``most`` lists, the least consistent first; lists of one document, which have none, last.

    >>> from adjudge.groundtruth import PartialLists, Rankings
    >>> from adjudge.groundtruth.building import check_lists
    >>> said = [(query, name, [["a"], ["b"], ["c"]], []) for query in "pq" for name in "uvwxyz"]
    >>> lists = PartialLists.from_groups({"p": [["a"], ["b"], ["c"]], "q": [["b", "a"], ["c"]]})
    >>> least_consistent(check_lists(lists, Rankings.from_orders(said)), 1)
    [1]
    """
    values = np.nan_to_num([built.consistency(1) for built in truth.built], nan=np.inf)
    places: list[int] = np.argsort(values, kind="stable")[:most].tolist()
    return places


def lists_section(truth: GroundTruth, *, answers: Answers | None = None, name: str = "lists") -> Section:
    """All lists in words, numbers and a figure."""
    texts = [" ".join(sentences(truth, answers)), *truth.notes]
    if len(truth) > MOST_LISTS:
        texts.append(f"Drawn below are the {MOST_LISTS} least consistent of {len(truth):,} lists.")
    blocks: list[Block] = [*map(Paragraph, texts), lists_table(truth), *_size_figures(truth)]
    return Section(name, "The lists", tuple(blocks))


def lists_table(truth: GroundTruth, *, what: str = "The lists") -> TableBlock:
    """A row per query and, of several, one for all; ``what`` says whose lists they are."""
    records = list_records(truth)
    rows = [*records, total_record(truth)] if len(records) > 1 else records
    mean = "; the last row has the means of consistencies and group sizes, and the sums of the rest"
    caption = f"{what} in numbers{mean if len(records) > 1 else ''}."
    left_out = Heading("Left out", about="documents that are in no list")
    one_tailed = Heading("ADR-1", about="consistency with one-tailed tests: 1 where experts bear out the whole list")
    cells = (
        {
            Heading("Query", "left"): cleaned(row["query"]),
            Heading("Documents"): f"{row['documents']:,}",
            left_out: f"{row['left_out']:,}" if row["left_out"] else "",
            Heading("Groups"): f"{row['groups']:,}",
            Heading("Group size", about="mean documents per group"): f"{row['documents_per_group']:.2f}",
            one_tailed: number(row["adr_1"], 3),
            Heading("ADR-2", about="consistency with two-tailed tests"): number(row["adr_2"], 3),
            _INTRA: f"{row['intra']:,}/{row['pairs_within']:,}",
            _INTER: f"{row['inter']:,}/{row['pairs_between']:,}",
            _MISORDERED: f"{row['misordered']:,}",
        }
        for row in rows
    )
    return replace(TableBlock.of("lists-in-numbers", caption, cells, records), total=len(records) > 1)


def _size_figures(truth: GroundTruth) -> list[FigureBlock]:
    """Consistency against group size, where it is known of enough lists."""
    return [truth.figure("consistency-by-size")] if len(truth.measured) >= FEWEST_LISTS else []


def triples_section(truth: GroundTruth) -> Section | None:
    """Triples that no list can be right about; nothing to say where there are none."""
    records, total = list_records(truth), total_record(truth)
    if not sum(total[kind] for kind in _TRIPLES):
        return None
    text = (
        "Significance is not transitive: X may be like Z and Z like Y while X and Y differ. A list puts two documents "
        "into one group or into two, so that about such a triple it is wrong somewhere, however it is made. "
        f"This is so for {share(total['triples_broken'] / max(1, total['triples']))} of the triples whose three pairs "
        "were all compared."
    )
    whole = Heading("Triples", about="of documents whose three pairs were all compared")
    ordered = Heading("Ordered", about="X before Y, Y before Z, but not X before Z (one tail)")
    of_all = Heading("Share", about="of the three kinds together")
    cells = (
        {
            Heading("Query", "left"): cleaned(row["query"]),
            whole: f"{row['triples']:,}",
            Heading("Alike", about="two pairs do not differ, the third does (two tails)"): f"{row['triples_alike']:,}",
            ordered: f"{row['triples_ordered']:,}",
            Heading("Circular", about="X before Y, Y before Z, Z before X"): f"{row['triples_circular']:,}",
            of_all: share(row["triples_broken"] / row["triples"]) if row["triples"] else "–",
        }
        for row in ([*records, total] if len(records) > 1 else records)
    )
    kept = [{name: row[name] for name in ("query", "triples", *_TRIPLES, "triples_broken")} for row in records]
    table = TableBlock.of("triples", "Triples for which significance is not transitive.", cells, kept)
    table = replace(table, total=len(records) > 1)
    return Section("triples", "What no list can get right", (Paragraph(text), table))


_NEAR = 0.0005  # consistencies that print alike are alike
_LEVEL = 0.05


def construction_sections(compared: ComparedConstructions) -> list[Section]:
    """Consistency by construction and, where runs were given, the rankings of systems."""
    blocks: list[Block] = [Paragraph(" ".join(construction_sentences(compared))), construction_table(compared)]
    if len(compared.queries) > 1:
        blocks += [compared.figure(), _by_query(compared)]
    sections = [Section("constructions", "Ways of making the lists", tuple(blocks))]
    if compared.systems is not None:
        sections.append(_systems(compared.systems))
    return sections


def construction_sentences(compared: ComparedConstructions) -> list[str]:
    """What a reader should know of the constructions, most important first."""
    texts = (
        _best_sentence(compared),
        _significance_sentence(compared),
        _held_out_sentence(compared),
        _sparse_sentence(compared),
        _size_sentence(compared),
    )
    return [text for text in texts if text]


def _highest(compared: ComparedConstructions, name: str) -> list[str]:
    """The constructions with the highest mean, several where they print alike; none where nothing is known."""
    means = compared.means(name)
    if np.isnan(means).all():
        return []
    return [compared.names[i] for i in np.flatnonzero(means >= np.nanmax(means) - _NEAR)]


def _best_sentence(compared: ComparedConstructions) -> str:
    best = _highest(compared, "adr_1")
    if not best:
        return "No list has two documents, so that nothing can be said of consistency."
    top = compared[best[0]].record()["adr_1"]
    over = f" in the mean over {len(compared.queries):,} queries" if len(compared.queries) > 1 else ""
    if len(compared.rows) == 1:
        return f"Lists by {best[0]} have an ADR-1 consistency of {top:.3f}{over}."
    if len(best) == len(compared.rows):
        return f"All constructions are equally consistent: ADR-1 {top:.3f}{over}."
    makes, against = "makes" if len(best) == 1 else "make", ""
    if compared.baseline not in best:
        against = f", against {compared[compared.baseline].record()['adr_1']:.3f} by {compared.baseline}"
    return f"{listed(best)} {makes} the most consistent lists: ADR-1 {top:.3f}{over}{against}."


def _significance_sentence(compared: ComparedConstructions) -> str:
    others = [row for row in compared.rows if np.isfinite(row.p_consistency)]
    if not others:
        return ""
    better = [row.name for row in others if row.p_consistency <= _LEVEL]
    rest = [row.name for row in others if row.p_consistency > _LEVEL]
    if not better:
        return f"None is significantly more consistent than {compared.baseline} at {_LEVEL:g}."
    verb = "is" if len(better) == 1 else "are"
    left = f"; {listed(rest)} {'is' if len(rest) == 1 else 'are'} not" if rest else ""
    return f"Significantly more consistent than {compared.baseline} at {_LEVEL:g} {verb} {listed(better)}{left}."


def _held_out_sentence(compared: ComparedConstructions) -> str:
    best, of_all = _highest(compared, "held_out"), _highest(compared, "adr_1")
    if not best or len(compared.rows) < 2:
        return ""
    value = compared[best[0]].record()["held_out"]
    but = "" if set(best) & set(of_all) else f", not {listed(of_all)}"
    verb = "comes" if len(best) == 1 else "come"
    return f"By answers that lists were not made from, {listed(best)} {verb} first ({value:.3f}){but}."


def _sparse_sentence(compared: ComparedConstructions) -> str:
    n_compared, n_pairs = compared.pairs_compared
    if n_compared == n_pairs or len(compared.rows) < 2:
        return ""
    return (
        f"But only {n_compared:,} of {n_pairs:,} pairs were asked about, and then consistency says little of which "
        "lists are right: with simulated people Any and Bradley-Terry find most of the true order, All the least."
    )


def _size_sentence(compared: ComparedConstructions) -> str:
    known = np.array([row.correlation for row in compared.rows])
    known = known[np.isfinite(known)]
    if not len(known):
        return ""
    less = int((known < 0).sum())
    span = f"r from {known.min():.2f} to {known.max():.2f}" if len(known) > 1 else f"r = {known[0]:.2f}"
    if less == len(known):
        return f"The larger the groups of a query, the less consistent its list ({span})."
    return f"Larger groups go with less consistency by {less} of {len(known)} constructions ({span})."


def construction_table(compared: ComparedConstructions) -> TableBlock:
    """A row per construction: consistency, sizes, what contradicts the lists, tests against the baseline."""
    has_halves = bool(np.isfinite(compared.means("held_out")).any())
    against = f"paired one-tailed t-test over queries against {compared.baseline}"
    times = {1: "once", 2: "twice"}.get(compared.halves, f"{compared.halves} times")
    held_out = f"ADR-1 by the half of the answers that a list was not made from, {times}"
    related = Heading("r", about="Pearson's r of documents per group and ADR-1 over queries")
    rows = (
        {
            Heading("Construction", "left"): row.name,
            Heading("ADR-1", about="mean consistency with one-tailed tests"): number(record["adr_1"], 3),
            Heading("p", about=f"{against}: more consistent"): _p(row.p_consistency),
            Heading("ADR-2", about="mean consistency with two-tailed tests"): number(record["adr_2"], 3),
            **({Heading("Held out", about=held_out): number(record["held_out"], 3)} if has_halves else {}),
            Heading("Group size", about="mean documents per group"): number(record["documents_per_group"], 2),
            Heading("p, smaller", about=f"{against}: smaller groups"): _p(row.p_group_size),
            related: number(row.correlation, 2),
            _INTRA: f"{row.intra:,}/{row.n_within:,}",
            _INTER: f"{row.inter:,}/{row.n_between:,}",
            _MISORDERED: f"{row.misordered:,}",
        }
        for row, record in ((row, row.record()) for row in compared.rows)
    )
    places = {"adr_1": 1, "adr_2": 3} | ({"held_out": 4} if has_halves else {})
    best = {(compared.names.index(name), place) for key, place in places.items() for name in _highest(compared, key)}
    caption = f"Constructions compared on {counted(len(compared.queries), 'query')}."
    emphasised = frozenset(best) if len(compared.rows) > 1 else frozenset[tuple[int, int]]()
    return replace(TableBlock.of("constructions-compared", caption, rows, compared.to_dicts()), emphasised=emphasised)


def _p(value: float) -> str:
    return "–" if np.isnan(value) else shown_p(value)


def _by_query(compared: ComparedConstructions) -> TableBlock:
    columns = (Heading("Query", "left"), *(Heading(name) for name in compared.names))
    values = np.stack([row.adr_1 for row in compared.rows], axis=1)
    rows = tuple(
        (cleaned(query), *(number(float(v), 3) for v in line))
        for query, line in zip(compared.queries, values, strict=True)
    )
    records: list[dict[str, Any]] = [
        {"query": query, **dict(zip(compared.names, line, strict=True))}
        for query, line in zip(compared.queries, values.tolist(), strict=True)
    ]
    return TableBlock("consistency-by-query", "ADR-1 consistency of each list.", columns, rows, records)


def _systems(compared: ComparedSystems) -> Section:
    blocks: list[Block] = [Paragraph(" ".join(system_sentences(compared))), _means_table(compared)]
    if len(compared.systems) > 1:
        blocks.append(_changes(compared))
        if len(compared.constructions) > 1:
            blocks.append(compared.figure())
    return Section("systems-by-construction", "How systems rank by each construction", tuple(blocks))


def system_sentences(compared: ComparedSystems) -> list[str]:
    """Whether it matters for systems how lists were made."""
    base, means = compared.constructions[compared.baseline], compared.means
    winners = dict.fromkeys(compared.systems[int(i)] for i in means.argmax(axis=1))
    n = len(compared.systems)
    about = f"{n:,} systems by {compared.measure} on {counted(len(compared.queries), 'query')}"
    if n < 2:
        return [f"{compared.systems[0]} by {compared.measure}: with one system there is no ranking."]
    best = (
        f"{next(iter(winners))} is the best of {about}, whatever construction makes the lists."
        if len(winners) == 1
        else f"Which of {about} is the best depends on the construction: {listed(list(winners))}."
    )
    others = np.delete(np.arange(len(compared.constructions)), compared.baseline)
    if np.isnan(compared.tau[others]).all():
        return [best]
    least = int(others[np.nanargmin(compared.tau[others])])
    if not compared.swapped.any():
        return [best, f"No pair of systems changes its order against {base}."]
    return [
        best,
        f"Against {base} the ranking changes most with {compared.constructions[least]}: τ = {_tau(compared, least)}, "
        f"{counted(int(compared.moved[least]), 'system')} of {n} in another place, "
        f"{counted(int(compared.swapped[least]), 'pair')} of {math.comb(n, 2)} in the opposite order.",
    ]


def _tau(compared: ComparedSystems, i: int) -> str:
    ends = "" if np.isnan(compared.tau_low[i]) else f" [{compared.tau_low[i]:.2f}, {compared.tau_high[i]:.2f}]"
    return f"{number(float(compared.tau[i]), 2)}{ends}"


def _means_table(compared: ComparedSystems) -> TableBlock:
    order, means = compared.order, compared.means
    columns = (Heading("System", "left"), *(Heading(name) for name in compared.constructions))
    rows = tuple((compared.systems[s], *(f"{value:.3f}" for value in means[:, s])) for s in order)
    records: list[dict[str, Any]] = [
        {"system": compared.systems[s], **dict(zip(compared.constructions, means[:, s].tolist(), strict=True))}
        for s in order
    ]
    top = means.max(axis=1)
    best = frozenset((r, 1 + c) for r, s in enumerate(order) for c in range(len(top)) if means[c, s] >= top[c] - 1e-12)
    base = compared.constructions[compared.baseline]
    caption = f"Mean {compared.measure} of each system by the lists of each construction, best first by {base}."
    return TableBlock("systems-means", caption, columns, rows, records, best)


def _changes(compared: ComparedSystems) -> TableBlock:
    base = compared.constructions[compared.baseline]
    columns = (
        Heading("Construction", "left"),
        Heading("τ", about=f"Kendall's tau-b with the ranking by {base}; 95 % intervals from resampled queries"),
        Heading("Moved", about=f"systems of {len(compared.systems)} that have another place than by {base}"),
        Heading("Swapped", about=f"pairs of {math.comb(len(compared.systems), 2)} that have the opposite order"),
    )
    rows = tuple(
        (name, "1" if i == compared.baseline else _tau(compared, i), str(compared.moved[i]), str(compared.swapped[i]))
        for i, name in enumerate(compared.constructions)
    )
    caption = f"How the ranking of systems differs from that by {base}."
    return TableBlock("systems-tau", caption, columns, rows, compared.to_dicts())


_MOST_LISTS_DRAWN = 12


@dataclass(frozen=True)
class Experts:
    """What is made of experts' answers for a report.

    ``truth`` are lists made from them, ``judged`` the judgments of the evaluation as lists, measured by the answers;
    None where no document of the judgments was put to experts. ``compared`` are the constructions with the systems.
    """

    truth: GroundTruth
    judged: GroundTruth | None
    compared: ComparedConstructions
    notes: tuple[str, ...]

    def section(self) -> Section:
        """How far experts bear out the ground truth, and what depends on how it was made."""
        shown = self.judged or self.truth
        what = "The judgments as lists" if self.judged else f"Lists by {DEFAULT_CONSTRUCTION}"
        blocks: list[Block] = [*map(Paragraph, (self._conclusion(), *self.notes)), lists_table(shown, what=what)]
        blocks += _size_figures(shown)
        blocks += [block for part in construction_sections(self.compared) for block in part.blocks]
        least = [shown.built[place] for place in least_consistent(shown, _MOST_LISTS_DRAWN)]
        if len(least) < len(shown):
            blocks.append(Paragraph(f"Drawn below are the {len(least)} least consistent of {len(shown):,} lists."))
        for place, built in enumerate(least, start=1):
            blocks += [Paragraph(built.sentences()), *built.figures(f"list-{place}-drawn")]
        return Section("experts", "How far experts bear out the ground truth", tuple(blocks))

    def _conclusion(self) -> str:
        mean = self.truth.consistency()
        made = f"Lists made from experts' answers by {DEFAULT_CONSTRUCTION} have a mean ADR-1 consistency of {mean:.3f}"
        if self.judged is None:
            return f"{made}. The judgments of this page are not about documents that experts were asked about."
        value = self.judged.consistency()
        if np.isnan(value):
            return f"{made}. The judgments of this page put no two of their documents into lists."
        return (
            "Documents of one grade are a group, and the groups of a query are a list: so the judgments of this page "
            f"have a mean ADR-1 consistency of {value:.3f} with what experts said, where 1 means that they contradict "
            f"nothing. {made}."
        )


def experts_of(answers: Answers, collection: Collection) -> Experts:
    """Lists in the six ways of the literature, systems by each, and the judgments of the collection as lists."""
    with kept_warnings() as notes:
        compared = compare_constructions(answers, PAPER_CONSTRUCTIONS, runs=collection, halves=0)
        try:
            judged = check_lists(judgments_as_lists(collection), answers)
        except AdjudgeError:  # judgments of other queries or other documents are no lists of these
            judged = None
    return Experts(compared[DEFAULT_CONSTRUCTION].truth, judged, compared, tuple(dict.fromkeys(notes)))


def judgments_as_lists(collection: Collection) -> PartialLists:
    """Documents of one grade are a group, the highest grade first; what is not relevant is in no list."""
    levels: dict[str, dict[float, list[str]]] = {}
    for (query, document), grade in collection.need_judgments().by_pair().items():
        if grade > 0:
            levels.setdefault(query, {}).setdefault(grade, []).append(document)
    groups = {query: [graded[grade] for grade in sorted(graded, reverse=True)] for query, graded in levels.items()}
    return PartialLists.from_groups(groups)


@section("experts")
def experts(evidence: Evidence) -> Section | None:
    """How far experts bear out the ground truth, and what depends on how it was made; nothing without their answers."""
    return None if evidence.experts is None else evidence.experts.section()
