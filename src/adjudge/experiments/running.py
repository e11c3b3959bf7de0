"""Run an experiment, go on with one, or read what one found.

Trial *i* depends on the specification, the samples and *i* alone, so that numbers, and the bytes of ``trials.parquet``,
are the same whatever the workers, the chunks and the interruptions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.errors import AdjudgeError, warn
from adjudge.experiments.chunks import Work
from adjudge.experiments.executors import run_spans
from adjudge.experiments.folder import (
    Folder,
    Memory,
    Store,
    claimed,
    in_order,
    missing_spans,
    with_trials,
)
from adjudge.experiments.samples import Samples, samples_of
from adjudge.experiments.specification import Experiment, Findings, make_experiment
from adjudge.model.effectiveness import Effectiveness

if TYPE_CHECKING:
    import polars as pl

Progress = Callable[[int, int], None]
"""Called with the trials done and those in all: at the start with what is there already, then after each chunk."""


def run_experiment(
    experiment: Experiment | str,
    values: Effectiveness | Samples | Mapping[str, Effectiveness] | Sequence[Effectiveness],
    *,
    folder: str | Path | None = None,
    workers: int | None = None,
    dask: str | None = None,
    chunk: int | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Findings:
    """Run an experiment, or an experiment by its name with these settings, and say what it found.

    With a ``folder`` trials are kept as they are finished; run again after an interruption, or with more trials, it
    computes only what is missing. A folder of another experiment is refused. ``workers`` are processes of this machine
    (1 is this one); ``dask`` is the address of a scheduler, or ``local`` for a cluster of as many workers started here.
    ``chunk`` is the number of trials handed out at a time; without it, what takes some seconds.

    >>> from adjudge.model.effectiveness import Effectiveness
    >>> eff = Effectiveness.from_matrix([[0.1, 0.2], [0.3, 0.5], [0.4, 0.4], [0.1, 0.3]], measure="AP")
    >>> run_experiment("power", eff, trials=5, sizes=(3,), procedures=("t",), workers=1).rows.height
    5
    """
    samples = samples_of(values)
    if isinstance(experiment, str):
        experiment = make_experiment(experiment, **settings)
    elif settings:
        raise AdjudgeError(f"settings go with the name of an experiment, got {', '.join(settings)} with an experiment")
    work = Work(experiment.prepared(samples), samples)
    return _run(work, folder, workers=workers, dask=dask, chunk=chunk, progress=progress)


def resume_experiment(
    folder: str | Path,
    *,
    trials: int | None = None,
    workers: int | None = None,
    dask: str | None = None,
    chunk: int | None = None,
    progress: Progress | None = None,
) -> Findings:
    """Go on with the experiment of a folder, from what the folder holds; ``trials`` may be more than at first."""
    there = Folder(folder)
    spec = there.experiment if trials is None else with_trials(there.experiment, trials)
    work = Work(spec, there.samples())
    return _run(work, folder, workers=workers, dask=dask, chunk=chunk, progress=progress)


def open_experiment(folder: str | Path) -> Findings:
    """What the experiment of a folder found; of one that is not finished, the trials from the first on without a gap.

    The specification of the findings has as many trials as they rest on.
    """
    there = Folder(folder)
    spec, samples = there.experiment, there.samples()
    n_done, rows = in_order(there.read_trials(Work(spec, samples).fingerprint)[0], spec.trials)
    if rows is None:
        raise AdjudgeError(f"{folder}: expected trials of the experiment, got none so far")
    if n_done < spec.trials:
        warn(f"{folder}: {n_done:,} of {spec.trials:,} trials are there; the findings are of these.")
    return with_trials(spec, n_done).findings(samples, rows, there.provenance)


def _run(work: Work, folder: str | Path | None, *, progress: Progress | None, **how: Any) -> Findings:
    if folder is None:
        rows, provenance = _complete(work, Memory(work), progress, how), work.samples.provenance
    else:
        with claimed(folder, work) as store:
            rows = _complete(work, store, progress, how)
            store.merge(rows)
            provenance = store.provenance
    return work.experiment.findings(work.samples, rows, provenance)


def _complete(work: Work, store: Store, progress: Progress | None, how: Mapping[str, Any]) -> pl.DataFrame:
    """Run the trials that are missing, each chunk kept before it is counted, and give the rows of all."""
    trials = work.experiment.trials
    missing = missing_spans(store.spans, trials)
    done = trials - sum(last - first for first, last in missing)
    if progress is not None:
        progress(done, trials)
    with closing(run_spans(work, missing, **how)) as chunks:
        for chunk in chunks:
            store.add(chunk)
            done += chunk.span[1] - chunk.span[0]
            if progress is not None:
                progress(done, trials)
    n_done, rows = in_order(store.kept(), trials)
    if rows is None or n_done < trials:
        raise AdjudgeError(f"expected {trials:,} trials, got {n_done:,}: somebody has removed files of trials")
    return rows
