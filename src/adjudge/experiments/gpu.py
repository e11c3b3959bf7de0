"""Resamples on a graphics card, where PyTorch finds one; never needed.

The card draws resamples of its own, with PyTorch's Philox generator: p-values differ from those of the processor by
Monte-Carlo error, and are the same again for the same seed on the same card. What is not drawn at random (all sign
flips of few queries), systems that lack queries and other schemes than the two registered ones stay on the processor.
Two ways count resamples:

- one kernel that multiplies, compares and counts, so that sums never leave the card's registers; up to 128 queries,
  where Triton, which comes with PyTorch, is installed and the card has what it needs, for pairs whose differences it
  holds precisely enough. A program takes a block of pairs and runs over blocks of resamples: two products of
  half-precision matrices into one single-precision sum, compared with the bounds of the pair and counted.
- products in double precision otherwise, as on the processor, with any number of queries.

The kernel adds without rounding. Matrix units multiply half-precision numbers (whole to 2,048) and add in single
precision (whole to 2^24). Differences *d* of a pair of systems on *n* queries become v = rint(d s), where s makes the
largest of them 2^b with n 2^b <= 2^24, and v is written as two halves, ``v = 512 high + 512 low``. Weights are signs or
counts that sum to n, so no sum of weighted v passes 2^24: every sum is exact, in whatever order, and the same on all
cards and in NumPy. What is not exact is v. With e the largest of ``|d s - v|``, a sum is off by at most n e, because
weights sum to n in magnitude. A resample counts when its sum reaches what was observed less that: all that tie do, and
of the others only those that are closer than 2 n e, at most 2^-18 n of the largest difference when n is 50. Values on a
grid that s keeps whole have e = 0. This arithmetic takes NumPy arrays or PyTorch tensors: ``xp`` is either module.
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
from adjudge.stats.paired import How, Outcome, resampled_tests
from adjudge.stats.resampling import Counts, Resampling, random_counts, random_signs

PAIRS, RESAMPLES = 128, 128
"""Rows and columns of a block."""
_WARPS, _STAGES = 4, 2
_PROGRAMS = 8  # to aim at for each multiprocessor, so that one counts while another multiplies


def padded(n_queries: int) -> int:
    """Queries rounded up to what the kernel takes.

    >>> padded(9), padded(50), padded(65)
    (16, 64, 128)
    """
    return max(16, 1 << (n_queries - 1).bit_length())


@cache
def _kernel() -> Any:
    import triton
    import triton.language as tl

    @triton.jit  # type: ignore[untyped-decorator, unused-ignore]
    def count(  # type: ignore[no-untyped-def]  # noqa: PLR0917
        high,
        low,
        least,
        most,
        weights,
        upper,
        lower,
        n_pairs,
        n_resamples,
        splits,
        QUERIES: tl.constexpr,  # noqa: N803
        TWO_SIDED: tl.constexpr,  # noqa: N803
        ROWS: tl.constexpr,  # noqa: N803
        COLUMNS: tl.constexpr,  # noqa: N803
        STAGES: tl.constexpr,  # noqa: N803
    ):
        row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
        query = tl.arange(0, QUERIES)
        there = row < n_pairs
        cell = row.to(tl.int64)[:, None] * QUERIES + query[None, :]
        above = tl.load(high + cell, mask=there[:, None], other=0.0)
        below = tl.load(low + cell, mask=there[:, None], other=0.0)
        bound = tl.load(least + row, mask=there, other=0.0)
        ceiling = tl.load(most + row, mask=there, other=0.0)
        n_upper = tl.zeros([ROWS], dtype=tl.int32)
        n_lower = tl.zeros([ROWS], dtype=tl.int32)
        for block in tl.range(tl.program_id(0), n_resamples // COLUMNS, splits, num_stages=STAGES):
            column = block * COLUMNS + tl.arange(0, COLUMNS)
            drawn = tl.load(weights + query.to(tl.int64)[:, None] * n_resamples + column[None, :])
            sums = tl.dot(below, drawn, tl.dot(above, drawn))
            if TWO_SIDED:
                # tl.abs clears a bit, one instruction more for each sum; this becomes part of the comparison
                sums = tl.inline_asm_elementwise("abs.f32 $0, $1;", "=r,r", [sums], tl.float32, is_pure=True, pack=1)
                n_upper += tl.sum((sums >= bound[:, None]).to(tl.int32), 1)
            else:
                n_upper += tl.sum((sums >= bound[:, None]).to(tl.int32), 1)
                n_lower += tl.sum((sums <= ceiling[:, None]).to(tl.int32), 1)
        tl.atomic_add(upper + row, n_upper, mask=there)
        if not TWO_SIDED:
            tl.atomic_add(lower + row, n_lower, mask=there)

    return count


def count_on_card(
    fixed: tuple[Any, Any, Any, Any], weights: Any, upper: Any, lower: Any, *, two_sided: bool, units: int
) -> None:
    """Add to ``upper`` and ``lower`` how many columns of ``weights`` reach the bounds of each pair.

    ``fixed`` has the two halves of differences (pairs x padded queries) and the bounds; ``weights`` are padded queries
    x resamples, a multiple of a block of them; ``units`` is the number of multiprocessors.
    """
    (n_pairs, queries), n_resamples = fixed[0].shape, weights.shape[1]
    blocks = -(-n_pairs // PAIRS)
    splits = max(1, min(n_resamples // RESAMPLES, -(-_PROGRAMS * units // blocks)))
    _kernel()[(splits, blocks)](
        *fixed,
        weights,
        upper,
        lower,
        n_pairs,
        n_resamples,
        splits,
        QUERIES=queries,
        TWO_SIDED=two_sided,
        ROWS=PAIRS,
        COLUMNS=RESAMPLES,
        STAGES=_STAGES,
        num_warps=_WARPS,
    )


WIDEST = 128
"""Most queries: with more, what sums may be off by comes near the Monte-Carlo error of 100,000 resamples."""
UNIT = 512.0
"""What sums are divided by, so that both halves of a number fit half precision."""
_EXACT_BITS, _MOST_BITS = 24, 20  # of a sum in single precision; of a number in two halves
_ROUNDING = 1e-13  # of the sum of magnitudes, as in stats.resampling
_COARSE = 3e-4  # of the spread of sums: p is off by no more than 0.8 of that
_LEAST = 1e-250  # differences below are 0: their scale would overflow


@dataclass(frozen=True)
class FixedPoint:
    """Differences of pairs (pairs x queries) and the bounds their weighted sums are held against, all over 512.

    ``coarse`` says of which pairs one difference is so much larger than all others that those lost too many digits.
    """

    high: Any
    low: Any
    least: Any
    most: Any
    coarse: Any


def bits(n_queries: int) -> int:
    """How many bits the largest difference gets: as many as leave every sum exact.

    >>> bits(50), bits(64), bits(65), bits(3)
    (18, 18, 17, 20)
    """
    return min(_MOST_BITS, _EXACT_BITS - (n_queries - 1).bit_length())


def fixed_point(values: Any, first: Any, second: Any, *, centred: bool, two_sided: bool, xp: Any) -> FixedPoint:
    """Differences of ``values[first]`` and ``values[second]`` (systems x queries), and their bounds.

    Two-sided, magnitudes of sums count from ``least``; otherwise sums count from ``least`` above and to ``most`` below.

    >>> import numpy as np
    >>> fixed = fixed_point(np.array([[0.5, 0.25], [0.0, 0.0]]), [0], [1], centred=False, two_sided=True, xp=np)
    >>> (512 * (fixed.high + fixed.low)).tolist(), (512 * fixed.least).tolist()
    ([[1048576.0, 524288.0]], [1572864.0])
    """
    n = values.shape[1]
    total, magnitude = values.sum(1), xp.abs(values).sum(1)
    observed = total[first] - total[second]
    rounding = _ROUNDING * (magnitude[first] + magnitude[second])
    source = values - total[:, None] / n if centred else values
    differences = source[first] - source[second]
    largest = xp.amax(xp.abs(differences), 1)
    small = largest < _LEAST
    scale = xp.where(small, 1.0, 2.0 ** bits(n) / xp.where(small, 1.0, largest))
    exact = differences * scale[:, None]
    whole = xp.round(exact)
    off = n * xp.amax(xp.abs(exact - whole), 1)
    slack = rounding * scale + off
    spread = xp.sqrt(xp.abs((exact**2).sum(1) - xp.amax(exact**2, 1)))
    high = xp.round(whole / UNIT)
    beyond = 2.0 ** (_EXACT_BITS + 1)  # no sum gets there
    least = xp.ceil((xp.abs(observed) if two_sided else observed) * scale - slack)
    most = xp.floor(observed * scale + slack)
    return FixedPoint(
        high,
        whole / UNIT - high,
        xp.clip(least, -beyond, beyond) / UNIT,
        xp.clip(most, -beyond, beyond) / UNIT,
        off > _COARSE * spread,
    )


_ROWS = 2**18  # pairs on the card at a time
_DRAWN = 2**17  # resamples drawn at a time: a multiple of the kernel's block; stays in the card's cache
_CELLS = 2**26  # sums in double precision at a time
_CAPABLE = (8, 0)  # compute capability that the kernel needs


def resampled_tests_on_gpu(matrices: Sequence[Floats], how: How, scheme: Resampling) -> list[Outcome]:
    """The same as :func:`~adjudge.stats.paired.resampled_tests`, with draws of the card's own.

    Matrices with as many queries share the draws. A call costs some milliseconds, so that all matrices of a trial
    should come in one; more than that gains nothing.
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
        several = [matrices[i] for i in members]
        table = tabled(several)
        found = _outcomes(several, table, how, *count_table(table, how, scheme, device))
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
    """Whether the kernel can take this number of queries on this device."""
    import torch

    nvidia = device.type == "cuda" and torch.version.hip is None
    if not nvidia or n_queries > WIDEST or find_spec("triton") is None:
        return False
    return bool(torch.cuda.get_device_capability(device) >= _CAPABLE)


