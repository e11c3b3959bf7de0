"""Every study fails when something is wrong: a sign turned, a term dropped, two systems swapped.

Each test breaks one thing in Adjudge, runs the study that should notice, and sees a number outside its bound. That a
study passes with nothing broken is seen beside it, with the same few trials or sessions, or in test_page.py.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from papers.claims import Claim
from papers.data import Data
from papers.judged import MEASURES, collection
from papers.reliability import MEASURES as WRITTEN
from papers.significance import LEVELS
from papers.studies import Effort

from adjudge.arrays import Floats
from adjudge.experiments import Optimality
from adjudge.experiments.optimality import OptimalityFindings
from adjudge.experiments.run import run_experiment
from adjudge.experiments.samples import samples_of, strata_of
from adjudge.groundtruth import comparisons
from adjudge.measures import gains
from adjudge.model.effectiveness import Effectiveness
from adjudge.preferences import study as seen
from adjudge.preferences.study import BAD
from adjudge.relevance import estimators, models
from adjudge.relevance.features import uniform_moments
from adjudge.relevance.models import Ordinal
from adjudge.stats import power as sizes
from adjudge.stats.gtheory.dstudy import errors
from adjudge.users import combinations
from papers import STUDIES, absolute, distributions, judging, minimal, power, reliability, significance

Patch = pytest.MonkeyPatch
Mutation = Callable[[Patch], None]
ALONE = Effort(quick=True, workers=1)


@pytest.fixture(scope="module")
def data(shared_data: Path) -> Data:
    """Read for these tests alone: what is broken may be kept in it."""
    return Data(shared_data)


@pytest.fixture(autouse=True)
def _forget_measures() -> Iterator[None]:
    """What was found out about measures while they were broken is not kept for other tests."""
    yield
    for function in vars(combinations).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def failures(claims: Iterable[Claim]) -> list[str]:
    return [f"{claim.source}, {claim.what}: {claim.ours}" for claim in claims if claim.verdict == "fails"]


# What is broken


def users_are_turned_around(patch: Patch) -> None:
    users = importlib.import_module("adjudge.users.satisfaction")  # the package has a function of that name
    right = users.p_satisfied
    patch.setattr(users, "p_satisfied", lambda k, n, p: right(k, n, 1 - np.asarray(p)))


def the_test_has_two_sides(patch: Patch) -> None:
    right = sizes.detectable_difference
    patch.setattr(
        sizes, "detectable_difference", lambda *given, **more: right(*given, **(more | {"alternative": "two-sided"}))
    )


def nothing_is_discounted(patch: Patch) -> None:
    patch.setattr(gains, "discounts", lambda n, discount, base: np.ones(n))


def two_systems_are_swapped(patch: Patch) -> None:
    """For half of the queries, the best and the worst."""
    right = Data.effectiveness

    def swapped(self: Data, *given: Any, **more: Any) -> Effectiveness:
        eff = right(self, *given, **more)
        values = eff.values.copy()  # systems, queries, measures
        order = np.argsort(values[:, :, 0].mean(axis=1))
        a, b = int(order[0]), int(order[-1])
        half = values.shape[1] // 2
        values[[a, b], :half] = values[[b, a], :half]
        object.__setattr__(eff, "values", values)
        return eff

    patch.setattr(Data, "effectiveness", swapped)


def errors_forget_queries(patch: Patch) -> None:
    """Absolute errors have the terms of relative ones."""
    patch.setattr(reliability, "errors", lambda *given, absolute: errors(*given, absolute=False))


def answers_alike_do_not_count(patch: Patch) -> None:
    right = comparisons.sign_tests
    patch.setattr(comparisons, "sign_tests", lambda wins, alike, ties: right(wins, np.zeros_like(alike)))


def preferences_are_turned_around(patch: Patch) -> None:
    right = comparisons.sign_tests
    patch.setattr(comparisons, "sign_tests", lambda wins, alike, ties: right(wins.T, alike))


def the_worse_list_is_preferred(patch: Patch) -> None:
    patch.setattr(seen.Evidence, "agrees", property(lambda self: -self.prefers * np.sign(self.delta).astype(np.int64)))


def good_is_bad(patch: Patch) -> None:
    patch.setattr(seen, "GOOD", BAD)


def relevance_is_upside_down(patch: Patch) -> None:
    right = Ordinal.moments

    def turned(self: Ordinal, *given: Any) -> tuple[Floats, Floats]:
        mean, variance = right(self, *given)
        return 1 - mean, variance

    patch.setattr(Ordinal, "moments", turned)


def a_term_is_dropped(patch: Patch) -> None:
    """M_out without its interaction of systems and overlap."""
    effects = models._EFFECTS
    patch.setitem(effects, ("fine", "output"), effects["fine", "output"] | {"fSYS:OV": 0.0})


def every_grade_is_known_too_well(patch: Patch) -> None:
    """The variance of a grade that is as likely as any other loses a half."""
    patch.setattr(
        estimators, "uniform_moments", lambda scale: (uniform_moments(scale)[0], uniform_moments(scale)[1] / 2)
    )


# Studies that run in a moment, as they are

CHEAP: list[tuple[str, Mutation]] = [
    ("examples", users_are_turned_around),
    ("examples", the_test_has_two_sides),
    ("reliability", nothing_is_discounted),
    ("reliability", two_systems_are_swapped),
    ("reliability-printed", errors_forget_queries),
    ("partial-lists", answers_alike_do_not_count),
    ("partial-lists", preferences_are_turned_around),
    ("listeners", the_worse_list_is_preferred),
    ("listeners", good_is_bad),
    ("satisfaction", nothing_is_discounted),
    ("satisfaction", good_is_bad),
    ("unjudged", relevance_is_upside_down),
    ("unjudged", a_term_is_dropped),
]


@pytest.mark.parametrize(("name", "mutation"), CHEAP, ids=lambda one: one if isinstance(one, str) else one.__name__)
def test_a_study_fails_when_something_is_broken(data: Data, monkeypatch: Patch, name: str, mutation: Mutation) -> None:
    mutation(monkeypatch)
    assert failures(STUDIES[name].run(data, ALONE).claims)


# Studies with trials and sessions, with few of them


def power_numbers(data: Data) -> Iterator[Claim]:
    eff = data.effectiveness(list(power.MEASURES.values()))
    samples = samples_of(eff, scale="fine", strata=strata_of(data.mirex2011, "genre"))
    powers, stabilities = power.run_both(samples, 3, ALONE, sizes=(70,), halves=(50,))
    yield from power.power_claims(powers)
    yield from power.stability_claims(stabilities)


def judging_numbers(data: Data) -> Iterator[Claim]:
    """One order of ties for DCG, where no two documents weigh the same."""
    judged = collection(data)
    stops = {"DCG_l": [judging._simulate(judging._Job(judged, MEASURES["DCG_l"], 0, to_the_end=False)).stop]}
    yield from judging._table_8_3(stops, len(judged))
    yield from judging._table_8_4(stops)


def absolute_numbers(data: Data) -> Iterator[Claim]:
    """One order of ties for CG, up to the judgments of Table 8.6."""
    runs = {"CG_l": [absolute._judge(absolute._Job(collection(data), MEASURES["CG_l"], 0, 539, to_the_end=False))]}
    yield from absolute._table_8_5({label: some[0] for label, some in runs.items()})
    yield from absolute._table_8_6(runs)


def minimal_numbers(data: Data) -> Iterator[Claim]:
    """One order of ties, up to 90 % confidence."""
    judged = collection(data)
    nothing = np.zeros(judged.n_systems * (judged.n_systems - 1) // 2, dtype=np.bool_)
    run = minimal._judge(minimal._Job(judged, 0, nothing, nothing, closely=False))
    yield from list(minimal._counts([run], len(judged)))[:2]


def distribution_numbers(data: Data) -> Iterator[Claim]:
    yield from distributions.fitted(data, ALONE, trials=5).claims


FEW: dict[str, Callable[[Data], Iterator[Claim]]] = {
    "power": power_numbers,
    "judging": judging_numbers,
    "absolute": absolute_numbers,
    "minimal": minimal_numbers,
    "distributions": distribution_numbers,
}


@pytest.fixture
def short(monkeypatch: Patch) -> None:
    """Sessions of AdMIRe 2012 end at 90 % confidence, distributions are fitted to two sizes."""
    from adjudge.experiments import goodness

    monkeypatch.setattr(minimal, "_LEVELS", minimal._LEVELS[:1])
    monkeypatch.setattr(goodness, "SIZES", (20, 50))


def families_are_swapped(patch: Patch) -> None:
    from adjudge.experiments import goodness

    families = goodness._FAMILIES
    patch.setattr(goodness, "_FAMILIES", families | {"beta": families["empirical"], "empirical": families["beta"]})


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("name", [name for name in FEW if name != "distributions"])  # of which test_studies.py has more
def test_a_few_trials_pass_with_nothing_broken(data: Data, name: str) -> None:
    assert failures(FEW[name](data)) == []


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    ("name", "mutation"),
    [
        ("power", two_systems_are_swapped),
        ("power", nothing_is_discounted),
        ("judging", relevance_is_upside_down),
        ("judging", a_term_is_dropped),
        ("absolute", relevance_is_upside_down),
        ("absolute", a_term_is_dropped),
        ("minimal", every_grade_is_known_too_well),
        ("distributions", families_are_swapped),
    ],
    ids=lambda one: one if isinstance(one, str) else one.__name__,
)
def test_a_few_trials_fail_when_something_is_broken(
    data: Data, monkeypatch: Patch, name: str, mutation: Mutation
) -> None:
    mutation(monkeypatch)
    assert failures(FEW[name](data))


# Significance: trials once, then read with two tests in each other's place


@pytest.fixture(scope="module")
def tested(data: Data) -> OptimalityFindings:
    samples = samples_of(data.effectiveness([WRITTEN[name] for name in ("CG", "DCG", "P")]), scale="fine")
    found = run_experiment(Optimality(trials=6, resamples=10_000), samples, workers=1)
    assert isinstance(found, OptimalityFindings)
    return found


def of_levels(found: OptimalityFindings) -> list[Claim]:
    """Which tests find most and least, which few trials and three of eight measures leave as it is."""
    ours = {name: rate.value.T for name, rate in found.by_test(LEVELS).values.items()}
    return [one for one in significance._levels(ours, found.experiment.trials) if "non-significant" in one.what]


def test_significance_fails_when_systems_are_swapped(data: Data, monkeypatch: Patch) -> None:
    assert failures(significance._pairs(data.effectiveness(["CG@5"]))) == []
    two_systems_are_swapped(monkeypatch)
    assert failures(significance._pairs(data.effectiveness(["CG@5"])))


def test_significance_fails_when_two_tests_are_swapped(tested: OptimalityFindings) -> None:
    assert failures(of_levels(tested)) == []
    first, second = (p[[0, 1, 3, 2, 4]] for p in (tested.paired.first, tested.paired.second))
    swapped = OptimalityFindings(tested.experiment, tested.samples, tested.rows, tested.provenance)
    vars(swapped)["paired"] = replace(tested.paired, first=first, second=second)
    assert failures(of_levels(swapped))


def test_every_study_is_broken_at_least_once() -> None:
    assert set(dict(CHEAP)) | set(FEW) | {"significance"} == set(STUDIES)
