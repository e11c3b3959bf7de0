"""Reproduction of the papers' numbers: every study that the data allow, and what they do not.

What the public data do not allow, and why: said plainly, item by item.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from adjudge._version import __version__
from adjudge.errors import AdjudgeError, shown
from adjudge.parallel import Progress
from papers.claims import ANOTHER, BASES, CAUSES, DIFFERING, Basis, Cause, Claim, Verdict
from papers.data import Data
from papers.studies import STUDIES, Effort, Found, Study

_DRAWING = "a drawing, no numbers"
_EXPERTS = "needs the rankings that experts made in 2005, which are not public"

IMPOSSIBLE: dict[str, str] = {
    "T Table 5.1": "names the two errors of a test: no numbers",
    "T Table 6.4": "needs the judgments of MIREX 2006 by three assessors, which are not public",
    "T Figure 1.1": _DRAWING,
    "T Figure 1.2": "a time line, no numbers",
    "T Figure 1.3": "counts papers and citations of two conferences: no part of the data",
    "T Figure 2.1": _DRAWING,
    "T Figure 2.2": _DRAWING,
    "T Table 4.2": "residuals of fits to the 4,115 answers of the thesis, which are not public; those of a fit to "
    "other answers measure the noise of other answers",
    "T Figure 3.1": "a picture of the task as listeners saw it, no numbers",
    "T Figure 4.2": "needs a system of MIREX 2009, whose judgments are not public",
    "T Figure 4.3": _DRAWING,
    "T Figure 4.4": "needs two systems of MIREX 2007, whose judgments are not public",
    "T Figure 4.6": "needs two systems of MIREX 2009, whose judgments are not public",
    "T Figure 6.3": "needs MIREX 2012, judged to rank 10 and not public; lists of 2011 end at rank 5",
    "T Figure 6.4": "needs MIREX 2012, judged to rank 10 and not public; lists of 2011 end at rank 5",
    "U12 Figure 1": "a picture of the task as listeners saw it, no numbers",
    "L10 Figure 1": "three melodies as notes, no numbers",
    "L10 Figure 2": _EXPERTS,
}
"""A table or figure, as ``T Table 6.4``, and the reason why it cannot be reproduced."""


VERDICTS: tuple[Verdict, ...] = ("exact", "found by search", "within tolerance", "differs", "fails")
EXPLAINED: tuple[Verdict, ...] = ("within tolerance", "differs")
"""Verdicts that have a reason."""


@dataclass(frozen=True)
class Reproduction:
    """Studies that were run with what they found, those that could not be, and where it came from."""

    found: tuple[tuple[Study, Found], ...]
    left_out: tuple[tuple[Study, str], ...]
    inputs: tuple[tuple[str, str], ...]
    effort: Effort
    impossible: dict[str, str] = field(default_factory=lambda: dict(IMPOSSIBLE))

    @property
    def claims(self) -> list[Claim]:
        """All numbers, in order."""
        return [claim for _, found in self.found for claim in found.claims]

    @property
    def failed(self) -> list[Claim]:
        """Numbers outside their bounds: there should be none."""
        return [claim for claim in self.claims if claim.verdict == "fails"]

    def counts(self) -> dict[Verdict, int]:
        """How many numbers there are of each verdict."""
        counted = Counter(claim.verdict for claim in self.claims)
        return {verdict: counted[verdict] for verdict in VERDICTS}

    def bases(self) -> dict[Basis, int]:
        """How many bounds come from where; those that there are, in the order of BASES."""
        counted = Counter(claim.bound.basis for claim in self.claims)
        return {basis: counted[basis] for basis in BASES if counted[basis]}

    def causes(self) -> dict[Cause, dict[Verdict, int]]:
        """How many numbers are not exact for each cause, by verdict; causes that there are, in the order of CAUSES."""
        counted = Counter((claim.reason.cause, claim.verdict) for claim in self.claims if claim.reason is not None)
        found = {cause: {verdict: counted[cause, verdict] for verdict in EXPLAINED} for cause in CAUSES}
        return {cause: counts for cause, counts in found.items() if any(counts.values())}

    def provenance(self, command: str | None = None) -> dict[str, object]:
        """Version, settings and every input with its SHA-256."""
        settings: dict[str, object] = {"seed": self.effort.seed, "quick": self.effort.quick}
        return {
            "adjudge": __version__,
            "settings": settings | ({"command": command} if command else {}),
            "inputs": [{"file": file, "sha256": digest} for file, digest in self.inputs],
        }

    def __str__(self) -> str:
        """What agreed, why the rest does not, and what fails, in one sentence."""
        counts, others = self.counts(), sum(claim.source == ANOTHER for claim in self.claims)
        more = f", and {others:,} of {ANOTHER}" if others else ""
        reasons = {DIFFERING[cause]: some["differs"] for cause, some in self.causes().items()}
        why = ", ".join(f"{count:,} {words}" for words, count in reasons.items() if count)
        found = f"{counted('found by search', counts['found by search'])}, " if counts["found by search"] else ""
        failed = f", {counted('fails', counts['fails'])}" if counts["fails"] else ""
        return (
            f"{len(self.claims) - others:,} published numbers{more}: {counts['exact']:,} exact, {found}"
            f"{counts['within tolerance']:,} within tolerance, {counted('differs', counts['differs'])}"
            f"{f' ({why})' if why else ''}{failed}."
        )


def counted(verdict: Verdict, count: int) -> str:
    """How many numbers have a verdict, in words.

    >>> counted("differs", 1), counted("fails", 2), counted("exact", 3)
    ('1 differs', '2 fail', '3 exact')
    """
    return f"{count:,} {verdict if count == 1 or verdict not in ('differs', 'fails') else verdict[:-1]}"


def _efforts(studies: Sequence[Study], effort: Effort, progress: Progress | None) -> Iterator[tuple[Study, Effort]]:
    """Every study with an effort that tells how far all of them are; one that is asked for next is done before."""
    whole, before = sum(study.weight for study in studies), 0
    for study in studies:
        yield study, effort if progress is None else replace(effort, progress=_within(progress, before, study, whole))
        before += study.weight
        if progress is not None:
            progress(before, whole)


def _within(progress: Progress, before: int, study: Study, whole: int) -> Progress:
    """Progress of a study as part of all."""
    return lambda done, total: progress(before + study.weight * done // max(total, 1), whole)


def reproduce(
    folder: str | Path,
    *,
    only: Sequence[str] | None = None,
    quick: bool = False,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Reproduce the papers' tables and figures from the public data in ``folder``.

    ``only`` names studies; ``quick`` takes fewer trials where trials are drawn. Studies whose data are not there are
    left out, with the files that are missing; that nothing at all is there is an error, as are data of other sizes
    than the public ones, which could not give the papers' numbers.
    """
    data = Data(Path(folder))
    effort = Effort(quick, seed, workers)
    chosen = [STUDIES[name] for name in (STUDIES if only is None else dict.fromkeys(only))]
    lacking = {study.name: data.missing(study.needs) for study in chosen}
    able = [study for study in chosen if not lacking[study.name]]
    if not any(study.needs for study in able) and any(study.needs for study in chosen):
        first, *others = dict.fromkeys(file for files in lacking.values() for file in files)
        more = f", nor {len(others)} more of its files" if others else ""
        raise AdjudgeError(f"{folder}: expected the public data, got no {shown(first)}{more}")
    parts = list(dict.fromkeys(part for study in able for part in study.needs))
    inputs = data.digests(parts)
    data.check(parts)
    found = [(study, study.run(data, told)) for study, told in _efforts(able, effort, progress)]
    left_out = tuple(
        (study, f"there is no {', no '.join(lacking[study.name])}") for study in chosen if lacking[study.name]
    )
    return Reproduction(tuple(found), left_out, tuple(inputs), effort)
