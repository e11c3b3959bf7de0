"""Resamples on a graphics card, where PyTorch finds one; never needed.

The card draws resamples of its own, with PyTorch's Philox generator: p-values differ from those of the processor by
Monte-Carlo error, and are the same again for the same seed on the same card. Two ways count them:

- one kernel that multiplies, compares and counts (:mod:`~adjudge.experiments.gpu_kernels`), up to 128 queries, where
  Triton is installed and the card has what it needs, for pairs whose differences it holds precisely enough;
- products in double precision otherwise, as on the processor, with any number of queries.

What is not drawn at random (all sign flips of few queries), systems that lack queries and other schemes than the two
registered ones stay on the processor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError
from adjudge.experiments import gpu_kernels
from adjudge.experiments.fixed_point import WIDEST, fixed_point
from adjudge.stats.paired import How, Outcome, resampled_tests
from adjudge.stats.resampling import Counts, Resampling, random_counts, random_signs

_ROWS = 2**18  # pairs on the card at a time
_DRAWN = 2**17  # resamples drawn at a time: a multiple of the kernel's block; stays in the card's cache
_CELLS = 2**26  # sums in double precision at a time
_ROUNDING = 1e-13  # of the sum of magnitudes, as in stats.resampling
_CAPABLE = (8, 0)  # compute capability that the kernel needs


def resampled_tests_on_gpu(matrices: Sequence[Floats], how: How, scheme: Resampling) -> list[Outcome]:
    """The same as :func:`~adjudge.stats.paired.resampled_tests`, with draws of the card's own.

    Matrices with as many queries share the draws. A call has some milliseconds to itself, so that all matrices of a
    trial should come in one; more than that gains nothing.
    """
    device = cuda_device()
    outcomes: dict[int, Outcome] = {}
    by_size: dict[int, list[int]] = {}
    for i, values in enumerate(matrices):
        if _stays(values, how, scheme):
            outcomes[i] = resampled_tests([values], how, scheme)[0]
        else:
            by_size.setdefault(len(values), []).append(i)
    for members in by_size.values():
        found = _together([matrices[i] for i in members], how, scheme, device)
        outcomes.update(zip(members, found, strict=True))
    return [outcomes[i] for i in range(len(matrices))]


def cuda_device() -> Any:
    """The card that PyTorch uses, or one line that says what is missing."""
    if find_spec("torch") is None:
        raise AdjudgeError("--gpu needs PyTorch and a CUDA device: PyTorch is not installed")
    import torch

    if not torch.cuda.is_available():
        raise AdjudgeError(f"--gpu needs PyTorch and a CUDA device: PyTorch {torch.__version__} finds no device")
    return torch.device("cuda")


def _stays(values: Floats, how: How, scheme: Resampling) -> bool:
    n, k = values.shape
    return k < 2 or scheme.draw not in _DRAWS or scheme.enumerates(n, how.resamples) or not np.isfinite(values).all()


@dataclass(frozen=True)
class Table:
    """All pairs of several matrices with as many queries: ``values`` are systems x queries, one matrix after another.

    Pairs are places of systems, in the order of ``triu_indices`` within a matrix.
    """

    values: Floats
    first: Ints
    second: Ints


def tabled(matrices: Sequence[Floats]) -> Table:
    """Matrices, queries x systems, one after another.

    >>> table = tabled([np.zeros((5, 2)), np.zeros((5, 3))])
    >>> table.values.shape, table.first.tolist(), table.second.tolist()
    ((5, 5), [0, 2, 2, 3], [1, 3, 4, 4])
    """
    starts = np.cumsum([0, *(values.shape[1] for values in matrices)])
    pairs = [_pairs(values.shape[1]) for values in matrices]
    first = np.concatenate([start + a for start, (a, _) in zip(starts, pairs, strict=False)])
    second = np.concatenate([start + b for start, (_, b) in zip(starts, pairs, strict=False)])
    return Table(np.concatenate([values.T for values in matrices]), first, second)


@cache
def _pairs(n_systems: int) -> tuple[Ints, Ints]:
    first, second = np.triu_indices(n_systems, 1)
    return first, second


def _together(matrices: Sequence[Floats], how: How, scheme: Resampling, device: Any) -> list[Outcome]:
    table = tabled(matrices)
    upper, lower = count_table(table, how, scheme, device)
    return _outcomes(matrices, table, how, upper, lower)


def count_table(
    table: Table, how: How, scheme: Resampling, device: Any, *, fused: bool | None = None
) -> tuple[Ints, Ints]:
    """How many resampled differences of each pair are at least, and at most, as large as observed.

    Two-sided, both are of magnitudes at least as large. ``fused`` asks for the kernel or for double precision.
    """
    counter = _fused if (can_fuse(table.values.shape[1], device) if fused is None else fused) else _plain
    starts = range(0, len(table.first), _ROWS)
    parts = [counter(table, slice(lo, lo + _ROWS), how, scheme, device) for lo in starts]
    upper, lower = (np.concatenate([part[i].cpu().numpy() for part in parts]).astype(np.int64) for i in (0, 1))
    return upper, upper if how.alternative == "two-sided" else lower


def can_fuse(n_queries: int, device: Any) -> bool:
    """Whether the kernel can take so many queries, here."""
    import torch

    nvidia = device.type == "cuda" and torch.version.hip is None
    if not nvidia or n_queries > WIDEST or find_spec("triton") is None:
        return False
    return bool(torch.cuda.get_device_capability(device) >= _CAPABLE)


def on_card(table: Table, rows: slice, device: Any) -> tuple[Any, Any, Any]:
    """Some pairs, and the values of those systems only that they are about."""
    import torch

    first, second = table.first[rows], table.second[rows]
    lo, hi = int(first.min()), int(second.max()) + 1
    arrays = (table.values[lo:hi], first - lo, second - lo)
    values, first, second = (torch.from_numpy(one).to(device) for one in arrays)
    return values, first, second


def _fused(table: Table, rows: slice, how: How, scheme: Resampling, device: Any) -> tuple[Any, Any]:
    """By the kernel: differences in two halves of half precision, sums exact."""
    import torch

    values, first, second = on_card(table, rows, device)
    n, two_sided = values.shape[1], how.alternative == "two-sided"
    fixed = fixed_point(values, first, second, centred=scheme.centred, two_sided=two_sided, xp=torch)
    extra = gpu_kernels.padded(n) - n
    high, low = (torch.nn.functional.pad(half.half(), (0, extra)) for half in (fixed.high, fixed.low))
    operands = (high, low, fixed.least.float(), fixed.most.float())
    upper, lower = torch.zeros((2, len(first)), dtype=torch.int32, device=device)
    units = torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1
    blank = 0
    for weights, size in draws_on(device, scheme, n, how.resamples, how.seed):
        columns = -(-size // gpu_kernels.RESAMPLES) * gpu_kernels.RESAMPLES
        blank += columns - size
        full = torch.nn.functional.pad(weights, (0, columns - size, 0, extra))
        gpu_kernels.count_on_card(operands, full, upper, lower, two_sided=two_sided, units=units)
    # columns that fill up a block weigh nothing, and their sums of 0 were counted where 0 is within the bound
    upper -= blank * (fixed.least <= 0).int()
    lower -= blank * (fixed.most >= 0).int()
    coarse = torch.nonzero(fixed.coarse)[:, 0]
    if len(coarse):
        places = np.arange(len(table.first))[rows][coarse.cpu().numpy()]
        again = Table(table.values, table.first[places], table.second[places])
        upper[coarse], lower[coarse] = (one.int() for one in _plain(again, slice(None), how, scheme, device))
    return upper, lower


def _plain(table: Table, rows: slice, how: How, scheme: Resampling, device: Any) -> tuple[Any, Any]:
    """By sums of systems in double precision and their differences, as on the processor."""
    import torch

    values, first, second = on_card(table, rows, device)
    n, two_sided = values.shape[1], how.alternative == "two-sided"
    total, magnitude = values.sum(1), values.abs().sum(1)
    observed, slack = total[first] - total[second], _ROUNDING * (magnitude[first] + magnitude[second])
    source = values - total[:, None] / n if scheme.centred else values
    least = ((observed.abs() if two_sided else observed) - slack)[:, None]
    most = (observed + slack)[:, None]
    upper, lower = torch.zeros((2, len(first)), dtype=torch.int64, device=device)
    width = max(1, _CELLS // max(len(first), 1))
    for weights, size in draws_on(device, scheme, n, how.resamples, how.seed):
        for lo in range(0, size, width):
            sums = source @ weights[:, lo : lo + width].double()
            differences = sums[first] - sums[second]
            upper += ((differences.abs() if two_sided else differences) >= least).sum(1)
            lower += (differences <= most).sum(1)
    return upper, lower


def draws_on(device: Any, scheme: Resampling, n_queries: int, resamples: int, seed: int) -> Iterator[tuple[Any, int]]:
    """Weights of all resamples in half precision, queries x some, and how many those are."""
    import torch

    generator = torch.Generator(device).manual_seed(int(seed) % 2**63)
    for lo in range(0, resamples, _DRAWN):
        size = min(_DRAWN, resamples - lo)
        yield _DRAWS[scheme.draw](generator, n_queries, size), size


def _signs(generator: Any, n_queries: int, size: int) -> Any:
    """-1 or 1 for each query and resample."""
    import torch

    shape, device = (n_queries, size), generator.device
    return torch.randint(0, 2, shape, generator=generator, device=device, dtype=torch.int8).half() * 2 - 1


def _counts(generator: Any, n_queries: int, size: int) -> Any:
    """How often each query is drawn when as many as there are are drawn with replacement."""
    import torch

    shape, device = (n_queries, size), generator.device
    drawn = torch.randint(0, n_queries, shape, generator=generator, device=device)
    return torch.zeros(shape, device=device).scatter_add_(0, drawn, torch.ones(shape, device=device)).half()


_DRAWS: dict[Callable[..., Any], Callable[[Any, int, int], Any]] = {random_signs: _signs, random_counts: _counts}


def _outcomes(matrices: Sequence[Floats], table: Table, how: How, upper: Ints, lower: Ints) -> list[Outcome]:
    """Counts of all pairs back in a matrix for each matrix of values; those with as many systems together."""
    total, drawn = np.full(len(upper), how.resamples), np.zeros(len(upper), dtype=np.bool_)
    above, above_error = Counts(upper, total, drawn).probabilities()
    below, below_error = Counts(lower, total, drawn).probabilities()
    if how.alternative == "less":
        above, above_error, below, below_error = below, below_error, above, above_error
    means = table.values.mean(axis=1)
    statistic = means[table.first] - means[table.second]
    ends = np.cumsum([0, *(len(_pairs(values.shape[1])[0]) for values in matrices)])
    by_systems: dict[int, list[int]] = {}
    for i, values in enumerate(matrices):
        by_systems.setdefault(values.shape[1], []).append(i)
    found: dict[int, Outcome] = {}
    for k, members in by_systems.items():
        where = ends[members][:, None] + np.arange(len(_pairs(k)[0]))
        p = _squared(above[where], below[where], k, 1.0)
        error = _squared(above_error[where], below_error[where], k, 0.0)
        differences = _squared(statistic[where], -statistic[where], k, 0.0)
        found |= {i: Outcome(p[j], error[j], differences[j], drawn=True) for j, i in enumerate(members)}
    return [found[i] for i in range(len(matrices))]


def _squared(upper: Floats, lower: Floats, n_systems: int, diagonal: float) -> Floats:
    """Pairs (matrices x pairs) as systems x systems, one way round above the diagonal and the other below."""
    square = np.full((len(upper), n_systems, n_systems), diagonal)
    a, b = _pairs(n_systems)
    square[:, a, b], square[:, b, a] = upper, lower
    return square
