"""A gate for pipelines: whether the new version of a system may replace the one in use.

Two questions can be asked of a new system, and a margin m says which loss is too small to matter. With d the mean
difference, new less base, on the queries that both have:

- ``require="not-shown-worse"``: fail where the new system is *shown to be worse*, d < -m. Without evidence it passes:
  false alarms are rare, and few queries let bad versions through.
- ``require="no-worse"``: pass only where the new system is *shown to be no worse*, d > -m (a test of non-inferiority).
  Without evidence it fails: bad versions rarely pass, and few queries stop good ones.

Both are one-sided paired tests of the new system against the base less the margin, at the level 1 - confidence, by any
paired test that :func:`adjudge.compare` has. By t they agree with the interval of d at the confidence 2 c - 1: its
upper end is below -m, or its lower end above. Where the p-values of k measures are corrected, intervals are at the
confidence 1 - 2 (1 - c) / k, so that by t and Holm's or Bonferroni's correction the gate of the first question fails
exactly where an interval lies below -m.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np

from adjudge.arrays import Floats
from adjudge.checks import NOT_NEGATIVE, POWER, RESAMPLES, SEED, Alternative, Between, checked
from adjudge.errors import AdjudgeError, ParameterError
from adjudge.formats.effectiveness import EFFECTIVENESS_LIKE, EffectivenessLike, as_effectiveness
from adjudge.model.effectiveness import Effectiveness
from adjudge.model.provenance import Provenance
from adjudge.registry import unknown
from adjudge.results import Column, Result
from adjudge.seeds import Seed, as_seed
from adjudge.stats.effects import effect_sizes, paired_moments
from adjudge.stats.multiple import CORRECTIONS
from adjudge.stats.paired import MEAN, PAIRED_TESTS
from adjudge.stats.power import MOST_QUERIES, detectable_difference, power, queries_needed
from adjudge.text import counted, listed, percent, shown_p
from adjudge.users.comparison import run_test

Require = Literal["not-shown-worse", "no-worse"]
GATE_CONFIDENCE = Between(0.5, 1, meaning="confidence that a failure, or a passing version, needs", metavar="C")
_RESAMPLES = 100_000
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class GateMeasure:
    """What the gate finds under one measure; p-values and intervals are corrected for the number of measures.

    ``p_worse`` is small where the new system is worse by more than the margin, ``p_no_worse`` where it is not.
    ``detectable`` and ``queries_needed`` are those of a t test with the spread that was observed, and not known where
    the difference is the same on every query.
    """

    measure: Annotated[str, Column("the measure", key=True)]
    base: Annotated[float, Column("mean of the system in use", ".4f")]
    new: Annotated[float, Column("mean of the new system", ".4f")]
    difference: Annotated[float, Column("new less base, with its interval", "+.4f", ends=("low", "high"))]
    low: Annotated[float, Column("lower end of its interval", "+.4f", shown=False)]
    high: Annotated[float, Column("upper end of its interval", "+.4f", shown=False)]
    p_worse: Annotated[float, Column("corrected p-value of being worse by more than the margin", "p", label="p worse")]
    p_no_worse: Annotated[
        float, Column("corrected p-value of not being worse by more than the margin", "p", label="p no worse")
    ]
    verdict: Annotated[Literal["worse", "no worse", "undecided"], Column("what is shown")]
    passed: Annotated[bool, Column("whether the gate lets it pass")]
    n_queries: Annotated[int, Column("queries that both systems have", "d", label="queries")]
    detectable: Annotated[float, Column("loss that is shown with the power asked for", ".4f", label="shows losses of")]
    queries_needed: Annotated[
        int | None,
        Column("queries that decide where these do not, if the difference is as observed", ",d", label="needs queries"),
    ]


@dataclass(frozen=True, repr=False)
class Gate(Result):
    """Whether a new system may replace the one in use, by measure, and what was asked."""

    base: str
    new: str
    n_queries_given: int
    measures: tuple[GateMeasure, ...]
    require: Require
    margin: float
    confidence: float
    power: float
    test: str
    correction: str
    notes: tuple[str, ...]
    provenance: Provenance

    row_type = GateMeasure
    rows_name = "measures"
    fact_names = (
        "passed", "base", "new", "n_queries_given", "require", "margin", "confidence", "power", "test", "correction",
    )  # fmt: skip

    def _rows(self) -> tuple[GateMeasure, ...]:
        return self.measures

    def __iter__(self) -> Iterator[GateMeasure]:
        return iter(self.measures)

    @property
    def passed(self) -> bool:
        """Whether every measure lets the new system pass."""
        return all(row.passed for row in self.measures)

    @property
    def title(self) -> str:
        """The verdict in a sentence."""
        n, given = min(row.n_queries for row in self.measures), counted(self.n_queries_given, "query")
        where = f"all {given}" if n == self.n_queries_given else f"the {n:,} of {given} that both have"
        if self.passed and all(row.difference == 0 and math.isnan(row.detectable) for row in self.measures):
            return f"PASSED: {self.new} has the same effectiveness as {self.base} on {where}."
        by = f" by more than {self.margin:g}" if self.margin else ""
        about = f"{self.base}{by}" if n == self.n_queries_given else f"{self.base}{by} on {where}"
        sure = f"with {percent(self.confidence)} confidence"
        shown = {row.verdict for row in self.measures}
        if "worse" in shown:
            said = f"is worse than {about}, {sure}"
        elif shown == {"no worse"}:
            said = f"is no worse than {about}, {sure}"
        elif self.require == "no-worse":
            said = f"may be worse than {about}: that is not ruled out {sure}"
        else:
            said = f"is not shown to be worse than {about}, {sure}, but may be"
        return f"{'PASSED' if self.passed else 'FAILED'}: {self.new} {said}."

    @property
    def _is_corrected(self) -> bool:
        return len(self.measures) > 1 and self.correction != "none"

    def _interval(self, noun: str = "interval") -> str:
        """What the intervals are."""
        level = 1 - 2 * _level(self.confidence, self.correction, len(self.measures))
        return f"{percent(round(level, 4))} {noun}{'' if self.test == 't' else ' by t'}"

    def sentence(self, row: GateMeasure) -> str:
        """The numbers of a measure in a line."""
        ends = f"{self._interval()} {row.low:+.4f} to {row.high:+.4f}"
        p = f"one-sided p{f' ({self.correction})' if self._is_corrected else ''}"
        return (
            f"{row.measure}: {row.base:.4f} -> {row.new:.4f}, difference {row.difference:+.4f} ({ends}); "
            f"{p}: {shown_p(row.p_worse)} (worse), {shown_p(row.p_no_worse)} (no worse); "
            f"{self.test} test, {counted(row.n_queries, 'query')}."
        )

    def outlook(self) -> str:
        """What these queries can show, and how many would decide where they do not."""
        n_queries = counted(min(row.n_queries for row in self.measures), "query")
        spread = [row for row in self.measures if not math.isnan(row.detectable)]
        losses = [f"{row.detectable:.4f} in {row.measure}" for row in spread]
        same = [row.measure for row in self.measures if row not in spread]
        needed = [
            f"{'more than ten million' if (n := row.queries_needed) is None else f'{n:,}'} by {row.measure}"
            for row in spread
            if row.verdict == "undecided"
        ]
        about = f"The difference in {listed(same)} is the same on all {n_queries}"
        said = {
            f"{n_queries} show a loss of {listed(losses)} with probability {self.power:g}.": spread,
            f"Queries that would decide, if the true difference is as observed: {listed(needed)}.": needed,
            f"{about}; what more would show is not known.": same,
        }
        return " ".join(sentence for sentence, is_said in said.items() if is_said)

    def lines(self) -> list[str]:
        """The verdict, the numbers of each measure, and what more queries would tell."""
        return [self.title, *map(self.sentence, self.measures), self.outlook()]

    def _notes(self) -> list[str]:
        correction = f", {self.correction} correction" if self._is_corrected else ""
        together = ", for all measures at once" if self._is_corrected else ""
        how = f"{self.test} test, one-sided{correction}; {self._interval('intervals')}{together}."
        return [how, self.outlook(), *self.notes]

    def _facts(self) -> dict[str, Any]:
        return {**super()._facts(), "lines": self.lines(), "provenance": self.provenance.to_dict()}

    def to_junit(self) -> str:
        """JUnit XML, a test case per measure, as GitHub, GitLab and Jenkins show it."""
        from xml.etree import ElementTree as Tree

        failures = str(sum(not row.passed for row in self.measures))
        counts = {"tests": str(len(self.measures)), "failures": failures, "errors": "0", "time": "0"}
        top = Tree.Element("testsuites", {"name": "adjudge gate", **counts})
        suite = Tree.SubElement(top, "testsuite", {"name": f"{self.new} against {self.base}", **counts, "skipped": "0"})
        for row in self.measures:
            case = Tree.SubElement(suite, "testcase", {"classname": "adjudge.gate", "name": row.measure, "time": "0"})
            if not row.passed:
                failure = Tree.SubElement(case, "failure", {"message": self.title, "type": row.verdict})
                failure.text = self.sentence(row)
            Tree.SubElement(case, "system-out").text = "\n".join((self.sentence(row), self.outlook(), *self.notes))
        Tree.indent(top)
        text = _NOT_XML.sub("\ufffd", Tree.tostring(top, encoding="unicode"))
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'

    def __repr__(self) -> str:
        return f"<Gate: {'passed' if self.passed else 'failed'}, {self.new} against {self.base}>"


@checked(
    eff=EFFECTIVENESS_LIKE,
    margin=NOT_NEGATIVE,
    require=Require,
    confidence=GATE_CONFIDENCE,
    power=POWER,
    resamples=RESAMPLES,
    seed=SEED,
)
def gate(
    eff: EffectivenessLike,
    *,
    base: str | None = None,
    new: str | None = None,
    margin: float = 0.0,
    require: Require = "not-shown-worse",
    confidence: float = 0.95,
    test: str = "t",
    correction: str | None = None,
    power: float = 0.8,
    resamples: int = _RESAMPLES,
    seed: Seed = 0,
) -> Gate:
    """Whether a ``new`` system may replace the ``base``: fail where it is worse, or not shown to be no worse.

    ``eff`` has one measure or several, or is a table. Of two systems, the first is the base where nothing else is said.
    ``margin`` is the largest loss in the mean that does not matter, in units of the measure.
    ``require="not-shown-worse"`` fails only where the new system is shown to be worse by more than the margin under
    some measure; ``"no-worse"`` passes only where it is shown not to be under every measure, and needs a margin above
    0. ``test`` is a paired test, one-sided.

    Where any measure can fail the gate, p-values get a ``correction`` for their number, Holm's if nothing else is said,
    so that a false alarm is as rare as ``confidence`` says, and intervals hold for all of them at once. Where every
    measure must be shown to be no worse, none is needed: passing by mistake then takes a mistake under the measure that
    is worse.

    ``queries_needed`` says how many queries decide with probability ``power`` if the true difference is the one
    observed; None where the verdict is clear, and where that is more than ten million.

    >>> import adjudge as aj
    >>> eff = aj.evaluate(aj.demo(), "CG@5").select(systems=["KLN2", "ZX1"])
    >>> gate = aj.gate(eff, margin=0.01)
    >>> gate.passed
    False
    >>> print(gate.lines()[0])
    FAILED: ZX1 is worse than KLN2 by more than 0.01, with 95 % confidence.
    """
    eff, seed = as_effectiveness(eff), as_seed(seed)
    if require == "no-worse" and margin == 0:
        raise ParameterError("require='no-worse' needs a 'margin' above 0: nobody can show a difference of exactly 0.")
    _ = PAIRED_TESTS[test]
    base, new = _names(eff, base, new)
    pair = eff.select(systems=[base, new])
    used = correction or ("holm" if require == "not-shown-worse" else "none")
    correct, alpha = CORRECTIONS[used], 1 - confidence
    level = _level(confidence, used, len(eff.measures))
    matrices = [pair.matrix(name) for name in pair.measures]

    def p_values(alternative: Alternative) -> Floats:
        """The new system against the base less the margin, under each measure."""
        how: dict[str, Any] = {"test": test, "alternative": alternative, "resamples": resamples, "seed": seed}
        shifted = [np.column_stack([each[:, 1], each[:, 0] - margin]) for each in matrices]
        return correct(np.array([run_test(each, (new, base), **how).of(new, base).p for each in shifted]))

    rows = tuple(
        _measured(name, matrix, p=p, margin=margin, require=require, alpha=alpha, level=level, wanted=power)
        for name, matrix, *p in zip(pair.measures, matrices, p_values("less"), p_values("greater"), strict=True)
    )
    estimand = PAIRED_TESTS[test].estimand
    about = () if estimand == MEAN else (f"The {test} test is about the {estimand}, not the mean.",)
    settings = {"require": require, "margin": margin, "confidence": confidence, "test": test, "correction": used}
    provenance = eff.provenance.with_settings(**settings, power=power, seed=seed)
    notes = (*eff.notes, *about)
    return Gate(base, new, eff.n_queries, rows, require, margin, confidence, power, test, used, notes, provenance)


def _level(confidence: float, correction: str, n_measures: int) -> float:
    """The level of a one-sided test of one measure among several: Bonferroni's where p-values are corrected."""
    return (1 - confidence) / (1 if correction == "none" else n_measures)


