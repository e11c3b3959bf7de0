"""Agreement: every family of curves is sound, fits recover what is known, margins have intervals."""

from __future__ import annotations

import numpy as np
import pytest

import adjudge as aj
from adjudge.users import (
    FORMS,
    AgreementMapping,
    agreement_interval,
    find_agreement,
    fit_agreement,
    held_out_agreement,
    noticeable_difference,
    noticeable_differences,
    noticeable_interval,
    p_agreement,
)
from adjudge.users.curves import rows_of, without_negatives
from adjudge.users.noticing import AGREEMENT_2012

GRID = np.linspace(0, 1, 201)


def simulated(form: str, parameters: tuple[float, ...], n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Differences and answers of users who follow a curve."""
    rng = np.random.default_rng(seed)
    delta = rng.uniform(-1, 1, n)
    shares = FORMS[form](np.abs(delta), parameters)
    draw = rng.random(n)
    better = np.where(draw < shares.agree, 1, np.where(draw >= shares.agree + shares.cannot_tell, -1, 0))
    return delta, (np.where(delta >= 0, better, -better)).astype(np.int64)


@pytest.mark.parametrize("form", FORMS)
def test_every_family_is_bounded_monotone_and_fair_without_a_difference(form: str) -> None:
    shares = FORMS[form](GRID, FORMS[form].start)
    assert np.sum(shares, axis=0) == pytest.approx(np.ones(len(GRID)))
    assert (np.stack(shares) >= 0).all()
    assert (np.diff(shares.agree) >= 0).all()
    assert shares.agree[0] == pytest.approx(shares.disagree[0])


@pytest.mark.parametrize("form", FORMS)
def test_a_fit_recovers_the_curve_within_its_errors(form: str) -> None:
    truth = FORMS[form].start
    fit = fit_agreement(*simulated(form, truth, 20_000, seed=3), form=form)
    z = (fit.parameters - truth) / np.sqrt(np.diag(fit.covariance))
    assert np.abs(z).max() < 3.5
    assert f"{form}: " in str(fit)


def test_the_interval_of_a_curve_covers_it_as_often_as_stated() -> None:
    truth, at, inside = (-0.25, 2.9, 4.2), np.array([0.05, 0.3, 0.8]), []
    for seed in range(60):
        fit = fit_agreement(*simulated("two-stage", truth, 800, seed=seed))
        mapping = AgreementMapping("CG@5", "fine", fit.form, tuple(fit.parameters), tuple(map(tuple, fit.covariance)))
        low, high = agreement_interval(mapping, at)
        true = np.stack(FORMS["two-stage"](at, truth))
        inside.append((np.stack(low) <= true) & (true <= np.stack(high)))
    assert 0.9 < np.mean(inside) < 0.99


def test_clusters_that_answer_alike_widen_the_errors() -> None:
    delta, answer = simulated("two-stage", FORMS["two-stage"].start, 500, seed=5)
    once = fit_agreement(delta, answer)
    cluster = np.tile(np.arange(500), 4)
    copied = fit_agreement(np.tile(delta, 4), np.tile(answer, 4), clusters=cluster, few_clusters=False)
    assert copied.n_clusters == 500
    assert np.diag(copied.covariance) == pytest.approx(np.diag(once.covariance), rel=1e-3)


def test_what_is_held_out_prefers_the_family_that_made_the_answers() -> None:
    delta, answer = simulated("two-stage", (-1.0, 3.0, 1.0), 6000, seed=6)
    scores = {form: held_out_agreement(delta, answer, form=form, folds=5).sum() for form in ("ordinal", "two-stage")}
    assert scores["two-stage"] > scores["ordinal"]


@pytest.mark.parametrize(
    ("delta", "answer", "message"),
    [
        ([0.1], [1], "expected as many answers as differences"),
        ([0.1, 0.2], [1], "expected as many answers as differences"),
        ([0.1, 1.2], [1, 0], r"expected differences in \[-1, 1\]"),
        ([0.1, 0.2], [1, 2], "answers -1, 0 or 1"),
        ([0.1, np.nan], [1, 0], r"expected differences in \[-1, 1\]"),
    ],
)
def test_answers_that_make_no_sense_are_refused(delta: list[float], answer: list[int], message: str) -> None:
    with pytest.raises(aj.AdjudgeError, match=message):
        fit_agreement(delta, answer)


@pytest.mark.parametrize("mapping", AGREEMENT_2012, ids=lambda m: f"{m.measure} on {m.scale}")
def test_shipped_curves_are_sound_and_say_where_they_come_from(mapping: AgreementMapping) -> None:
    shares = p_agreement(mapping, GRID)
    assert (np.diff(shares.agree) > 0).all()
    assert (np.diff(shares.disagree) <= 1e-12).all()
    assert (np.diff(shares.cannot_tell) < 0).all()
    assert {"licence": "CC BY-SA 4.0", "answers": "2200"}.items() <= dict(mapping.provenance).items()
    assert np.linalg.eigvalsh(np.array(mapping.covariance)).min() > 0
    assert len(mapping.standard_errors) == 3
    assert str(mapping).startswith(f"Agreement for {mapping.measure} on {mapping.scale}")
    low, high = agreement_interval(mapping, GRID)
    assert ((low.agree < shares.agree) & (shares.agree < high.agree)).all()


def test_only_the_size_of_a_difference_matters() -> None:
    mapping = AGREEMENT_2012[0]
    assert np.array_equal(p_agreement(mapping, -GRID).agree, mapping(GRID).agree)
    assert np.isnan(mapping(np.nan).agree)
    with pytest.raises(aj.AdjudgeError, match=r"CG@5 on broad.*a difference .* in \[-1, 1\].*got -1.5"):
        mapping([0.2, -1.5])


def test_the_noticeable_difference_is_where_the_curve_crosses() -> None:
    mapping = find_agreement("CG@5", "fine").mapping
    assert mapping is not None
    for level in (0.3, 0.5, 0.8):
        margin = noticeable_difference(mapping, level=level)
        assert margin is not None
        assert float(mapping(margin).agree) == pytest.approx(level)
        low, high = noticeable_interval(mapping, level=level)
        assert (low or 0) < margin < (high or 0)
    assert noticeable_difference(mapping, level=0.1) == 0.0
    assert noticeable_difference(mapping, level=0.99) is None


def test_a_mapping_without_a_covariance_has_no_intervals() -> None:
    mapping = AgreementMapping("CG@5", "fine", "ordinal", (3.0, 1.0))
    assert np.isnan(np.stack(agreement_interval(mapping, 0.3))).all()
    assert noticeable_interval(mapping) == (None, None)
    assert mapping.standard_errors == ()


@pytest.mark.parametrize(
    ("form", "parameters", "covariance", "message"),
    [
        ("ordinal", (1.0,), (), r"'ordinal' has 2 parameters \(slope, threshold\), got 1"),
        ("ordinal", (-1.0, 1.0), (), r"'slope' must be finite and in \[0, inf\], got -1"),
        ("ordinal-lapse", (1.0, 1.0, 1.5), (), r"'lapse' must be .* in \[0, 1\], got 1.5"),
        ("ordinal", (1.0, np.nan), (), "'threshold' must be finite .* got nan"),
        ("ordinal", (1.0, np.inf), (), "'threshold' must be finite .* got inf"),
        ("ordinal", (1.0, 1.0), ((1.0, 0.0),), "the covariance must be 2 x 2"),
        ("probit", (1.0,), (), "No form of agreement curve is called 'probit'"),
    ],
)
def test_a_curve_that_makes_no_sense_is_refused(
    form: str, parameters: tuple[float, ...], covariance: tuple[tuple[float, ...], ...], message: str
) -> None:
    with pytest.raises(aj.AdjudgeError, match=message):
        AgreementMapping("CG@5", "fine", form, parameters, covariance)


def test_own_mappings_come_first() -> None:
    own = AgreementMapping("DCG@5", "fine", "ordinal", (3.0, 1.0))
    assert find_agreement("nDCG(ideal=max)@5", "fine", mappings=[own]).mapping is own
    assert find_agreement("CG@5", "fine", mappings=[own]).mapping is AGREEMENT_2012[1]


def test_noticeable_differences_of_many_curves_are_those_of_each() -> None:
    parameters = np.array([[-0.2, 2.5, 3.0], [0.5, 4.0, 9.0], [-3.0, 0.1, 1.0], [5.0, 9.0, 50.0]])
    found = noticeable_differences(FORMS["two-stage"], parameters)
    for value, row in zip(found, parameters, strict=True):
        agrees = FORMS["two-stage"](np.array([value - 1e-9, value + 1e-9]), row).agree
        assert np.isnan(value) or agrees[0] <= 0.5 <= agrees[1]
    assert np.isnan(found).tolist() == [False, False, True, False]


def test_a_covariance_that_rounding_spoilt_is_one_again() -> None:
    spoilt = np.array([[1e12, 1e6, 0.0], [1e6, 1.0 - 1e-3, 0.0], [0.0, 0.0, -1e-18]])
    mended = without_negatives(spoilt)
    assert np.linalg.eigvalsh(mended).min() >= -1e-3  # of 1e12
    assert np.diag(mended).min() >= 0
    assert np.allclose(mended, spoilt, rtol=1e-2, atol=1e-2)
    assert rows_of(np.full((2, 2), np.nan)) == ()
    assert len(rows_of(mended)) == 3
