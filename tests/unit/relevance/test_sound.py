"""Similarity of documents in relevance estimation: features, effects of sound, corrections of estimators."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import pytest

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError, InputError
from adjudge.model.scales import FINE
from adjudge.relevance import ESTIMATORS, Session, judging
from adjudge.relevance.base import scoring, start
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.features import Evidence, sound_effects
from adjudge.relevance.hierarchical.kriging import SoundCorrection
from adjudge.relevance.hierarchical.model import HierarchicalModel, learn_variances
from adjudge.relevance.models import fit_estimator
from adjudge.relevance.session import fingerprint

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
        rows = slice(int(found.offsets[query]), int(found.offsets[query + 1]))
        covariance = alike.among(found.document[rows]) + 0.05 * np.eye(rows.stop - rows.start)
        relevance[rows] = np.linalg.cholesky(covariance) @ rng.standard_normal(rows.stop - rows.start)
    relevance = np.clip(0.5 + 0.2 * relevance, 0, 1)
    return dataclasses.replace(found, relevance=relevance, similarity=alike)


# Candidates


def test_parts_keep_the_similarity_and_it_can_be_left_out() -> None:
    found = small(Alike(PLACES))
    assert found.part(queries=[0], systems=[0, 1]).similarity is found.similarity
    assert found.unjudged().without_metadata().similarity is found.similarity
    assert found.without_similarity().similarity is None


def test_documents_without_sound_are_named_and_all_of_them_refused() -> None:
    few = {name: place for name, place in PLACES.items() if name != "y"}
    assert small(Alike(PLACES)).notes == small().notes
    assert small(Alike(few)).notes[-1] == "1 of 5 documents have no sound (y): they are estimated without."
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
    class Odd(Alike):
        def among(self, documents: Sequence[str]) -> Floats:
            return told(len(documents))

    with pytest.raises(AdjudgeError, match=said):
        small(Odd({}))


def test_a_saved_session_knows_its_sound(tmp_path: pytest.TempPathFactory) -> None:
    found, path = small(Alike(PLACES)), f"{tmp_path}/state.json"
    assert len({fingerprint(small()), fingerprint(found), fingerprint(small(Alike(PLACES, same=True)))}) == 3
    session = Session(found, "CG@3", options={"sound": True})
    session.judge("q1", "v", 40)
    session.save(path)
    assert Session.load(path, found).judgments == [("q1", "v", 40.0)]
    with pytest.raises(InputError, match="is of other runs, cutoff, scale, metadata, judgments or sound than these"):
        Session.load(path, small())


def test_judging_takes_a_similarity() -> None:
    session = judging(aj.read(RUNS), "CG@3", scale="fine", similarity=Alike(PLACES))
    assert session.candidates.similarity is not None
    assert "sound" in session.model.variances  # type: ignore[attr-defined]


# Features


def test_on_fine_the_most_similar_of_ten_levels_is_told() -> None:
    """v (.12: level .15) and w (.19: level .15) count together; y has the level .95 for itself."""
    found = small(Alike(PLACES), q1={"v": 12, "w": 19, "y": 97})
    alike = found.similarity.among(["x", "v", "w", "y"])  # type: ignore[union-attr]
    assert alike[0, 1:3].mean() > alike[0, 3]
    told = dict(zip(found.document, Evidence(found).column("aSIM"), strict=True))
    assert {name: told[name] for name in ("v", "w", "x", "y", "z")} == pytest.approx(
        {"v": NAN, "w": NAN, "x": NAN, "y": NAN, "z": NAN}, nan_ok=True
    )  # those of q2, where nothing is judged
    of_q1 = dict(zip(found.document[:5], Evidence(found).column("aSIM")[:5], strict=True))
    assert of_q1 == pytest.approx({"v": 0.15, "w": 0.15, "x": 0.15, "y": 0.15, "z": 0.95})


def test_of_two_levels_as_similar_the_lower_is_told() -> None:
    found = small(Alike(PLACES, same=True), q1={"v": 80, "w": 20})
    assert Evidence(found).column("aSIM")[2:5].tolist() == [0.25] * 3


def test_similarity_to_the_query_needs_a_query_with_sound() -> None:
    told = Evidence(small(Alike(PLACES))).column("sSIM")
    np.testing.assert_allclose(told[:5], np.exp([-1, -np.sqrt(4.25), -1, -np.sqrt(10), -np.sqrt(9.25)]))
    assert np.isnan(told[5:]).all()


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
        documents = found.document[int(found.offsets[query]) : int(found.offsets[query + 1])]
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


def test_documents_that_are_all_as_unlike_share_no_effects(demo: Candidates) -> None:
    """K is then as large in all directions, and which few of them came first would be chance."""

    class Unlike(Alike):
        def among(self, documents: Sequence[str]) -> Floats:
            return np.where(np.eye(len(documents)) > 0, 1.0, 0.25)

    effects = sound_effects(Evidence(dataclasses.replace(demo, similarity=Unlike({}))))
    assert len(effects.pair) == 0
    np.testing.assert_array_equal(effects.own, 1.0)


def test_rounding_is_no_similarity(demo: Candidates) -> None:
    class Same(Alike):
        def among(self, documents: Sequence[str]) -> Floats:
            noise = np.random.default_rng(len(documents)).random((len(documents), len(documents)))
            return 1.0 - 1e-15 * (noise + noise.T)

    effects = sound_effects(Evidence(dataclasses.replace(demo, similarity=Same({}))))
    assert len(effects.pair) == 0
    assert not effects.own.any()


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
    names = list(demo.similarity.places)  # type: ignore[union-attr]
    mixed = dict(zip(names, [demo.similarity.places[name] for name in rng.permutation(names)], strict=True))  # type: ignore[union-attr]
    told, noise = (
        learn_variances(dataclasses.replace(demo, similarity=s))["sound"] for s in (demo.similarity, Alike(mixed))
    )
    assert told > 10 * noise


def test_a_learned_variance_of_sound_may_be_given_where_there_is_none(demo: Candidates) -> None:
    learned = learn_variances(demo)
    rule = scoring("CG@5", demo.scale)
    model = start("hierarchical", demo.without_similarity().unjudged(), rule, prior_variances=learned)
    assert "sound" not in model.variances  # type: ignore[attr-defined]


# Corrections


@pytest.mark.parametrize("name", ESTIMATORS)
def test_sound_can_be_left_out(demo: Candidates, name: str) -> None:
    rule = scoring("CG@5", demo.scale)
    known = dataclasses.replace(demo, relevance=np.where(np.arange(len(demo)) % 3, NAN, demo.relevance))
    without, deaf = start(name, known.without_similarity(), rule), start(name, known, rule, sound=False)
    np.testing.assert_array_equal(deaf.mean, without.mean)
    np.testing.assert_array_equal(deaf.scores().covariance, without.scores().covariance)
    assert not np.array_equal(start(name, known, rule).mean, without.mean)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_all_sounds_the_same_tells_nothing(demo: Candidates, name: str) -> None:
    rule = scoring("CG@5", demo.scale)
    same = Alike(demo.similarity.places, same=True)  # type: ignore[union-attr]
    known = dataclasses.replace(
        demo, relevance=np.where(np.arange(len(demo)) % 3, NAN, demo.relevance), similarity=same
    )
    without, heard = start(name, known.without_similarity(), rule), start(name, known, rule)
    np.testing.assert_allclose(heard.mean, without.mean, atol=1e-9)
    np.testing.assert_allclose(heard.variance, without.variance, atol=1e-9)


@pytest.mark.parametrize("name", ESTIMATORS)
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
