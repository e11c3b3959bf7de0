"""Influence: how the conclusions of a study change without each participant, and with the answers that were set aside.

Three conclusions are looked at: the difference that more than half of the people notice, the probability that somebody
is satisfied with a list of medium effectiveness, and which measure on which scale explains answers best: whose own
curve makes them likeliest, among answers that all of them can score. (Which predicts *unseen* answers best is the
question of :mod:`adjudge.preferences.curves`.) Everything is fitted again without each participant, exactly;
nothing is approximated by derivatives.

Curves of everybody but one: fitted again without each participant, many of them at once.

Answers count by effectiveness (or its difference) and what was answered, which is all that a curve sees. So the counts
without a participant are those of all minus theirs, and steps from the curve of all are taken for many participants
together. What comes out is the maximum of the likelihood of the others, as ``fit_agreement`` and ``fit_satisfaction``
find it, not an approximation to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError
from adjudge.preferences.curves import has_several_sizes
from adjudge.preferences.questions import Combination
from adjudge.preferences.study import Evidence, Study, evidence, judged_by_all
from adjudge.results import Column, Result
from adjudge.tables import Table
from adjudge.text import counted, listed, number
from adjudge.users.curves import TINY
from adjudge.users.noticing import FORMS, fit_agreement, noticeable_differences

_STEP = 1e-5  # of numerical derivatives
_STEPS = 200
_ENOUGH, _CLOSE = 1e-10, 1e-7  # log-likelihood still to be gained, and how far parameters still move, at the end
_STUCK = 1e9  # damping beyond which nothing moves
_CELLS = 2_000_000  # numbers in memory for one part of the participants
_AT_ONCE = 64


@dataclass(frozen=True)
class CurvesWithout:
    """Parameters and log-likelihood of the curve of all, and of the curve without each participant.

    ``own`` is the mean log-likelihood of each participant's own answers under the curve of the others, NaN where they
    have none.
    """

    form: str
    parameters: Floats
    log_likelihood: float
    parameters_without: Floats
    log_likelihood_without: Floats
    own: Floats

    def noticeable(self, level: float = 0.5) -> tuple[float, Floats]:
        """The difference that more than ``level`` of the people notice: of all, and without each; NaN where none."""
        both = np.concatenate([self.parameters[None], self.parameters_without])
        found = noticeable_differences(FORMS[self.form], both, level=level)
        return float(found[0]), found[1:]


def curves_without(
    delta: Floats, answer: Ints, participant: Ints, n_participants: int, *, form: str = "two-stage"
) -> CurvesWithout:
    """Fit the agreement curve of all answers, then that without each participant.

    ``delta`` and ``answer`` are as :func:`~adjudge.users.noticing.fit_agreement` takes them, ``participant`` says
    whose each answer is. Where somebody gave no answers, or all of them, the curve of all stays.
    """
    fit = fit_agreement(delta, answer, form=form)
    family = FORMS[form]
    kind = np.where(answer == 0, 1, np.where((answer > 0) == (delta >= 0), 0, 2))

    def shares(sizes: Floats, parameters: Floats) -> Floats:
        agree, disagree = family.function(sizes[None, :], *(column[:, None] for column in parameters.T))
        return np.stack([agree, 1.0 - agree - disagree, disagree], axis=-1)

    curves = _Curves(shares, np.array(family.lowest), np.array(family.highest), 3)
    found, total, own = _leave_out(curves, np.abs(delta), kind, participant, n=n_participants, start=fit.parameters)
    total[np.isnan(total)] = fit.log_likelihood
    return CurvesWithout(form, fit.parameters, fit.log_likelihood, found, total, own)


def satisfaction_without(
    effectiveness: Floats, satisfied: Ints, participant: Ints, n_participants: int, *, kind: str = "bounded"
) -> tuple[Floats, Floats]:
    """Parameters of the satisfaction curve of all ties or lists, and of that without each participant.

    ``effectiveness`` and ``satisfied`` are as :func:`~adjudge.users.satisfaction.fit_satisfaction` takes them.
    With pairs the weight of the better list is the last parameter.
    """
    from adjudge.users.satisfaction import MONOTONE, fit_satisfaction, satisfaction_model

    family = MONOTONE[kind]
    fit = fit_satisfaction(effectiveness, satisfied, kind=kind)

    def shares(values: Floats, parameters: Floats) -> Floats:
        columns = [column[:, None] for column in parameters.T]
        at = values[None, :]
        if values.ndim > 1:
            weight = columns.pop()
            at = weight * values[:, 1] + (1.0 - weight) * values[:, 0]
        good = family.function(at, *columns)
        return np.stack([1.0 - good, good], axis=-1)

    model = satisfaction_model(kind, pairs=fit.weight is not None)
    curves = _Curves(shares, np.array(model.lowest), np.array(model.highest), 2, half_at_ends=True)
    values = np.clip(effectiveness, 0.0, 1.0)
    if values.ndim > 1:
        values = np.sort(values, axis=1)
    found, _, _ = _leave_out(curves, values, satisfied, participant, n=n_participants, start=fit.parameters)
    return fit.parameters, found


@dataclass(frozen=True)
class _Curves:
    """Many curves of one family: (values, parameters of each) -> curves x values x outcomes.

    ``half_at_ends``: each fit also sees half an answer of every outcome at 0 and at 1 (a quarter with pairs), as
    ``fit_satisfaction`` does.
    """

    shares: Callable[[Floats, Floats], Floats]
    lowest: Floats
    highest: Floats
    outcomes: int
    half_at_ends: bool = False


def _leave_out(
    curves: _Curves, x: Floats, outcome: Ints, participant: Ints, *, n: int, start: Floats
) -> tuple[Floats, Floats, Floats]:
    """Parameters and log-likelihood without each participant, and the mean log-likelihood of their own answers."""
    ends = np.broadcast_to([0.0, 1.0], (*x.shape[1:], 2)).T if curves.half_at_ends else x[:0]
    values, place = np.unique(np.concatenate([x, ends]), axis=0, return_inverse=True)
    place = place.ravel()[: len(x)]
    n_cells = curves.outcomes * len(values)
    cell = place * curves.outcomes + outcome
    all_counts = np.bincount(cell, minlength=n_cells).astype(np.float64)
    parameters, likelihood, own_mean = np.tile(start, (n, 1)), np.full(n, np.nan), np.full(n, np.nan)
    given = np.bincount(participant, minlength=n)
    for some in _parts(np.flatnonzero((given > 0) & (given < len(x))), n_cells):
        own = _counts(cell, participant, some, n_cells)
        shape = len(some), len(values), curves.outcomes
        others = (all_counts - own).reshape(shape)
        seen = others.copy()
        if curves.half_at_ends:
            seen[:, [0, -1]] += 0.5 / x.ndim
        parameters[some] = _maxima(curves, values, seen, np.tile(start, (len(some), 1)))
        logs = np.log(np.maximum(curves.shares(values, parameters[some]), TINY))
        likelihood[some] = (others * logs).sum(axis=(1, 2))
        own_mean[some] = (own.reshape(shape) * logs).sum(axis=(1, 2)) / given[some]
    return parameters, likelihood, own_mean


def _parts(places: Ints, n_cells: int) -> Iterator[Ints]:
    width = max(1, min(_AT_ONCE, _CELLS // n_cells))
    for start in range(0, len(places), width):
        yield places[start : start + width]


def _counts(cell: Ints, participant: Ints, some: Ints, n_cells: int) -> Floats:
    """How often each of some participants gave each answer at each value: participants x cells."""
    place = np.full(int(participant.max()) + 1, -1)
    place[some] = np.arange(len(some))
    row = place[participant]
    inside = row >= 0
    flat = np.bincount(row[inside] * n_cells + cell[inside], minlength=len(some) * n_cells)
    return flat.reshape(len(some), n_cells).astype(np.float64)


def _maxima(curves: _Curves, values: Floats, counts: Floats, start: Floats) -> Floats:
    """Fisher scoring for all curves at once, each with its own damping; parameters stay within their bounds."""

    def total(parameters: Floats, rows: Ints) -> Floats:
        shares = np.maximum(curves.shares(values, parameters), TINY)
        found: Floats = (counts[rows] * np.log(shares)).sum(axis=(1, 2))
        return found

    at, damping = start.copy(), np.full(len(start), 1e-9)
    best = total(at, np.arange(len(at)))
    rows = np.arange(len(at))
    for _ in range(_STEPS):
        step = _scoring(curves, values, counts[rows], at[rows], damping[rows])
        tried = np.clip(at[rows] + step, curves.lowest, curves.highest)
        reached = total(tried, rows)
        good = reached >= best[rows]
        done = good & (reached - best[rows] <= _ENOUGH) & (np.abs(tried - at[rows]).max(axis=1) < _CLOSE)
        at[rows[good]], best[rows[good]] = tried[good], reached[good]
        damping[rows] = np.where(good, np.maximum(damping[rows] / 10, 1e-9), damping[rows] * 10)
        rows = rows[~done & (damping[rows] < _STUCK)]
        if not len(rows):
            break
    return at


def _scoring(curves: _Curves, values: Floats, counts: Floats, at: Floats, damping: Floats) -> Floats:
    """A step of each curve: (I + μ diag I)⁻¹ s, without the parameters that their bounds hold."""
    shares = np.maximum(curves.shares(values, at), TINY)
    widths = _STEP * np.maximum(1.0, np.abs(at))
    slopes = np.empty((at.shape[1], *shares.shape))
    for i, move in enumerate(np.eye(at.shape[1])):
        ahead, behind = (curves.shares(values, at + sign * widths * move) for sign in (1.0, -1.0))
        slopes[i] = (ahead - behind) / (2 * widths[:, i, None, None])
    score = np.einsum("igvk,gvk->gi", slopes, counts / shares)
    weighted = slopes * np.sqrt(counts.sum(axis=2, keepdims=True) / shares)
    information = np.einsum("igvk,jgvk->gij", weighted, weighted)
    held = ((at <= curves.lowest) & (score < 0)) | ((at >= curves.highest) & (score > 0))
    information[held[:, :, None] | held[:, None, :]] = 0.0
    diagonal = np.einsum("gii->gi", information)
    diagonal += damping[:, None] * diagonal + 1e-12 * diagonal.max(axis=1, keepdims=True) + TINY + held
    step: Floats = np.linalg.solve(information, np.where(held, 0.0, score)[:, :, None])[:, :, 0]
    return step


Pair = tuple[str, str]
"""A measure and a scale, as they print themselves."""

MEDIUM = 0.5
"""The effectiveness at which satisfaction is looked at."""

_FEWEST = 2  # answers that a curve can be fitted to


@dataclass(frozen=True)
class InfluenceRow:
    """The conclusions without one participant: NaN or empty where there is none.

    ``noticeable_change`` and ``satisfied_change`` are how much lower or higher they are without than with.
    """

    participant: Annotated[str, Column("who is left out", label="without", key=True)]
    answers: Annotated[int, Column("their answers that count", ",d")]
    noticeable: Annotated[float, Column("noticeable difference without them", ".2f")]
    noticeable_change: Annotated[float, Column("how much higher that is than with them", "+.2f", shown=False)]
    satisfied: Annotated[float, Column("P(Sat) at medium effectiveness without them", ".2f", label="P(Sat)")]
    satisfied_change: Annotated[float, Column("how much higher that is than with them", "+.2f", shown=False)]
    best: Annotated[str, Column("the combination that explains answers best without them", shown=False)]


@dataclass(frozen=True)
class Conclusions:
    """What a study says: the noticeable difference, P(Sat) at medium effectiveness, the best combination."""

    answers: int
    noticeable: float
    satisfied: float
    best: str


@dataclass(frozen=True, repr=False)
class Influence(Result):
    """What changes without each participant.

    ``of_all`` are the conclusions as they stand, ``with_aside`` those with the answers that are set aside put back in
    (None where none are). ``rows`` are in the order of the study's participants; who has no answers that count changes
    nothing.
    """

    measure: str
    scale: str
    combinations: tuple[Pair, ...]
    of_all: Conclusions
    with_aside: Conclusions | None
    rows: tuple[InfluenceRow, ...]

    def largest(self) -> InfluenceRow | None:
        """The row whose noticeable difference changes most; None where none is known."""
        known = [row for row in self.rows if np.isfinite(row.noticeable_change)]
        return max(known, key=lambda row: abs(row.noticeable_change), default=None)

    def sentences(self) -> list[str]:
        """What a reader should know, most important first."""
        said = (self._noticeable(), self._satisfied(), self._best(), self._aside())
        return [sentence for sentence in said if sentence]

    def _noticeable(self) -> str:
        row = self.largest()
        if sum(one.answers > 0 for one in self.rows) == 1:
            return "One participant gave all the answers that count, so that everything hangs on them."
        gone = [one.participant for one in self.rows if np.isnan(one.noticeable) and one.answers]
        if np.isnan(self.of_all.noticeable):
            some = (
                f", though without {listed(self._appears(), 'or', most=3, more='others')} there would be"
                if self._appears()
                else ""
            )
            return f"No difference in {self.measure} on {self.scale} is noticed by more than half of the people{some}."
        if row is None:
            return ""
        lost = (
            f" Without {listed(gone, 'or', most=3, more='others')} no difference would be noticed by more than half."
            if gone
            else ""
        )
        if number(row.noticeable) == number(self.of_all.noticeable):
            return (
                f"The noticeable difference in {self.measure} on {self.scale}, {number(self.of_all.noticeable)}, "
                f"does not hang on anybody: without any one participant it stays the same to two digits.{lost}"
            )
        return (
            f"Without {row.participant} the noticeable difference in {self.measure} on {self.scale} would be "
            f"{number(row.noticeable)} instead of {number(self.of_all.noticeable)}, the largest change that "
            f"any one participant makes.{lost}"
        )

    def _appears(self) -> list[str]:
        return [row.participant for row in self.rows if np.isfinite(row.noticeable) and row.answers]

    def _satisfied(self) -> str:
        known = [row for row in self.rows if np.isfinite(row.satisfied_change) and row.answers]
        if len(known) < 2:
            return ""
        row = max(known, key=lambda one: abs(one.satisfied_change))
        now, then = number(self.of_all.satisfied), number(row.satisfied)
        if now == then:
            return f"P(Sat) at {MEDIUM:g} is {now} without any one of them, too."
        return f"P(Sat) at {MEDIUM:g} would be {then} instead of {now} without {row.participant}."

    def _best(self) -> str:
        if len(self.combinations) < 2 or sum(row.answers > 0 for row in self.rows) < 2:
            return ""
        others = [row for row in self.rows if row.answers and row.best != self.of_all.best]
        if not others:
            return f"{self.of_all.best} explains answers best, whoever is left out."
        named = listed([row.participant for row in others], "or", most=3, more="others")
        return f"{self.of_all.best} explains answers best; without {named} {others[0].best} would."

    def _aside(self) -> str:
        if self.with_aside is None:
            return ""
        more = self.with_aside.answers - self.of_all.answers
        told = f"With the {more:,} answers that are set aside put back in"
        now, then = number(self.of_all.noticeable), number(self.with_aside.noticeable)
        sat = f"P(Sat) at {MEDIUM:g} {number(self.with_aside.satisfied)} instead of {number(self.of_all.satisfied)}"
        return f"{told} the noticeable difference would be {then} instead of {now}, and {sat}."

    row_type = InfluenceRow
    rows_name = "influence"

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return f"What changes without each participant, {self.measure} on {self.scale}"

    def _facts(self) -> dict[str, Any]:
        aside = None if self.with_aside is None else asdict(self.with_aside)
        return {"measure": self.measure, "scale": self.scale, "of_all": asdict(self.of_all), "with_aside": aside}

    def _notes(self) -> list[str]:
        return self.sentences()

    def table(self, *, digits: int | None = None) -> Table:
        """Everybody's answers, then what changes without each participant, the largest change first."""
        order = np.argsort([-np.nan_to_num(abs(row.noticeable_change)) for row in self.rows], kind="stable")
        table = super().table(digits=digits).take(order.tolist())
        everybody = InfluenceRow(
            "nobody", self.of_all.answers, self.of_all.noticeable, 0.0, self.of_all.satisfied, 0.0, ""
        )
        columns = [column for column in self.columns if column.shown]
        first = [column.text(getattr(everybody, column.name), digits=digits) for column in columns]
        return replace(table, rows=[first, *table.rows])

    def __repr__(self) -> str:
        return f"<Influence: {counted(len(self.rows), 'participant')}, {self.measure} on {self.scale}>"