def _names(eff: Effectiveness, base: str | None, new: str | None) -> tuple[str, str]:
    """The two systems: those named, or the only two in their order."""
    for name in (base, new):
        if name is not None and name not in eff.systems:
            raise unknown("system", name, eff.systems)
    if base is not None and base == new:
        raise AdjudgeError(f"a gate compares two systems, got {base!r} twice")
    others = [name for name in eff.systems if name not in (base, new)]
    wanted = (base is None) + (new is None)
    if wanted and len(others) != wanted:
        raise AdjudgeError(f"a gate compares two systems, got {len(eff.systems)}; name 'base' and 'new'")
    rest = iter(others)
    return base if base is not None else next(rest), new if new is not None else next(rest)


def _measured(
    name: str,
    matrix: Floats,
    *,
    p: Sequence[float],
    margin: float,
    require: Require,
    alpha: float,
    level: float,
    wanted: float,
) -> GateMeasure:
    """What is shown under a measure; ``level`` is that of a single test among several."""
    both = np.isfinite(matrix).all(axis=1)
    effect = effect_sizes(matrix[:, ::-1], confidence=1 - 2 * level, systems=("new", "base")).of("new", "base")
    sd = float(paired_moments(matrix, ("base", "new")).sd[0, 1])
    verdict: Any = "worse" if p[0] <= alpha else "no worse" if p[1] <= alpha else "undecided"
    return GateMeasure(
        measure=name,
        base=float(matrix[both, 0].mean()),
        new=float(matrix[both, 1].mean()),
        difference=effect.difference,
        low=effect.low,
        high=effect.high,
        p_worse=float(p[0]),
        p_no_worse=float(p[1]),
        verdict=verdict,
        passed=verdict != "worse" if require == "not-shown-worse" else verdict == "no worse",
        n_queries=effect.n_queries,
        detectable=margin + sd * _detectable_effect(effect.n_queries, level, wanted) if sd else math.nan,
        queries_needed=_needed(abs(effect.difference + margin), sd, level, wanted) if verdict == "undecided" else None,
    )


@lru_cache
def _detectable_effect(n_queries: int, level: float, wanted: float) -> float:
    """The difference that a t test shows, in standard deviations of the differences; the same for many pairs."""
    return float(detectable_difference(1.0, n_queries, alpha=level, power=wanted, alternative="greater"))


def _needed(distance: float, sd: float, level: float, wanted: float) -> int | None:
    """Queries that show a distance from the margin; None where there is none, or where no collection has as many."""
    if 0 in (distance, sd) or float(power(distance, sd, MOST_QUERIES, alpha=level, alternative="greater")) < wanted:
        return None
    return int(queries_needed(distance, sd, alpha=level, power=wanted, alternative="greater"))
