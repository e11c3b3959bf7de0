"""Similarity of documents in relevance estimation: features, effects of sound, corrections of estimators."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import pytest

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.model.scales import FINE
from adjudge.relevance import ESTIMATORS, judging
from adjudge.relevance.base import scoring, start
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.features import Evidence, sound_effects
from adjudge.relevance.hierarchical.effects import design
from adjudge.relevance.hierarchical.kriging import SoundCorrection
from adjudge.relevance.hierarchical.model import HierarchicalModel, learn_variances
from adjudge.relevance.models import fit_estimator

NAN = np.nan
RUNS = {
    "a": {"q1": ["v", "w", "x"], "q2": ["v", "x"]},
    "b": {"q1": ["x", "y", "z"], "q2": ["y", "z", "w"]},
    "c": {"q1": ["z", "w", "v"], "q2": ["z", "v"]},
}
PLACES = {"v": (0, 1), "w": (0.5, 2), "x": (1, 0), "y": (3, 1), "z": (3, 0.5), "q1": (0, 0)}


class Alike:
    """Similarity of documents with a place in the plane, exp(-distance); or all the same."""

    def __init__(self, places: dict[str, tuple[float, float]], *, same: bool = False) -> None:
        self.places, self.same, self.digest = places, same, f"{places} {same}"

    def among(self, documents: Sequence[str]) -> Floats:
        at = np.array([self.places.get(document, (NAN, NAN)) for document in documents])
        apart = np.sqrt(((at[:, None] - at) ** 2).sum(axis=-1))
        return np.where(np.isnan(apart), NAN, 1.0) if self.same else np.exp(-apart)


class Given(Alike):
    """Similarity by number of documents."""

    def __init__(self, matrix: Callable[[int], Floats]) -> None:
        super().__init__({})
        self.matrix = matrix

    def among(self, documents: Sequence[str]) -> Floats:
        return self.matrix(len(documents))


def small(similarity: Alike | None = None, **grades: dict[str, float]) -> Candidates:
    collection = aj.read(RUNS, grades, scale="fine") if grades else aj.read(RUNS)
    return candidates(collection, cutoff=3, scale=FINE, similarity=similarity)


@pytest.fixture(scope="module")
def demo() -> Candidates:
    """A part of the demo whose relevance follows a made-up similarity: what is alike is about as relevant."""
    found = candidates(aj.demo(queries=12, depth=5), cutoff=5)
    rng = np.random.default_rng(4)
    places = {document: tuple(rng.normal(size=2)) for document in (*found.document, *found.queries)}
    alike = Alike(places)
    relevance = np.empty(len(found))
    for query in range(found.n_queries):
        rows = found.rows(query)
        covariance = alike.among(found.document[rows]) + 0.05 * np.eye(rows.stop - rows.start)
        relevance[rows] = np.linalg.cholesky(covariance) @ rng.standard_normal(rows.stop - rows.start)
    relevance = np.clip(0.5 + 0.2 * relevance, 0, 1)
    return dataclasses.replace(found, relevance=relevance, similarity=alike)


# Candidates


def test_parts_and_sessions_keep_the_similarity_and_it_can_be_left_out() -> None:
    found = small(Alike(PLACES))
    assert found.part(queries=[0], systems=[0, 1]).similarity is found.similarity
    assert found.unjudged().without_metadata().similarity is found.similarity
    assert found.without_similarity().similarity is None
    session = judging(aj.read(RUNS), "CG@3", scale="fine", similarity=found.similarity)
    assert session.candidates.similarity is found.similarity


def test_documents_without_sound_are_named_and_all_of_them_refused() -> None:
    few = {name: place for name, place in PLACES.items() if name != "y"}
    assert small(Alike(PLACES)).notes == small().notes
    assert small(Alike(few)).notes[-1] == "1 of 5 documents unknown to the similarity (y) are estimated without it."
    with pytest.raises(AdjudgeError, match=r"that of some candidates.*got none, not even of 'v'"):
        small(Alike({"other": (0, 0)}))


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (lambda n: np.ones((n, 2)), "Similarity of 5 documents: expected 5 x 5 numbers, got 5 x 2"),
        (lambda n: np.where(np.eye(n) > 0, 1.0, NAN), "Similarity of 'v' and 'w': expected .* got nan and nan"),
        (lambda n: np.where(np.eye(n) > 0, np.inf, 0.5), "Similarity of 'v' and 'v': expected .* got inf and inf"),
        (lambda n: np.triu(np.ones((n, n))), "Similarity of 'v' and 'w': expected the same number both ways, got 1.0"),
    ],
)
def test_what_is_no_similarity_is_refused(told: Callable[[int], Floats], said: str) -> None:
    with pytest.raises(AdjudgeError, match=said):
        small(Given(told))


# Features


def test_on_fine_the_most_similar_of_ten_levels_is_told() -> None:
    """v (.12: level .15) and w (.19: level .15) count together; y has the level .95 for itself."""
    found = small(Alike(PLACES), q1={"v": 12, "w": 19, "y": 97})
    alike = found.similarity.among(["x", "v", "w", "y"])  # type: ignore[union-attr]
    assert alike[0, 1:3].mean() > alike[0, 3]
    assert found.document[:5] == ("v", "w", "x", "y", "z")
    np.testing.assert_allclose(Evidence(found).column("aSIM")[:5], [0.15, 0.15, 0.15, 0.15, 0.95])
    assert np.isnan(Evidence(found).column("aSIM")[5:]).all()  # nothing is judged for q2


def test_of_two_levels_as_similar_the_lower_is_told() -> None:
    found = small(Alike(PLACES, same=True), q1={"v": 80, "w": 20})
    assert Evidence(found).column("aSIM")[2:5].tolist() == [0.25] * 3


def test_a_model_with_sound_predicts_better_where_sound_tells(demo: Candidates) -> None:
    plain, heard = (fit_estimator([demo], features=["fSYS", "aDOC", *more]) for more in ([], ["aSIM"]))
    rng, errors = np.random.default_rng(1), []
    known = np.where(rng.random(len(demo)) < 0.5, demo.relevance, NAN)
    for model in (plain, heard):
        mean, _ = model.estimate(Evidence(demo), known)
        errors.append(np.nanmean((mean - demo.relevance)[np.isnan(known)] ** 2))
    assert errors[1] < 0.95 * errors[0]


# Effects


def covariances(found: Candidates) -> list[Floats]:
    """H S H of each query over the mean of all diagonals, computed as it is written."""
    blocks = []
    for query in range(found.n_queries):
        documents = found.document[found.rows(query)]
        alike, n = found.similarity.among(documents), len(documents)  # type: ignore[union-attr]
        centre = np.eye(n) - 1 / n
        blocks.append(centre @ alike @ centre)
    scale = np.concatenate([np.diagonal(block) for block in blocks]).mean()
    return [block / scale for block in blocks]


def test_effects_of_sound_have_the_centred_similarity_for_covariance(demo: Candidates) -> None:
    effects = sound_effects(Evidence(demo), most=100)
    for query, wanted in enumerate(covariances(demo)):
        here = np.flatnonzero(demo.query[effects.pair] == query)
        first = int(demo.offsets[query])
        loadings = np.zeros((len(wanted), 100))
        loadings[effects.pair[here] - first, effects.number[here]] = effects.value[here]
        np.testing.assert_allclose(loadings @ loadings.T, wanted, atol=1e-12)
    assert not effects.own.any()


def test_what_few_effects_leave_of_the_diagonal_is_the_own_of_documents(demo: Candidates) -> None:
    effects = sound_effects(Evidence(demo), most=2)
    assert effects.number.max() == 1
    told = np.bincount(effects.pair, effects.value**2, minlength=len(demo))
    diagonal = np.concatenate([np.diagonal(block) for block in covariances(demo)])
    assert np.abs(told + effects.own - diagonal).max() <= 1 / 8 + 1e-9  # in quarters
    assert set(np.unique(4 * effects.own % 1)) == {0.0}


def all_as_unlike(n: int) -> Floats:
    return np.where(np.eye(n) > 0, 1.0, 0.25)


def same_but_for_rounding(n: int) -> Floats:
    noise = np.random.default_rng(n).random((n, n))
    return 1.0 - 1e-15 * (noise + noise.T)


@pytest.mark.parametrize(("among", "own"), [(all_as_unlike, 1.0), (same_but_for_rounding, 0.0)])
def test_neither_equal_distance_nor_rounding_is_an_effect(
    demo: Candidates, among: Callable[[int], Floats], own: float
) -> None:
    """K is as large in all directions where documents are all as unlike: which few of them came first is chance."""
    effects = sound_effects(Evidence(dataclasses.replace(demo, similarity=Given(among))))
    assert len(effects.pair) == 0
    np.testing.assert_array_equal(effects.own, own)


def test_documents_without_sound_are_like_nothing_else() -> None:
    few = {name: place for name, place in PLACES.items() if name != "y"}
    found = small(Alike(few))
    effects = sound_effects(Evidence(found))
    silent = np.array([document == "y" for document in found.document])
    assert (effects.own[silent] == 1).all()
    assert (effects.heard == ~silent).all()
    assert not np.isin(effects.pair, np.flatnonzero(silent)).any()


def test_the_hierarchical_posterior_is_that_of_the_dense_covariance(demo: Candidates) -> None:
    """Direct conditioning of a Gaussian whose covariance is written down element by element."""
    values = {"query": 0.02, "system": 0.0, "system_query": 0.0, "residual": 0.01, "sound": 0.03}
    plain = demo.without_metadata().unjudged()
    model = start("hierarchical", plain, scoring("CG@5", demo.scale), variances=values, features="plain")
    assert isinstance(model, HierarchicalModel)
    design, n = model._effects, len(demo)
    covariance = (design.x * design.global_variance(model._variances)) @ design.x.T + 0.01 * np.eye(n)
    effects = sound_effects(Evidence(demo))
    loadings = np.zeros((n, demo.n_queries, 6))
    loadings[effects.pair, demo.query[effects.pair], effects.number] = effects.value
    flat = loadings.reshape(n, -1)
    covariance += 0.03 * (flat @ flat.T + np.diag(effects.own))
    covariance += 0.02 * (demo.query[:, None] == demo.query)
    rows = np.random.default_rng(2).choice(n, 40, replace=False)
    for pair in rows:
        model.judge(int(pair), float(demo.relevance[pair]))
    prior = design.x @ design.prior_mean
    gain = np.linalg.solve(covariance[np.ix_(rows, rows)], covariance[rows]).T
    np.testing.assert_allclose(model.mean, prior + gain @ (demo.relevance - prior)[rows], atol=1e-9)
    np.testing.assert_allclose(
        model.variance, np.diagonal(covariance) - np.einsum("ij,ji->i", gain, covariance[rows]), atol=1e-9
    )


def test_variances_tell_sound_that_matters_from_sound_that_does_not(demo: Candidates) -> None:
    rng = np.random.default_rng(3)
    places = demo.similarity.places  # type: ignore[union-attr]
    mixed = dict(zip(places, [places[name] for name in rng.permutation(list(places))], strict=True))
    learned, noise = (learn_variances(dataclasses.replace(demo, similarity=s)) for s in (demo.similarity, Alike(mixed)))
    assert learned["sound"] > 10 * noise["sound"]
    deaf = demo.without_similarity().unjudged()
    model = start("hierarchical", deaf, scoring("CG@5", demo.scale), prior_variances=learned)
    assert "sound" not in model.variances  # type: ignore[attr-defined]


def test_who_retrieves_what_is_alike_is_the_projection_of_shares_on_effects_of_similarity(demo: Candidates) -> None:
    """L(L'L)⁻¹L' of shares 1/n, query by query: as zbar are means over genres."""
    plain = design(demo.without_metadata(), sound=True)
    found = plain.x[:, plain.kind == plain.kinds.index("system_sound")]
    effects = sound_effects(Evidence(demo))
    for query in (0, 7):
        rows = np.arange(int(demo.offsets[query]), int(demo.offsets[query + 1]))
        here = np.isin(effects.pair, rows)
        loadings = np.zeros((len(rows), effects.number[here].max() + 1))
        loadings[effects.pair[here] - rows[0], effects.number[here]] = effects.value[here]
        shares = np.zeros((len(rows), demo.n_systems))
        entry = np.isin(demo.entry_pair, rows)
        pair = demo.entry_pair[entry]
        shares[pair - rows[0], demo.entry_system[entry]] = 1 / demo.n_retrieving[pair]
        wanted = loadings @ np.linalg.pinv(loadings) @ shares
        np.testing.assert_allclose(found[rows], wanted, atol=1e-9)


# Corrections


@pytest.mark.parametrize("name", sorted({*ESTIMATORS} - {"known_item"}))
def test_sound_can_be_left_out_and_tells_nothing_where_all_sounds_the_same(demo: Candidates, name: str) -> None:
    rule = scoring("CG@5", demo.scale)
    known = dataclasses.replace(demo, relevance=np.where(np.arange(len(demo)) % 3, NAN, demo.relevance))
    without, deaf = start(name, known.without_similarity(), rule), start(name, known, rule, sound=False)
    np.testing.assert_array_equal(deaf.mean, without.mean)
    np.testing.assert_array_equal(deaf.scores().covariance, without.scores().covariance)
    assert not np.array_equal(start(name, known, rule).mean, without.mean)
    alike = Alike(demo.similarity.places, same=True)  # type: ignore[union-attr]
    same = start(name, dataclasses.replace(known, similarity=alike), rule)
    np.testing.assert_allclose(same.mean, without.mean, atol=1e-9)
    np.testing.assert_allclose(same.variance, without.variance, atol=1e-9)


@pytest.mark.parametrize("name", sorted({*ESTIMATORS} - {"known_item"}))
def test_unseen_documents_are_predicted_better_where_sound_tells(demo: Candidates, name: str) -> None:
    rule = scoring("CG@5", demo.scale)
    seen = np.random.default_rng(6).random(len(demo)) < 0.4
    known = dataclasses.replace(demo, relevance=np.where(seen, demo.relevance, NAN))
    errors = [
        np.mean((start(name, c, rule).mean - demo.relevance)[~seen] ** 2) for c in (known.without_similarity(), known)
    ]
    assert errors[1] < (0.9 if name in ("uniform", "prior", "hierarchical") else 1.0) * errors[0]


def test_a_correction_is_simple_kriging_of_what_the_estimator_got_wrong(demo: Candidates) -> None:
    """The formula of the module, with matrices written down for one query."""
    seen = np.random.default_rng(7).random(len(demo)) < 0.4
    relevance = np.where(seen, demo.relevance, NAN)
    mean, variance = np.full(len(demo), 0.5), np.full(len(demo), 0.04)
    sound = SoundCorrection(demo)
    sound.learn(mean, variance, relevance)
    v_query, v_residual, v_sound = sound.variances
    alike = Evidence(demo).column("sSIM")
    slope = sound.slope * (alike - alike.mean()) / alike.std()
    effects = sound_effects(Evidence(demo))
    rows = np.arange(int(demo.offsets[3]), int(demo.offsets[4]))
    here = np.isin(effects.pair, rows)
    loadings = np.zeros((len(rows), 6))
    loadings[effects.pair[here] - rows[0], effects.number[here]] = effects.value[here]
    k = v_sound * (loadings @ loadings.T + np.diag(effects.own[rows]))
    known = np.flatnonzero(seen[rows])
    inner = np.linalg.inv(v_query + k[np.ix_(known, known)] + v_residual * np.eye(len(known)))
    errors = (relevance[rows][known] - 0.5) / 0.2 - sound.offset - slope[rows][known]
    moved = slope[rows] + k[:, known] @ inner @ errors
    total = v_query + v_residual + np.diagonal(k)
    left = 1 - np.diagonal(k[:, known] @ inner @ k[known]) / total
    found, spread = sound.of_query(3, relevance)
    np.testing.assert_allclose(found, np.clip(0.5 + 0.2 * moved, 0, 1), atol=1e-12)
    np.testing.assert_allclose(spread, np.minimum(0.04, np.maximum(0.04, 0.04 * total) * left), atol=1e-12)
    assert (spread < 0.04).any()
    np.testing.assert_array_equal(sound.corrected(relevance)[0][rows], found)


def test_where_nothing_is_in_doubt_nothing_is_corrected(demo: Candidates) -> None:
    model = start("prior", demo, scoring("CG@5", demo.scale), mean=0.0, variance=0.0)
    assert np.isfinite(model.mean).all()
    one = dataclasses.replace(demo, relevance=np.where(np.arange(len(demo)) == 5, demo.relevance, NAN))
    sure = start("prior", one, scoring("CG@5", demo.scale), mean=0.0, variance=0.0)
    assert not np.delete(sure.mean, 5).any()


@pytest.mark.parametrize("measure", ["CG@5", "nDCG@5"])
def test_scores_follow_single_judgments_as_if_added_up_again(demo: Candidates, measure: str) -> None:
    rule, order = scoring(measure, demo.scale), np.random.default_rng(8).permutation(len(demo))[:37]
    one_by_one = start("uniform", demo.unjudged(), rule)
    for pair in order:
        one_by_one.judge(int(pair), float(demo.relevance[pair]))
    scores, mean, variance = one_by_one.scores(), one_by_one.mean, one_by_one.variance
    one_by_one._sums.fill(mean, variance)  # type: ignore[attr-defined]
    np.testing.assert_allclose(one_by_one.scores().mean, scores.mean, atol=1e-12)
    np.testing.assert_allclose(one_by_one.scores().covariance, scores.covariance, atol=1e-12)