def influence(
    study: Study,
    *,
    measure: str | None = None,
    scale: str | None = None,
    combinations: Iterable[Combination | Pair | str] = (),
    form: str = "two-stage",
    level: float = 0.5,
) -> Influence:
    """The conclusions of a study without each participant; traps never count, answers set aside only where said.

    - the noticeable difference: where the agreement curve (``form``) fitted to ``measure`` on ``scale`` exceeds
      ``level``;
    - P(Sat | λ = 0.5): the monotone curve (``bounded``) fitted to the ties;
    - the best of ``combinations``: under whose own curve the answers that all of them can score are likeliest.

    ``measure`` and ``scale`` default to the first combination, else to CG on the finest scale that there are grades on.
    A study that does not know who answered what has no such thing and is refused.
    """
    _check(study)
    wanted = [_pair(one) for one in combinations]
    first = wanted[0] if wanted and measure is None and scale is None else default_combination(study, measure, scale)
    all_of_them = tuple(dict.fromkeys([first, *wanted]))
    counted = study.counted()
    noticeable, satisfied, best = _without(counted, first, all_of_them, form, level)
    names = [f"{m} on {s}" for m, s in all_of_them]
    given = np.bincount(counted.participant, minlength=len(study.participants))
    of_all = Conclusions(len(counted), noticeable[0], satisfied[0], names[int(best[0])])
    rows = tuple(
        InfluenceRow(
            name,
            int(given[i]),
            noticeable[i + 1],
            noticeable[i + 1] - noticeable[0],
            satisfied[i + 1],
            satisfied[i + 1] - satisfied[0],
            names[int(best[i + 1])],
        )
        for i, name in enumerate(study.participants)
    )
    return Influence(*first, all_of_them, of_all, _put_back(study, first, all_of_them, form, level), rows)