def on_card(table: Table, rows: slice, device: Any) -> tuple[Any, Any, Any]:
    """Some pairs, and the values of only the systems that they are about."""
    import torch

    first, second = table.first[rows], table.second[rows]
    lo, hi = int(first.min()), int(second.max()) + 1
    arrays = (table.values[lo:hi], first - lo, second - lo)
    values, first, second = (torch.from_numpy(array).to(device) for array in arrays)
    return values, first, second


def _fused(table: Table, rows: slice, how: How, scheme: Resampling, device: Any) -> tuple[Any, Any]:
    """By the kernel: differences in two halves of half precision, sums exact."""
    import torch

    values, first, second = on_card(table, rows, device)
    n, two_sided = values.shape[1], how.alternative == "two-sided"
    fixed = fixed_point(values, first, second, centred=scheme.centred, two_sided=two_sided, xp=torch)
    extra = padded(n) - n
    high, low = (torch.nn.functional.pad(half.half(), (0, extra)) for half in (fixed.high, fixed.low))
    operands = (high, low, fixed.least.float(), fixed.most.float())
    upper, lower = torch.zeros((2, len(first)), dtype=torch.int32, device=device)
    units = torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1
    blank = 0
    for weights, size in draws_on(device, scheme, n, how.resamples, how.seed):
        columns = -(-size // RESAMPLES) * RESAMPLES
        blank += columns - size
        full = torch.nn.functional.pad(weights, (0, columns - size, 0, extra))
        count_on_card(operands, full, upper, lower, two_sided=two_sided, units=units)
    # columns that fill up a block weigh nothing, and their sums of 0 were counted where 0 is within the bound
    upper -= blank * (fixed.least <= 0).int()
    lower -= blank * (fixed.most >= 0).int()
    coarse = torch.nonzero(fixed.coarse)[:, 0]
    if len(coarse):
        places = np.arange(len(table.first))[rows][coarse.cpu().numpy()]
        again = Table(table.values, table.first[places], table.second[places])
        upper[coarse], lower[coarse] = (counts.int() for counts in _plain(again, slice(None), how, scheme, device))
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
