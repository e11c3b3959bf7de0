"""Making the papers' numbers anew: every study that the data allow, and what they do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from adjudge._version import __version__
from adjudge.errors import AdjudgeError, shown
from adjudge.processes import Progress
from adjudge.reproduction.claims import ANOTHER, CAUSES, DIFFERING, Cause, Claim, Verdict
from adjudge.reproduction.data import Data
from adjudge.reproduction.impossible import IMPOSSIBLE
from adjudge.reproduction.studies import STUDIES, Effort, Found, Study

VERDICTS: tuple[Verdict, ...] = ("exact", "within tolerance", "differs")


@dataclass(frozen=True)
class Reproduction:
    """Studies that were made anew with what they found, those that could not be, and where it came from."""

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
    def unexplained(self) -> list[Claim]:
        """Numbers that differ, and nobody knows why: there should be none."""
        return [claim for claim in self.claims if not claim.is_explained]

    def counts(self) -> dict[Verdict, int]:
        """How many numbers there are of each verdict."""
        counted = Counter(claim.verdict for claim in self.claims)
        return {verdict: counted[verdict] for verdict in VERDICTS}

    def causes(self) -> dict[Cause, dict[Verdict, int]]:
        """How many numbers are not exact for each cause, by verdict; causes that there are, in the order of CAUSES."""
        counted = Counter((claim.reason.cause, claim.verdict) for claim in self.claims if claim.reason is not None)
        found = {cause: {verdict: counted[cause, verdict] for verdict in VERDICTS[1:]} for cause in CAUSES}
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
        """What agreed, and why the rest does not, in one sentence."""
        counts, others = self.counts(), sum(claim.source == ANOTHER for claim in self.claims)
        more = f", and {others:,} of {ANOTHER}" if others else ""
        differing = counts["differs"]
        reasons = {DIFFERING[cause]: some["differs"] for cause, some in self.causes().items()}
        reasons["for no known reason"] = len(self.unexplained)
        why = ", ".join(f"{count:,} {words}" for words, count in reasons.items() if count)
        return (
            f"{len(self.claims) - others:,} published numbers{more}: {counts['exact']:,} exact, "
            f"{counts['within tolerance']:,} within tolerance, {differing:,} differ{'s' if differing == 1 else ''}"
            f"{f' ({why})' if why else ''}."
        )


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
    """Make the papers' tables and figures anew from the public data in ``folder``.

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