def _check(study: Study) -> None:
    where = f"{study.source}: " if study.source else ""
    if not study.knows_participants:
        raise AdjudgeError(f"{where}expected answers that say whose they are, got none that do")
    if len(study.counted()) < _FEWEST:
        raise AdjudgeError(f"{where}expected {_FEWEST} answers or more that count, got {len(study.counted())}")


def _pair(given: Combination | Pair | str) -> Pair:
    made = given if isinstance(given, Combination) else Combination.parse(given) if isinstance(given, str) else None
    one = made or Combination(*given)  # type: ignore[misc]
    return one.measure, one.scale


def default_combination(study: Study, measure: str | None = None, scale: str | None = None) -> Pair:
    """As asked, else CG at the length of the lists, on Fine grades where there are any, on the first scale if not."""
    scales = list(study.questions.grades)
    if not scales:
        raise AdjudgeError("expected questions with grades, got questions without")
    return _pair((measure or f"CG@{study.questions.n_ranks}", scale or ("fine" if "fine" in scales else scales[0])))


def _put_back(study: Study, first: Pair, combinations: Sequence[Pair], form: str, level: float) -> Conclusions | None:
    """The conclusions from all answers, those set aside too."""
    if not bool((study.set_aside & ~study.trap).any()):
        return None
    everything = study.with_aside().counted()
    noticeable, satisfied, best = _without(everything, first, combinations, form, level, each=False)
    return Conclusions(len(everything), noticeable[0], satisfied[0], " on ".join(combinations[int(best[0])]))


