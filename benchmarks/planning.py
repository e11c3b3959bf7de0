"""Generalizability Theory beside statsmodels, the only peer on PyPI that estimates such variance components.

``python -m benchmarks.planning`` makes systems x queries, crossed and nested data, complete and with empty cells.
Before any ratio is shown, both must agree on every component. statsmodels gets the smaller sizes only: its matrices
grow with the square of the observations.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats
from adjudge.checks import Assessors
from adjudge.stats.gtheory.designs import CROSSED, NESTED, SYSTEMS_QUERIES, Design
from adjudge.stats.gtheory.gstudy import gstudy
from adjudge.text import percent
from benchmarks.processes import BenchmarkError
from benchmarks.report import Table, machine, seconds, times

VARIANCES = {"s": 0.02, "q": 0.05, "a": 0.004, "sq": 0.03, "sa": 0.003, "qa": 0.006, "sqa": 0.02}
DESIGNS = {"systems x queries": SYSTEMS_QUERIES, "crossed": CROSSED, "nested": NESTED}


@dataclass(frozen=True)
class Case:
    """Data to study; the peer gets it, too, where it can hold it."""

    name: str
    n_queries: int
    n_systems: int
    n_assessors: int
    missing: float
    peer: bool

    @property
    def design(self) -> Design:
        """Its design."""
        return DESIGNS[self.name]

    def __str__(self) -> str:
        people = "" if self.design is SYSTEMS_QUERIES else f" x {self.n_assessors}"
        return f"{self.name}, {self.n_systems} x {self.n_queries}{people}, {percent(self.missing, 0)} empty"


def made_up(case: Case) -> Floats:
    """Effectiveness drawn from the design, with a share of cells empty."""
    rng, design = np.random.default_rng(0), case.design
    shape = {"q": case.n_queries, "s": case.n_systems, "a": case.n_assessors if design is not SYSTEMS_QUERIES else 1}
    values = np.full(tuple(shape.values()), 0.4)
    for effect in design.effects:
        size = tuple(n if f in effect.facets else 1 for f, n in shape.items())
        values = values + rng.normal(0, np.sqrt(VARIANCES[effect.facets]), size)
    values[rng.random(values.shape) < case.missing] = np.nan
    return values[:, :, 0] if design is SYSTEMS_QUERIES else values


def by_statsmodels(values: Floats, design: Design) -> Floats:
    """The same components by MixedLM, one group with a variance component an effect."""
    import pandas as pd
    from statsmodels.regression.mixed_linear_model import MixedLM  # type: ignore[import-untyped]

    cube = values if values.ndim == 3 else values[:, :, None]
    q, s, a = np.nonzero(np.isfinite(cube))
    columns = {"s": s, "q": q, "a": a, "sq": s * 10_000 + q, "sa": s * 10_000 + a, "qa": q * 10_000 + a}
    frame = pd.DataFrame({"y": cube[q, s, a], "one": 1, **columns})
    names = [effect.facets for effect in design.effects[:-1]]
    formulas = {name: f"0 + C({name})" for name in names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = MixedLM.from_formula("y ~ 1", groups="one", vc_formula=formulas, data=frame).fit(reml=True)
    found = dict(zip(fit.model.exog_vc.names, fit.vcomp, strict=True))
    return np.array([*(found[name] for name in names), fit.scale])


def compared(case: Case) -> tuple[str, ...]:
    """One row: our time, the peer's, their ratio."""
    values = made_up(case)
    claims: dict[str, Assessors] = {"systems x queries": "auto", "crossed": "crossed", "nested": "nested"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begun = time.perf_counter()
        study = gstudy(values, assessors=claims[case.name])
        ours = time.perf_counter() - begun
    if not case.peer:
        return str(case), study.method, seconds(ours), "", ""
    begun = time.perf_counter()
    theirs = by_statsmodels(values, case.design)
    taken = time.perf_counter() - begun
    if not np.allclose(study.variances, theirs, rtol=0.02, atol=2e-4):
        raise BenchmarkError(f"{case}: statsmodels finds {theirs.round(5)}, Adjudge {study.variances.round(5)}")
    return str(case), study.method, seconds(ours), seconds(taken), times(taken / ours)


def main(argv: Sequence[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.planning", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    arguments = parser.parse_args(argv)
    cases = [
        ("systems x queries", 30, 10, 1, 0.0, True),
        ("systems x queries", 30, 10, 1, 0.1, True),
        ("nested", 12, 6, 3, 0.1, True),
        ("crossed", 12, 6, 3, 0.1, True),
    ]
    if not arguments.quick:
        cases += [
            ("systems x queries", 100, 18, 1, 0.1, False),
            ("systems x queries", 50, 129, 1, 0.1, False),
            ("nested", 100, 18, 3, 0.1, False),
            ("crossed", 100, 18, 3, 0.1, False),
            ("crossed", 250, 129, 3, 0.1, False),
        ]
    by_statsmodels(made_up(Case("nested", 4, 4, 2, 0.0, peer=True)), NESTED)  # imports and first calls are not counted
    try:
        rows = [compared(Case(*case)) for case in cases]
    except BenchmarkError as failure:
        print(f"benchmarks: {failure}", file=sys.stderr)
        return 1
    print("\n".join(machine()))
    head = ("data", "method", "adjudge", "statsmodels", "ratio")
    notes = "Variance components of made-up effectiveness; statsmodels' MixedLM on the sizes that it can hold."
    print(f"\n{Table('G-studies', notes, head, rows).text()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
