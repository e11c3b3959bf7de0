"""Why another tool has another number: which of its conventions give it.

Evaluation tools agree on a measure's name and differ in what nobody writes down: how tied scores are ordered, what a
grade is worth, which queries the mean is over. :func:`explain` evaluates a run under one change of Adjudge's own
conventions after another, then under two changes, and returns all of the smallest sets of changes that give the number,
to the digits that it has. With values per query it needs a match on every one of them.

A number that several sets give does not tell which of them is right; what tools differ on most comes first. Among
hundreds of sets some match four digits by chance: the result says how many were tried, and about how many would match
by chance.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Annotated, Any, NamedTuple, cast

import numpy as np
import polars as pl

from adjudge.arrays import Floats, Mask
from adjudge.checks import Whole, checked
from adjudge.errors import AdjudgeError, InputError, kept_warnings, shown
from adjudge.formats import FORMATS, JudgmentsLike, RunsLike, pick, read, read_table
from adjudge.formats.reading import IR_DATASETS, records_of_dataset
from adjudge.formats.source import Source, is_json, json_lines, open_source, parse_json
from adjudge.formats.tables import frame_from_object
from adjudge.formats.trec import read_run_lines
from adjudge.measures.base import Measure, parse_measure
from adjudge.measures.evaluation import evaluate, read_system_effectiveness
from adjudge.measures.parameters import number_text
from adjudge.model.scales import Scale
from adjudge.results import Column, Result
from adjudge.text import counted, listed

CHANGES = Whole(0, 3, meaning="most changes of conventions to try at once")
MEAN = "all"
"""What trec_eval and others call the mean in the place of a query."""
_CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000)
_DEPTHS = (10, 100, 1000)
_MOST_DIGITS = 6  # no tool's number is taken to be more exact: some compute in single precision
_EXACT = 10.0**-_MOST_DIGITS
_NEAREST = 5
_WINDOW = 50  # tolerances on either side, in which values are counted to tell how many match by chance


class Change(NamedTuple):
    """A convention other than the usual: what it is about, its value, and in words."""

    axis: str
    value: Any
    words: str


@dataclass(frozen=True)
class Explanation:
    """A set of changes, what it gives and how far that is from the number."""

    measure: Annotated[str, Column("the measure with its parameters, as written here")]
    value: Annotated[float, Column("what these conventions give", ".6f")]
    off: Annotated[float, Column("distance from the number given; the largest over queries, if there are any", ".2g")]
    queries_matched: Annotated[int | None, Column("queries with the value given", "d", label="queries", optional=True)]
    changes: Annotated[tuple[str, ...], Column("conventions that differ from those of Adjudge")]
    matches: Annotated[bool, Column("whether it is the number given, to its digits", shown=False)]

    @property
    def sentence(self) -> str:
        """The changes in words."""
        return " + ".join(self.changes) or "Adjudge's own conventions (those of trec_eval -c)"


@dataclass(frozen=True, repr=False)
class Explanations(Result):
    """The smallest sets of changes that give a number, or the nearest ones where none does."""

    measure: str
    target: float | None
    digits: int
    n_queries_given: int
    rows: tuple[Explanation, ...]
    found: bool
    tried: int
    by_chance: float
    same: tuple[str, ...]
    usual: float

    row_type = Explanation
    rows_name = "explanations"
    fact_names = (
        "measure", "target", "digits", "n_queries_given", "found", "tried", "by_chance", "same", "usual",
    )  # fmt: skip

    @property
    def title(self) -> str:
        """What was found, in a line."""
        what = f"{self.measure} = {self.target:.{self.digits}f}" if self.target is not None else self.measure
        if self.n_queries_given:
            what += f" ({counted(self.n_queries_given, 'query')} given)"
        if not self.found:
            return f"{what}: none of the {self.tried:,} sets of conventions tried gives it; the nearest are shown."
        if len(self.rows) == 1:
            return f"{what}: given by {self.rows[0].sentence}."
        n = len(self.rows[0].changes)
        return f"{what}: {len(self.rows)} sets of {counted(n, 'change')} give it; these data cannot tell which."

    def _notes(self) -> list[str]:
        notes = [f"By Adjudge's own conventions it is {self.usual:.{max(self.digits, 4)}f}."]
        if self.found and self.same:
            notes.append(f"Without effect here, so that the number says nothing about them: {listed(self.same)}.")
        if self.found and self.by_chance >= 0.05:
            notes.append(
                f"About {self.by_chance:.1f} of the {self.tried:,} sets tried would match "
                f"{counted(self.digits, 'digit')} by chance; more digits, or values per query, tell more."
            )
        return notes

    def __repr__(self) -> str:
        return f"<Explanations: {self.title}>"


@checked(changes=CHANGES)
def explain(
    run: RunsLike,
    judgments: JudgmentsLike,
    measure: str | Measure | None = None,
    *,
    value: float | str | Mapping[str, float | str] | None = None,
    output: str | None = None,
    scale: str | Scale | None = None,
    changes: int = 2,
) -> Explanations:
    """Which conventions give the number that another tool has for a run.

    ``value`` is the number, as text where it ends in zeros (``"0.4120"``), or values by query, with the mean under
    ``all``. ``output`` is a file that the other tool wrote: lines of trec_eval or ir_measures, JSON of pytrec_eval,
    ir_measures or ranx, or a table of effectiveness. Values per query tell most. ``measure`` need not be named where
    the output has one only. ``scale`` is as in :func:`adjudge.read`; ``changes`` is how many conventions may differ at
    once.

    A number matches where it is the other one rounded to as many digits, at most six. Conventions that cannot matter
    on these data are not tried: ties without tied scores, gains on a binary scale, unjudged documents where there are
    none.

    >>> run = {"mine": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}}}
    >>> found = explain(run, {"q1": {"a": 1, "b": 3}, "q2": {"b": 1}}, "nDCG@5", value="0.3549")
    >>> found.rows[0].changes
    ('exponential gains (2^grade - 1)',)
    """
    if (value is None) == (output is None):
        raise AdjudgeError("expected 'value', a number, or 'output', a file of another tool, and not both")
    named, given = None if measure is None else parse_measure(measure), cast("Mapping[str, Any]", {})
    if output is not None:
        named, given = _from_output(output, named)
    elif named is None:
        raise AdjudgeError("expected a measure such as nDCG@10, got none")
    else:
        given = value if isinstance(value, Mapping) else {MEAN: value}
    target = _Target.of(given, source=output)
    with kept_warnings():
        data = _Data.of(run, judgments, scale)
        return _search(data, named, target, changes)


@dataclass(frozen=True)
class _Target:
    """The number to explain, its digits, and values by query."""

    mean: float | None
    queries: Mapping[str, float]
    digits: int

    @classmethod
    def of(cls, given: Mapping[str, Any], *, source: str | None = None) -> _Target:
        """Numbers from text, with as many digits as the longest has; errors name the file and the query."""
        numbers = {}
        for name, text in given.items():
            try:
                numbers[str(name)] = number = float(text)
            except (TypeError, ValueError):
                number = math.nan
            if not math.isfinite(number):
                where = "" if name == MEAN else f" (query {shown(name)})"
                raise InputError(f"expected a finite number to explain, got {shown(text)}{where}", source=source)
        if not numbers:
            raise AdjudgeError("expected a number to explain, got none")
        digits = max(_digits(str(text)) for text in given.values())
        return cls(numbers.pop(MEAN, None), numbers, min(digits, _MOST_DIGITS))

    @property
    def tolerance(self) -> float:
        """Half of the last digit, with some rounding."""
        return max(0.5 * 10.0**-self.digits, _EXACT) * (1 + 1e-9) + 1e-12

    def scaled(self, factor: float) -> _Target:
        """The same in other units."""
        mean = None if self.mean is None else self.mean * factor
        queries = {query: number * factor for query, number in self.queries.items()}
        return _Target(mean, queries, self.digits - round(math.log10(factor)))


def _digits(text: str) -> int:
    """Digits after the point.

    >>> _digits("0.4120"), _digits("1"), _digits("2.5e-05")
    (4, 0, 6)
    """
    number, _, exponent = text.strip().lower().partition("e")
    return max(0, len(number.partition(".")[2]) - int(exponent or 0))


def _from_output(path: str, named: Measure | None) -> tuple[Measure, dict[str, str]]:
    """The measure and its values by query, as text, from the file of another tool."""
    source = open_source(path)
    cells = list(_cells(source))
    if not cells:
        eff = read_system_effectiveness(path)
        column = zip(eff.queries, eff.values[:, 0].tolist(), strict=True)
        cells = [(name, query, repr(row[m])) for query, row in column for m, name in enumerate(eff.measures)]
        if named is not None and eff.measures == ("effectiveness",):
            cells = [(str(named), query, text) for _, query, text in cells]
    known = {name: parsed for name in dict.fromkeys(name for name, _, _ in cells) if (parsed := _parsed(name))}
    if named is None:
        if len(set(known.values())) != 1:
            raise AdjudgeError(f"{path}: expected one measure, got {listed([*known] or ['none'], most=5)}; name one")
        named = next(iter(known.values()))
    found = {query: text for name, query, text in cells if known.get(name) == named}
    if not found:
        raise AdjudgeError(f"{path}: expected values of {named}, got {listed([*known] or ['none'], most=5)}")
    return named, found


def _parsed(name: str) -> Measure | None:
    try:
        return parse_measure(name)
    except AdjudgeError:
        return None


def _cells(source: Source) -> Iterator[tuple[str, str, str]]:
    """Measure, query and value of lines of trec_eval or ir_measures, or of JSON; nothing for other tables."""
    if is_json(source):
        lines = json_lines(source)
        yield from _json_cells(parse_json(source) if lines is None else [record for _, record in lines], source)
        return
    for line in source.uncommented().decode(errors="replace").splitlines():
        words = line.split()
        if len(words) == 2 and _parsed(words[0]) and _is_number(words[1]):
            yield words[0], MEAN, words[1]
        elif len(words) == 3 and _is_number(words[2]):
            first, second = map(_parsed, words[:2])
            if first or second:
                name, query = words[:2] if first else (words[1], words[0])
                yield name, query, words[2]


def _json_cells(content: Any, source: Source) -> Iterator[tuple[str, str, str]]:
    """``{query: {measure: value}}``, ``{measure: {query: value}}``, ``{measure: value}``, or records."""
    if isinstance(content, list):
        for record in content:
            if not isinstance(record, Mapping) or not {"measure", "value"} <= set(record):
                raise source.error("expected records with query_id, measure and value")
            yield str(record["measure"]), str(record.get("query_id", MEAN)), str(record["value"])
        return
    if isinstance(content.get("scores"), Mapping):  # a run of ranx
        content = content["scores"]
    for outer, inner in content.items():
        if not isinstance(inner, Mapping):
            yield str(outer), MEAN, str(inner)
            continue
        for key, number in inner.items():
            name, query = (outer, key) if _parsed(outer) and not _parsed(key) else (key, outer)
            yield str(name), str(query), str(number)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", text.lower()) is not None


@dataclass(frozen=True)
class _Data:
    """The run and the judgments as plain tables, and what they hold that conventions differ on."""

    run: pl.DataFrame
    judgments: pl.DataFrame
    scale: str | Scale | None

    @classmethod
    def of(cls, run: RunsLike, judgments: JudgmentsLike, scale: str | Scale | None) -> _Data:
        """Read both, the ranks of a TREC file included."""
        table = _frame(run, "runs").with_row_index("_line")
        if (n := table["system"].n_unique()) > 1:
            raise AdjudgeError(f"expected one run to explain, got {n} systems")
        judged = _frame(judgments, "judgments")
        collection = read(table.drop("_line", "_rank", strict=False), judged, scale=scale)
        return cls(table, judged, scale or collection.need_judgments().scale)

    def ranked(self, chosen: Mapping[str, Any]) -> pl.DataFrame:
        """The run in the order that the conventions give it; with scores where ties are to be averaged."""
        table = self.run
        if (keep := chosen.get("duplicates")) is not None:
            table = table.unique(["query", "document"], keep=keep, maintain_order=True)
        if "own" in chosen:
            table = table.filter(pl.col("query") != pl.col("document"))
        order, ties = chosen.get("order", "score"), chosen.get("ties", "descending")
        if "score" not in table.columns or order == "lines":
            return table.select("system", "query", "document")
        if order == "rank":
            return table.sort("_rank", "_line").select("system", "query", "document")
        key = pl.col("score") if chosen.get("precision") == "double" else pl.col("score").cast(pl.Float32)
        if ties == "expected":
            return table.select("system", "query", "document", "score")
        second = pl.col("_line") if ties == "lines" else pl.col("document")
        falls = [order == "score", ties == "descending"]
        return table.sort(key, second, descending=falls, maintain_order=True).select("system", "query", "document")

    def judged(self, chosen: Mapping[str, Any]) -> pl.DataFrame:
        """All judgments, or those of documents that the run retrieved."""
        if chosen.get("ideal from") != "retrieved":
            return self.judgments
        return self.judgments.join(self.run, on=["query", "document"], how="semi")


def _frame(given: Any, kind: Any) -> pl.DataFrame:
    """The plain table of a file or an object; TREC runs keep their ranks."""
    if kind == "judgments" and isinstance(given, str) and given.startswith(IR_DATASETS):
        given = records_of_dataset(given, [])
    if not isinstance(given, str) and not hasattr(given, "__fspath__"):
        return frame_from_object(given, kind, name="run")
    source = open_source(given)
    if kind == "runs" and pick(source, "runs") is FORMATS["trec"]:
        lines = read_run_lines(source, ranks=True).with_columns(pl.col("rank").cast(pl.Float64, strict=False))
        ranked = lines.rename({"rank": "_rank"}).drop("q0")
        return ranked.drop("_rank") if ranked["_rank"].null_count() else ranked
    return read_table(source, kind)[0]


_PARAMETER_CHANGES = (
    Change("discount", "log", "discount log2(rank + 1)"),
    Change("discount", "original", "discount log2(rank) from rank 2 on (the original DCG)"),
    Change("ideal", "judged", "normalised by the best order of the judged documents"),
    Change("ideal", "max", "normalised by documents of the highest grade"),
    Change("ideal", "none", "not normalised (the classic form)"),
    *(Change("p", p, f"p = {p:g}") for p in (0.5, 0.8, 0.9, 0.95)),
)


_COMMON = (  # what tools differ on, the most usual first; a cutoff is what people name themselves
    "queries", "gain", "ties", "own", "judged_only", "precision", "order", "duplicates", "rel", "depth", "rounding",
    "unit", "ideal", "discount", "ideal from", "p", "cutoff",
)  # fmt: skip


def _possible(data: _Data, measure: Measure) -> list[Change]:
    """The changes that can matter on these data, the most usual first."""
    found = (*_of_rankings(data, measure), *_of_measure(data, measure), *_of_judgments(data, measure), *_of_means(data))
    return sorted(found, key=lambda change: _COMMON.index(change.axis))


def _of_rankings(data: _Data, measure: Measure) -> Iterator[Change]:
    """How documents are ordered, and which of them count."""
    run = data.run
    if run.select("query", "document").is_duplicated().any():
        yield Change("duplicates", "first", "first line of a document that comes twice")
        yield Change("duplicates", "last", "last line of a document that comes twice")
    is_own = run["query"] == run["document"]
    if is_own.any() and not is_own.all():
        yield Change("own", "removed", "documents that are called as their query removed (BEIR)")
    if "score" in run.columns:
        single = pl.col("score").cast(pl.Float32)
        if run.select(pl.struct("query", single).is_duplicated().any()).item():
            yield Change("ties", "ascending", "ties by ascending identifier")
            yield Change("ties", "lines", "ties in the order of the file")
            yield Change("ties", "expected", "ties averaged over all orders")
        if run.select((single.cast(pl.Float64) != pl.col("score")).any()).item():
            yield Change("precision", "double", "scores in double precision")
        yield Change("order", "lines", "order of the file instead of scores")
        if "_rank" in run.columns:
            yield Change("order", "rank", "order of the rank column instead of scores")
        yield Change("order", "lowest", "lowest score first")
    longest = run.group_by("query").len()["len"].max()
    for depth in _DEPTHS:
        if measure.cutoff is None and isinstance(longest, int) and depth < longest:
            yield Change("depth", depth, f"rankings cut at {depth} documents")


def _of_measure(data: _Data, measure: Measure) -> Iterator[Change]:
    """Parameters of the measure; those that it does not have, or has already, are left out."""
    grades = sorted(grade for grade in data.judgments["grade"].unique().to_list() if grade > 0)
    now, k = dict(measure.parameters), measure.cutoff
    for change in (*_of_gains(grades), *_PARAMETER_CHANGES):
        if change.axis in now and str(now[change.axis]) != str(change.value):
            yield change
    for least in grades:
        if "rel" in now and least != (now["rel"] or grades[0]):
            yield Change("rel", least, f"relevant from grade {least:g} on")
    if measure.definition.cutoff:
        for cutoff in sorted({*_CUTOFFS, *((k - 1, k + 1) if k else ())} - {k, 0}):
            yield Change("cutoff", cutoff, f"cutoff {cutoff}")
        if k is not None:
            yield Change("cutoff", None, "no cutoff")


def _of_gains(grades: Sequence[float]) -> Iterator[Change]:
    """What grades are worth, where there are several."""
    if len(grades) < 2:
        return
    yield Change("gain", "linear", "gains equal to grades")
    yield Change("gain", "exp", "exponential gains (2^grade - 1)")
    for least in grades:
        table = "{" + ",".join(f"{number_text(grade)}:{int(grade >= least)}" for grade in grades) + "}"
        yield Change("gain", table, f"binary gains from grade {least:g} on")


def _of_judgments(data: _Data, measure: Measure) -> Iterator[Change]:
    """Which documents and judgments count."""
    unjudged = data.run.join(data.judgments, on=["query", "document"], how="anti")
    if unjudged.join(data.judgments, on="query", how="semi").height and not measure.judged_only:
        yield Change("judged_only", True, "unjudged documents removed (trec_eval -J)")
    if data.judgments.join(data.run, on=["query", "document"], how="anti").height:
        yield Change("ideal from", "retrieved", "judgments of retrieved documents only")


def _of_means(data: _Data) -> Iterator[Change]:
    """Which queries are averaged, and how numbers are written."""
    asked, judged = set(data.run["query"]), set(data.judgments["query"])
    relevant = set(data.judgments.filter(pl.col("grade") > 0)["query"])
    masks = {"judged": judged}
    for name, queries, words in (
        ("run", judged & asked, "mean over judged queries in the run (trec_eval without -c)"),
        ("relevant", relevant, "mean over queries with a relevant document"),
        ("run, relevant", relevant & asked, "mean over queries in the run with a relevant document"),
        ("all of the run", asked, "mean over all queries of the run (unjudged ones as 0)"),
    ):
        if queries and queries not in masks.values():
            masks[name] = queries
            yield Change("queries", name, words)
    yield Change("rounding", "down", "number cut off instead of rounded")
    yield Change("rounding", "each", "values per query rounded to 4 digits first")
    yield Change("unit", 100.0, "number in per cent")


_RANKING = ("duplicates", "own", "ties", "precision", "order", "depth", "ideal from")  # what makes another collection
_PARAMETERS = ("gain", "rel", "discount", "ideal", "p", "judged_only")


def _changed(measure: Measure, chosen: Mapping[str, Any]) -> Measure:
    """The measure with parameters and cutoff as chosen."""
    parameters = {name: chosen[name] for name in _PARAMETERS if name in chosen}
    changed = parse_measure(measure, **parameters)
    return replace(changed, cutoff=chosen["cutoff"]) if "cutoff" in chosen else changed


class _Evaluator:
    """Values per judged query under any conventions; each collection is built and evaluated once per batch."""

    def __init__(self, data: _Data, measure: Measure) -> None:
        self.data, self.measure = data, measure
        self.queries = data.judgments["query"].unique(maintain_order=True).to_list()
        self.asked = set(data.run["query"])
        self.relevant = set(data.judgments.filter(pl.col("grade") > 0)["query"])

    def values(self, sets: Sequence[tuple[Change, ...]]) -> list[Floats]:
        """A value per judged query for every set of changes."""
        groups: dict[tuple[Any, ...], dict[Measure, list[int]]] = {}
        for i, changes in enumerate(sets):
            chosen = {change.axis: change.value for change in changes}
            key = tuple((axis, chosen[axis]) for axis in _RANKING if axis in chosen)
            groups.setdefault(key, {}).setdefault(_changed(self.measure, chosen), []).append(i)
        found: list[Floats] = [np.zeros(0)] * len(sets)
        for key, wanted in groups.items():
            columns = self._evaluate(dict(key), list(wanted))
            for places, column in zip(wanted.values(), columns, strict=True):
                for i in places:
                    found[i] = column
        return found

    def _evaluate(self, chosen: Mapping[str, Any], measures: Sequence[Measure]) -> list[Floats]:
        run, judged = self.data.ranked(chosen), self.data.judged(chosen)
        if not judged.height:
            return [np.zeros(len(self.queries)) for _ in measures]
        precision = chosen.get("precision", "single")
        collection = read(run, judged, scale=self.data.scale, depth=chosen.get("depth"), score_precision=precision)
        ties: Any = "expected" if "score" in run.columns else "trec"
        eff = evaluate(collection, measures, ties=ties)
        place = {query: i for i, query in enumerate(eff.queries)}
        rows = np.array([place.get(query, -1) for query in self.queries])
        values = np.where(rows[:, None] >= 0, eff.values[rows, 0], 0.0)
        return [values[:, eff.measures.index(str(measure))] for measure in measures]

    def averaged(self, chosen: Mapping[str, Any]) -> tuple[Mask, int]:
        """Which judged queries the mean is over, and how many others count 0."""
        kind = chosen.get("queries", "judged")
        wanted = {
            "judged": set(self.queries),
            "run": self.asked,
            "relevant": self.relevant,
            "run, relevant": self.asked & self.relevant,
            "all of the run": self.asked,
        }[kind]
        mask = np.array([query in wanted for query in self.queries])
        return mask, len(self.asked - set(self.queries)) if kind == "all of the run" else 0


def _makes_sense(changes: Sequence[Change]) -> bool:
    """Whether no change takes away what another is about: ties are averaged in whole rankings, and only by score."""
    chosen = {change.axis: change.value for change in changes}
    by_score = chosen.get("order", "score") in ("score", "lowest")
    return "ties" not in chosen or (
        by_score and not (chosen["ties"] == "expected" and {"depth", "order"} & chosen.keys())
    )


def _search(data: _Data, measure: Measure, target: _Target, most: int) -> Explanations:
    """Try no change, then one, then two; stop where any set matches."""
    evaluator, possible = _Evaluator(data, measure), _possible(data, measure)
    if (target.mean is not None and abs(target.mean) <= 1) or not measure.bounded:
        possible = [change for change in possible if change.axis != "unit"]
    by_axis: dict[str, list[Change]] = {}
    for change in possible:
        by_axis.setdefault(change.axis, []).append(change)
    every: list[Explanation] = []
    for n in range(most + 1):
        sets = [
            chosen
            for axes in combinations(by_axis, n)
            for chosen in product(*(by_axis[axis] for axis in axes))
            if _makes_sense(chosen)
        ]
        every += [
            _explained(evaluator, changes, values, target)
            for changes, values in zip(sets, evaluator.values(sets), strict=True)
        ]
        if any(found.matches for found in every):
            break
    matching = [found for found in every if found.matches]
    rows = matching or sorted(every, key=lambda found: (-(found.queries_matched or 0), found.off))[:_NEAREST]
    same = _without_effect(evaluator, possible, matching, target)
    return Explanations(
        str(measure), target.mean, target.digits, len(target.queries), tuple(rows), bool(matching),
        len(every), _by_chance(every, target), same, every[0].value,
    )  # fmt: skip


def _explained(evaluator: _Evaluator, changes: tuple[Change, ...], values: Floats, target: _Target) -> Explanation:
    """How near a set of changes comes to the target."""
    chosen = {change.axis: change.value for change in changes}
    aim = target.scaled(1 / chosen["unit"]) if "unit" in chosen else target
    if chosen.get("rounding") == "each":
        values = np.round(values, 4)
    mask, extra = evaluator.averaged(chosen)
    count = int(mask.sum()) + extra
    mean = float(values[mask].sum() / count) if count else 0.0

    def distance(found: float, wanted: float) -> float:
        step = 10.0**-aim.digits
        return wanted - math.floor(found / step + 1e-9) * step if chosen.get("rounding") == "down" else wanted - found

    by_query = dict(zip(evaluator.queries, values.tolist(), strict=True))
    offs = [abs(distance(by_query.get(query, 0.0), wanted)) for query, wanted in aim.queries.items()]
    n_matched = sum(off <= aim.tolerance for off in offs)
    agrees = n_matched == len(offs)
    if aim.mean is not None:
        offs.append(abs(distance(mean, aim.mean)))
        agrees = agrees and offs[-1] <= aim.tolerance
    elif offs:  # the queries listed are those that the mean would be over
        listed_here = {query for query, inside in zip(evaluator.queries, mask, strict=True) if inside}
        agrees = agrees and listed_here == set(aim.queries) & set(evaluator.queries)
    measure = str(_changed(evaluator.measure, chosen))
    words = tuple(change.words for change in changes)
    return Explanation(measure, mean, max(offs), n_matched if aim.queries else None, words, agrees)


def _without_effect(
    evaluator: _Evaluator, possible: Sequence[Change], matching: Sequence[Explanation], target: _Target
) -> tuple[str, ...]:
    """Changes that, beside the first explanation, leave the match as it is: the data say nothing of them."""
    if not matching:
        return ()
    words = {change.words: change for change in possible}
    first = tuple(words[text] for text in matching[0].changes)
    others = [change for change in possible if change.axis not in {chosen.axis for chosen in first}]
    sets = [(*first, change) for change in others if _makes_sense((*first, change))]
    found = [
        _explained(evaluator, changes, values, target)
        for changes, values in zip(sets, evaluator.values(sets), strict=True)
    ]
    return tuple(changes[-1].words for changes, each in zip(sets, found, strict=True) if each.matches)


def _by_chance(every: Sequence[Explanation], target: _Target) -> float:
    """About how many sets match by chance: from how densely their other values lie around the number."""
    if target.mean is None or target.queries:
        return 0.0
    values = {round(found.value, 9) for found in every if not found.matches}
    near = sum(abs(value - target.mean) <= _WINDOW * target.tolerance for value in values)
    return near / _WINDOW