def _without(
    counted: Study,
    first: Pair,
    combinations: Sequence[Pair],
    form: str,
    level: float,
    *,
    each: bool = True,
) -> tuple[list[float], list[float], Ints]:
    """Noticeable difference, P(Sat) and best combination: of all answers, then without each participant."""
    n = len(counted.participants) if each else 0
    seen = _seen(counted, first)
    found = _curves(seen, n, form)
    now, changed = found.noticeable(level)
    noticeable = [now, *changed[:n].tolist()] if has_several_sizes(seen.delta) else [np.nan] * (n + 1)
    best = _best(counted, combinations, n, form) if len(combinations) > 1 else np.zeros(n + 1, dtype=np.int64)
    return noticeable, satisfied_without(seen, n=n), best


def _seen(counted: Study, one: Pair) -> Evidence:
    seen = evidence(counted, *one)
    if len(seen.delta) < _FEWEST:
        wanted = f"{_FEWEST} answers or more to lists that are judged"
        raise AdjudgeError(f"{' on '.join(one)}: expected {wanted}, got {len(seen.delta)}")
    return seen


def _curves(seen: Evidence, n: int, form: str) -> CurvesWithout:
    """The curve of all, and of all but each of n participants."""
    who = seen.participant if n else np.zeros(len(seen.delta), dtype=np.int64)
    return curves_without(seen.delta, seen.prefers, who, max(n, 1), form=form)


