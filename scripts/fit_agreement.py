"""Fit the agreement curves that ship with Adjudge, and write them to src/adjudge/users/noticing.py.

    python scripts/fit_agreement.py [--data ../shared/data/user-study-2012/answers.csv] [--to FILE]

The data are those of the ISMIR 2012 user study (J. Urbano et al., repository ismir2012-significance, CC BY-SA 4.0).
They are not part of Adjudge; what is learnt from them is. Families of curves are compared on queries that they have
not seen, and one family is shipped for all four combinations of measure and scale: the one that never falls far behind
the best (the four share their answers, so that the sum over them would count the same evidence more than once).
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.users.noticing import (
    FORMS,
    AgreementFit,
    AgreementMapping,
    fit_agreement,
    held_out,
    noticeable_difference,
    noticeable_interval,
)

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "user-study-2012" / "answers.csv"
TARGET = ROOT / "src" / "adjudge" / "users" / "noticing.py"
BLOCK = re.compile(r"^SOURCE = .*?^CURVES_2012.*?^\}\n", re.MULTILINE | re.DOTALL)
HEAD = """
# parameters, then the rows of their covariance
CURVES_2012: dict[tuple[str, str], tuple[tuple[float, ...], ...]] = {"""
FORM = "two-stage"
COMBINATIONS = {
    "dagb": ("CG@5", "broad"),
    "dagf": ("CG@5", "fine"),
    "dndcgb": ("DCG@5", "broad"),
    "dndcgf": ("DCG@5", "fine"),
}
ANSWERS = {
    "Service A": 1,
    "Service B": -1,
    "They are both equally good": 0,
    "They are both equally bad": 0,
}
SOURCE = "fitted on the user study of Urbano et al., ISMIR 2012"
DIGITS = 6
REPEATS = 3  # of cross-validation, each with folds of its own


@dataclass(frozen=True)
class Study:
    """The answers: 1 for service A, -1 for B, 0 for neither, with the query and the differences A - B."""

    answer: Ints
    query: tuple[str, ...]
    delta: dict[str, Floats]
    sha256: str


def read_study(path: Path) -> Study:
    """Read the columns that the fit needs."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return Study(
        np.array([ANSWERS[row["what_service_gives_better_results"]] for row in rows]),
        tuple(row["query"] for row in rows),
        {column: np.array([float(row[column]) for row in rows]) for column in COMBINATIONS},
        hashlib.sha256(path.read_bytes()).hexdigest(),
    )


def fits(study: Study, form: str) -> dict[str, AgreementFit]:
    """One curve for each combination; 73 queries are many clusters."""
    shared: dict[str, Any] = {"form": form, "clusters": study.query, "few_clusters": False}
    return {column: fit_agreement(study.delta[column], study.answer, **shared) for column in COMBINATIONS}


def compare_forms(study: Study) -> str:
    """A table of the candidates: AIC, held-out log-likelihood and how far the latter falls behind the best at most."""
    columns = list(COMBINATIONS)
    aic = {form: np.array([fit.aic for fit in fits(study, form).values()]) for form in FORMS}
    unseen = {form: np.array([_unseen(study, form, column) for column in columns]) for form in FORMS}
    best = np.max(list(unseen.values()), axis=0)
    heads = [f"{kind} {column}" for kind in ("AIC", "log-lik.") for column in columns]
    lines = [" ".join([f"{'form':<22}", *(f"{head:>15}" for head in heads), f"{'most behind':>12}"])]
    for form in FORMS:
        cells = [f"{number:15.2f}" for number in (*aic[form], *unseen[form])]
        lines.append(" ".join([f"{form:<22}", *cells, f"{(best - unseen[form]).max():12.2f}"]))
    return "\n".join(lines)


def _unseen(study: Study, form: str, column: str) -> float:
    total = [
        held_out(study.delta[column], study.answer, form=form, clusters=study.query, seed=seed).sum()
        for seed in range(REPEATS)
    ]
    return float(np.mean(total))


def mappings(study: Study) -> list[AgreementMapping]:
    """What ships: the chosen family, rounded."""
    provenance = (
        ("data", "answers.csv of the repository ismir2012-significance by J. Urbano et al."),
        ("licence", "CC BY-SA 4.0"),
        ("answers", str(len(study.answer))),
        ("queries", str(len(set(study.query)))),
        ("covariance", "robust, clustered by query"),
        ("script", f"scripts/{Path(__file__).name}"),
        ("sha256", study.sha256),
    )
    return [
        AgreementMapping(
            *COMBINATIONS[column],
            FORM,
            _rounded(fit.parameters),
            tuple(_rounded(row) for row in fit.covariance),
            SOURCE,
            provenance,
        )
        for column, fit in fits(study, FORM).items()
    ]


def _rounded(numbers: Floats) -> tuple[float, ...]:
    return tuple(float(f"{number:.{DIGITS}g}") for number in numbers)


def block(fitted: Sequence[AgreementMapping]) -> str:
    """The lines of the module that ship, as the formatter would lay them out."""
    facts = "".join(f'    ("{name}", "{value}"),\n' for name, value in fitted[0].provenance)
    curves = "".join(
        f'    ("{m.measure}", "{m.scale}"): (\n'
        + "".join(f"        {row},\n" for row in (m.parameters, *m.covariance))
        + "    ),\n"
        for m in fitted
    )
    return f'SOURCE = "{SOURCE}"\nPROVENANCE = (\n{facts})\n{HEAD}\n{curves}}}\n'


def main(argv: Sequence[str] | None = None) -> None:
    """Compare, fit, write, and print what was written."""
    parser = argparse.ArgumentParser(description="Fit the agreement curves that ship with Adjudge.")
    parser.add_argument("--data", type=Path, default=DATA, help="answers.csv of the study")
    parser.add_argument("--to", type=Path, default=TARGET, help="the module to write them into")
    arguments = parser.parse_args(argv)
    study = read_study(arguments.data)
    print(compare_forms(study), end="\n\n")
    fitted = mappings(study)
    for mapping in fitted:
        low, high = noticeable_interval(mapping)
        names = FORMS[mapping.form].parameters
        numbers = zip(names, mapping.parameters, mapping.standard_errors, strict=True)
        print(mapping)
        print("; ".join(f"{name} = {value:.3f} ± {error:.3f}" for name, value, error in numbers))
        print(f"noticed by more than half from {noticeable_difference(mapping):.3f} on [{low:.3f}, {high:.3f}]\n")
    text, times = BLOCK.subn(lambda _: block(fitted), arguments.to.read_text(encoding="utf-8"))
    if times != 1:
        raise SystemExit(f"{arguments.to}: expected the curves once, found them {times} times")
    arguments.to.write_text(text, encoding="utf-8")
    print(f"{arguments.to} written, from {len(study.answer):,} answers, sha256 {study.sha256}")


if __name__ == "__main__":
    main()