def _best(counted: Study, combinations: Sequence[Pair], n: int, form: str) -> Ints:
    """Place of the combination that makes the answers that all can score likeliest: of all, then without each."""
    common = counted.select(judged_by_all(counted, combinations))
    if len(common) < _FEWEST:
        raise AdjudgeError(f"expected {_FEWEST} answers or more that all combinations can score, got {len(common)}")
    found = [_curves(evidence(common, *one), n, form) for one in combinations]
    likelihoods = [[one.log_likelihood, *one.log_likelihood_without[:n]] for one in found]
    best: Ints = np.argmax(np.array(likelihoods), axis=0)
    return best


def satisfied_without(seen: Evidence, *, n: int, kind: str = "bounded") -> list[float]:
    """P(Sat) at medium effectiveness: of all, then without each of n participants; NaN where no curve can be fitted."""
    from adjudge.users.satisfaction import MONOTONE

    if len(np.unique(seen.answer)) < _FEWEST:
        return [np.nan] * (n + 1)
    who = seen.participant[seen.answer] if n else np.zeros(len(seen.lists), dtype=np.int64)
    all_, without = satisfaction_without(seen.lists, seen.good, who, max(n, 1), kind=kind)
    curve = MONOTONE[kind]
    medium = np.array([MEDIUM])
    n_own = len(curve.parameters)  # without the weight of the better list
    return [float(curve(medium, parameters[:n_own])[0]) for parameters in (all_, *without[:n])]
